"""Where the coordinator is, and the name of this worker: from arguments, or from the environment."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

from forebay.errors import SettingsError

__all__ = ["place_of", "worker_of"]

# The names that `[coordinator]` of the configuration has, and their variables.
_VARIABLES = {
    "coordinator": "FOREBAY_COORDINATOR",
    "token_file": "FOREBAY_TOKEN_FILE",
    "tls_ca": "FOREBAY_TLS_CA",
    "tls_certificate": "FOREBAY_TLS_CERTIFICATE",
    "tls_key": "FOREBAY_TLS_KEY",
}


def place_of(given: Mapping[str, Any], environment: Mapping[str, str]) -> tuple[Any, ...]:
    """Addresses, token, authority, certificate and key, each None or a text.

    Raises:
        SettingsError: No address is given, or something that is not known.
    """
    unknown = sorted(set(given) - set(_VARIABLES))
    if unknown:
        raise SettingsError(f"{unknown[0]}: there is no such argument; there are {', '.join(_VARIABLES)} and worker")
    found = [given.get(key) or environment.get(variable) or None for key, variable in _VARIABLES.items()]
    if found[0] is None:
        raise SettingsError(
            "coordinator is missing: give the address of `forebay coordinate`, such as "
            'coordinator="http://127.0.0.1:7171", or set FOREBAY_COORDINATOR'
        )
    return tuple(None if each is None else os.fspath(each) for each in found)


def worker_of(given: str | None, environment: Mapping[str, str]) -> tuple[str, str]:
    """The worker's name and its host. Left out, the name is the host's with the number of the process."""
    host = socket.gethostname()
    return given or environment.get("FOREBAY_WORKER") or f"{host}-{os.getpid()}", host
