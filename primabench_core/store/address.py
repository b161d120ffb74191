"""What names a store: a folder, ``gs://``, ``s3://``, ``https://``, or a zip file."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from attrs import frozen

from primabench_core.errors import StoreError, UsageError
from primabench_core.store.settings import setting

ENVIRONMENT = "PRIMABENCH_STORE"
"""Name of the setting that names the store."""

SCHEMES = {"gs": "gs", "gcs": "gs", "s3": "s3", "https": "http", "http": "http", "zip": "zip", "file": "file"}


@frozen
class Address:
    """A store that has been named; it holds no credentials.

    Example:
        >>> Address.of("gs://bucket/benchmarks/").url
        'gs://bucket/benchmarks'
    """

    kind: str
    """``file``, ``gs``, ``s3``, ``http`` or ``zip``."""
    url: str
    """Canonical text; of a local store the path. Empty: none was named."""

    @classmethod
    def of(cls, store: str | os.PathLike[str] | None = None) -> Address:
        """The store that an argument or ``PRIMABENCH_STORE`` names, in this order.

        Raises:
            StoreError: an address of a kind that is not known.
            UsageError: it carries a password, a query or a climbing part.
        """
        text = os.fspath(store).strip() if store is not None else setting(ENVIRONMENT)
        if text.startswith("zip::"):
            return cls("zip", _zip_path(text[5:]))
        scheme, separator, rest = text.partition("://")
        if not separator:
            is_zip = text.lower().endswith(".zip") and not Path(text).expanduser().is_dir()
            return cls("zip", _zip_path(text)) if is_zip else cls("file", text)
        kind = SCHEMES.get(scheme.lower())
        if kind is None:
            raise StoreError(
                f"store {scheme}://… cannot be reached: expected a folder, gs://, s3://, https:// or a zip file",
                remedy=f"set {ENVIRONMENT} to one of these",
            )
        if kind == "file":
            return cls("file", rest)
        if kind == "zip":
            return cls("zip", _zip_path(rest))
        return cls(kind, _remote_url(text, "gs" if kind == "gs" else scheme.lower()))

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine."""
        return self.kind == "file"

    @property
    def name(self) -> str:
        """A name for a folder of the cache: readable, and different for different stores."""
        words = re.sub(r"[^A-Za-z0-9]+", "-", self.url).strip("-")[-40:]
        return f"{words}-{sha256(self.url.encode()).hexdigest()[:12]}"


def _remote_url(text: str, scheme: str) -> str:
    parts = urlsplit(text)
    if "@" in parts.netloc:
        raise UsageError(
            "the address of a store carries a user or a password",
            remedy="give credentials in PRIMABENCH_S3_KEY_ID and _SECRET, or PRIMABENCH_GCS_TOKEN",
        )
    if parts.query or parts.fragment:
        raise UsageError(f"the address of a store has no query: {scheme}://{parts.netloc}{parts.path}")
    if not parts.netloc or ".." in parts.path.split("/"):
        raise UsageError(f"store {scheme}://{parts.netloc}{parts.path} names no bucket or host, or climbs out of it")
    path = "/".join(part for part in parts.path.split("/") if part)
    return f"{scheme}://{parts.netloc}" + (f"/{path}" if path else "")


def _zip_path(text: str) -> str:
    path = text.removeprefix("file://").removeprefix("/" if text.startswith("//") else "")
    return f"zip::{Path(path).expanduser().absolute()}"
