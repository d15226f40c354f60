"""Words of human languages: how text becomes search terms, how days are named, and how people ask to remember."""
