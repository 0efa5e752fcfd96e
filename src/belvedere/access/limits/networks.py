"""Addresses as limits count them."""

import ipaddress


def network(address: str) -> str:
    """One IPv4 address, or one IPv6 network of 64 bits: what one customer of a provider holds."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))
