"""Credentials for object stores, from PrimaBench's own settings alone. No repr, message or pickle shows them.

Nothing is taken from ``~/.aws``, from ``AWS_*`` variables or from an instance's role: a store that works by accident on
one machine fails on the next one.
"""

from __future__ import annotations

import os
from importlib import util
from typing import Any

from attrs import field, frozen

from primabench_core.errors import MissingPluginError, UsageError
from primabench_core.store.settings import s3_setting, setting

_GCS_WORDS = ("anon", "google_default", "cloud", "cache")


@frozen(repr=False)
class Options:
    """What a filesystem is opened with; it cannot be shown or pickled."""

    values: dict[str, Any] = field(eq=False)

    def __repr__(self) -> str:
        return "<credentials>"

    def __reduce__(self) -> Any:
        raise TypeError("credentials are not pickled; the other side reads its own")


def s3_options(timeout: float) -> Options:
    """Arguments of ``s3fs.S3FileSystem``: explicit keys, or anonymous access where none are set.

    Raises:
        MissingPluginError: s3fs is not installed.
        UsageError: one half of a pair is set, or aliases differ.
    """
    if util.find_spec("s3fs") is None:
        raise MissingPluginError(
            "s3:// stores need s3fs, which is not installed", remedy="pip install 'primabench-core[s3]'"
        )
    from aiobotocore.session import AioSession

    key, secret = s3_setting("KEY_ID"), s3_setting("SECRET")
    if bool(key) != bool(secret):
        raise UsageError(
            f"PRIMABENCH_S3_{'SECRET' if key else 'KEY_ID'} is not set, the other half of the pair is",
            remedy="set both, or none for anonymous access",
        )
    endpoint, region = setting("PRIMABENCH_S3_ENDPOINT"), s3_setting("REGION")
    nowhere = (None, None, os.devnull, None)
    # a session of its own that knows neither profiles nor files
    session = AioSession(
        session_vars={"profile": (None, [], None, None), "config_file": nowhere, "credentials_file": nowhere}
    )
    config: dict[str, Any] = {
        "connect_timeout": min(timeout, 20),
        "read_timeout": timeout,
        "retries": {"max_attempts": 1},
        "ignore_configured_endpoint_urls": True,
        "max_pool_connections": 32,
    }
    if endpoint:  # stores that speak S3 without Amazon's newer checksums, such as GCS with an HMAC pair
        config |= {"request_checksum_calculation": "when_required", "response_checksum_validation": "when_required"}
    return Options(
        {
            "anon": not key,
            "key": key or None,
            "secret": secret or None,
            "endpoint_url": endpoint or None,
            "client_kwargs": {"region_name": region} if region else {},
            "config_kwargs": config,
            "session": session,
        }
    )


def gcs_options(timeout: float) -> Options:
    """Arguments of ``gcsfs.GCSFileSystem``.

    ``PRIMABENCH_GCS_TOKEN`` is ``anon``, ``google_default`` (application default credentials), ``cloud``, the path of
    a key file, or an access token. Unset it means application default credentials where
    ``GOOGLE_APPLICATION_CREDENTIALS`` or gcloud left some, else anonymous access.
    """
    token: Any = setting("PRIMABENCH_GCS_TOKEN") or _default_token()
    endpoint = gcs_endpoint()
    if endpoint:
        # the look-up of a bucket's kind goes to Google over gRPC and hangs for a minute where a custom endpoint answers
        os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    payer = setting("PRIMABENCH_GCS_REQUESTER_PAYS")
    values: dict[str, Any] = {
        "token": token if token in _GCS_WORDS else _credentials(token),
        "project": setting("PRIMABENCH_GCS_PROJECT") or None,
        "endpoint_url": endpoint or None,
        "requester_pays": payer if payer not in ("", "0", "1") else payer == "1",
        "timeout": timeout,
        "access": "read_write",
    }
    return Options(values)


def gcs_endpoint() -> str:
    """A custom endpoint of ``gs://`` stores, or empty."""
    return setting("PRIMABENCH_GCS_ENDPOINT") or setting("STORAGE_EMULATOR_HOST")


def _default_token() -> str:
    if gcs_endpoint():
        return "anon"
    left = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
    base = os.environ.get("CLOUDSDK_CONFIG") or os.path.join(  # noqa: PTH118  (as google.auth does)
        os.environ.get("APPDATA") or os.path.expanduser("~/.config"),  # noqa: PTH111
        "gcloud",
    )
    well_known = os.path.join(base, "application_default_credentials.json")  # noqa: PTH118
    return "google_default" if left or os.path.isfile(well_known) else "anon"  # noqa: PTH113


def _credentials(token: str) -> Any:
    if os.path.isfile(token):  # noqa: PTH113  (a token may be no path at all)
        return token
    if "/" in token and token.endswith(".json"):
        raise UsageError("PRIMABENCH_GCS_TOKEN names a key file that does not exist", remedy="correct the path")
    from google.oauth2.credentials import Credentials

    return Credentials(token)  # type: ignore[no-untyped-call]
