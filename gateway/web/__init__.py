"""The gateway's part of the page."""
