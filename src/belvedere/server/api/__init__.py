"""Endpoints of the server itself: health, about, agent download, event stream."""
