"""Every notation of an internal address is recognized."""

import pytest

from belvedere.base import networks

INNER = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.9.9.9",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::7f00:1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:a9fe:a9fe",
    "::ffff:0:8.8.8.8",
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2002:a9fe:a9fe::1",
    "2002:c0a8:101::",
    "2620:0:2d0:200:0:5efe:10.0.0.1",
    "2620:0:2d0:200:200:5efe:192.168.0.1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fdff::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]
OUTER = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "198.17.255.255",
    "223.255.255.255",
    "168.63.129.17",
    "169.253.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "2620:0:2d0:200:0:5efe:8.8.8.8",
]


@pytest.mark.parametrize("text", INNER)
def test_internal_addresses_are_recognized(text: str) -> None:
    address = networks.parse_address(text)
    assert address is not None
    assert networks.is_internal(address)
    assert not networks.may_call(address, ())


@pytest.mark.parametrize("text", OUTER)
def test_public_addresses_are_not_internal(text: str) -> None:
    address = networks.parse_address(text)
    assert address is not None
    assert not networks.is_internal(address)
    assert networks.may_call(address, ())


@pytest.mark.parametrize("text", ["", "localhost", "example.com", "0x7f.1", "127.1", "2130706433"])
def test_a_name_is_no_address(text: str) -> None:
    assert networks.parse_address(text) is None


@pytest.mark.parametrize(
    ("address", "is_allowed"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("64:ff9b::10.1.2.3", True),
        ("10.2.0.1", False),
        ("169.254.169.254", False),
        ("fd12::7", True),
        ("fd13::7", False),
    ],
)
def test_a_network_can_be_allowed(address: str, is_allowed: bool) -> None:
    ip_address = networks.parse_address(address)
    assert ip_address is not None
    assert (
        networks.may_call(ip_address, networks.parse_networks("10.1.0.0/16, fd12::/64"))
        is is_allowed
    )


def test_an_invalid_network_is_named() -> None:
    assert networks.parse_networks(" ") == ()
    with pytest.raises(ValueError, match="'printer' is not a network"):
        networks.parse_networks("10.0.0.1, printer")
