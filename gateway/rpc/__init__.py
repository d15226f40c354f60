"""The local socket: how other processes of this user ask a running gateway, by name, JSON in and JSON out."""
