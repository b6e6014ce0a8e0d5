"""What a broker shows: certificates that a strict client accepts, as Python's own is since 3.13."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest

x509 = pytest.importorskip("cryptography.x509")


@pytest.mark.parametrize("host", ["127.0.0.1", "broker.example"])
def test_a_strict_client_accepts_a_brokers_certificate(tmp_path: Path, host: str) -> None:
    from cryptography.x509 import verification

    from hookline.fleet.certificates import make_certificates

    root = x509.load_pem_x509_certificate(make_certificates(str(tmp_path), [host]).encode())
    shown = x509.load_pem_x509_certificate((tmp_path / "1.pem").read_bytes())
    known = x509.DNSName(host) if host[0] == "b" else x509.IPAddress(ipaddress.ip_address(host))
    builder = verification.PolicyBuilder().store(verification.Store([root]))
    assert builder.build_server_verifier(known).verify(shown, []) == [shown, root]
