"""The certificates of the broker's servers, and the authority that signs them."""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hookline.core.files import replace_atomically

_LIFETIME = dt.timedelta(days=3650)
#: A server's clock may be behind.
_CLOCK_ERROR = dt.timedelta(days=1)
_OWNER = "hookline fleet"


def make_certificates(folder: str, hosts: Sequence[str]) -> str:
    """An authority for this broker alone, and a certificate for each server; the authority's key is not kept."""
    root_key = ec.generate_private_key(ec.SECP256R1())
    use = x509.KeyUsage(
        digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    root = _sign(root_key, _OWNER, root_key.public_key(), x509.BasicConstraints(ca=True, path_length=0), use)
    _write(folder, "ca.pem", root)
    for number, host in enumerate(hosts, 1):
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([_server_name(host)])
        _write(folder, f"{number}.pem", _sign(root_key, host, key.public_key(), names))
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        _write(folder, f"{number}.key", pem.decode("ascii"))
    return root


def _sign(
    root_key: ec.EllipticCurvePrivateKey, name: str, public: ec.EllipticCurvePublicKey, *extensions: x509.ExtensionType
) -> str:
    start = dt.datetime.now(dt.UTC) - _CLOCK_ERROR
    builder = x509.CertificateBuilder(_distinguished(_OWNER), _distinguished(name), public, x509.random_serial_number())
    builder = builder.not_valid_before(start).not_valid_after(start + _LIFETIME)
    # Python 3.13 accepts no certificate without these two, and none of an authority without its use.
    ours = x509.SubjectKeyIdentifier.from_public_key(public)
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key())
    for one in (*extensions, ours, issuer):
        builder = builder.add_extension(one, critical=isinstance(one, x509.BasicConstraints | x509.KeyUsage))
    return builder.sign(root_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode("ascii")


def _server_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _distinguished(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])


def _write(folder: str, name: str, text: str) -> None:
    replace_atomically(os.path.join(folder, name), text.encode("ascii"), mode=0o600)
