"""HTTP connections below the application: protocol, limits, listener, proxies."""
