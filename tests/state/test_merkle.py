"""The hash tree: known vectors, and that no leaf passes for a node."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest

from primabench_core.state.merkle import leaf, leaf_of, merkle_root, node


def test_prefixes_are_those_of_the_definition():
    assert leaf(b"abc") == sha256(b"\x00abc").digest()
    assert node(b"l" * 32, b"r" * 32) == sha256(b"\x01" + b"l" * 32 + b"r" * 32).digest()


def test_nothing_is_one_empty_leaf():
    assert merkle_root([]) == leaf(b"") == sha256(b"\x00").digest()


@pytest.mark.parametrize("n", range(1, 10))
def test_root_against_a_recursive_definition(n):
    # folding level by level with the odd node moved up = splitting at the largest power of two below n (RFC 6962)
    leaves = [leaf(bytes([i])) for i in range(n)]

    def root(part):
        if len(part) == 1:
            return part[0]
        k = 1 << (len(part) - 1).bit_length() - 1
        return node(root(part[:k]), root(part[k:]))

    assert merkle_root(leaves) == root(leaves)


def test_a_node_is_no_leaf():
    a, b = leaf(b"a"), leaf(b"b")
    assert merkle_root([a, b]) != leaf(a + b)


def test_parts_are_joined():
    data = np.arange(100.0)
    assert leaf_of([data[:10], memoryview(data[10:])]) == leaf(data) == leaf(data.tobytes())
