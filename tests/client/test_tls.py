"""HTTPS: only servers with a certificate of a trusted authority."""

import ipaddress
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import fake_server
from belvedere.client.errors import ServerUnreachable
from belvedere.client.http_client import Client


def certificate(folder: Path) -> Path:
    """A self-signed certificate for 127.0.0.1, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "belvedere test")])
    now = datetime.now(UTC)
    new_certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(secret + new_certificate.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    return certificate(tmp_path)


@pytest.fixture
def tls_server(pem: Path) -> Iterator[fake_server.FakeServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    yield from fake_server.run_server(context)


def test_a_custom_certificate_authority_is_trusted(
    tls_server: fake_server.FakeServer, pem: Path
) -> None:
    tls_server.on("GET", "/task", ["seen"])
    with Client(tls_server.url, ca_file=str(pem)) as client:
        assert client.get("/task") == ["seen"]
        assert client.get("/task") == ["seen"]
    assert tls_server.connections == 1


def test_a_server_with_an_untrusted_certificate_is_refused(
    tls_server: fake_server.FakeServer,
) -> None:
    with Client(tls_server.url) as client, pytest.raises(ServerUnreachable, match="--ca-file"):
        client.get("/task")
    assert tls_server.asked == []
