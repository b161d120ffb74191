"""Hash trees over fixed pieces, shared by the content hash of data and by the digests of predictions.

Leaf = SHA-256(0x00 + bytes), node = SHA-256(0x01 + left + right), an odd node moves up unchanged. The two prefixes
keep a leaf from passing for a node (RFC 6962, section 2.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer  # only named in annotations; typing has it from 3.12 on

_LEAF, _NODE = b"\x00", b"\x01"


def leaf(data: Buffer) -> bytes:
    """Digest of one piece.

    Args:
        data: C-contiguous bytes (``bytes``, ``memoryview``, a contiguous array).

    Returns:
        32 bytes.

    Example:
        >>> leaf(b"").hex()[:8]
        '6e340b9c'
    """
    digest = sha256(_LEAF)
    digest.update(data)
    return digest.digest()


def leaf_of(parts: Iterable[Buffer]) -> bytes:
    """Digest of one piece that comes in parts; the same as :func:`leaf` of the parts joined."""
    digest = sha256(_LEAF)
    for part in parts:
        digest.update(part)
    return digest.digest()


def node(left: bytes, right: bytes) -> bytes:
    """Digest of two children."""
    return sha256(_NODE + left + right).digest()


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """Root of the tree over these leaf digests, in this order.

    Args:
        leaves: Digests of the pieces. Nothing at all counts as one empty piece.

    Returns:
        32 bytes.

    Example:
        >>> a, b, c = leaf(b"a"), leaf(b"b"), leaf(b"c")
        >>> merkle_root([a, b, c]) == node(node(a, b), c)
        True
    """
    level = list(leaves) or [leaf(b"")]
    while len(level) > 1:
        above = [node(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        if len(level) % 2:
            above.append(level[-1])
        level = above
    return level[0]
