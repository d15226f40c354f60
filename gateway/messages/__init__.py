"""Messages on disk: in and out, in order, each with one end, over crashes."""
