"""Loopback servers that speak the platforms' protocols and check requests as strictly as the originals."""
