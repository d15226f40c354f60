"""Messages on disk: in and out, in order, each to its one end, over crashes."""
