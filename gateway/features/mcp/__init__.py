"""Tools of other programs and servers, by the Model Context Protocol. The SDK is imported when a server is started."""
