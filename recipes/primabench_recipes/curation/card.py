"""What cards share, importable without any array library."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import field, frozen

from primabench_core.spec.frozen import as_texts

CURATOR = "The PrimaBench maintainers"
FIRST_VERSION = "2026-11-29 The PrimaBench maintainers: first version"

TEXT_BEGINS = "## What a reader must know"


def notes_of(card_file: str) -> str:
    """The card's notes: README.md beside a card, from "What a reader must know" on, so that no text stands twice.

    Args:
        card_file: ``__file__`` of the card.
    """
    text = Path(card_file).with_name("README.md").read_text(encoding="utf-8")
    found = text[text.index(TEXT_BEGINS) :]
    return re.sub(r"<!--.*?-->\n?", "", found, flags=re.DOTALL).strip()


def github(repository: str, commit: str, path: str) -> str:
    """Address of a file as it was at a commit."""
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"


AUDITED_BY = "primabench_recipes.curation.readme:audit_of"
"""Reference of the function that audits what a recipe of ours returned."""


@frozen(kw_only=True)
class AuditPlan:
    """What the leak audit of a dataset looks at; see :mod:`primabench_recipes.curation.audit`."""

    identity: tuple[str, ...] = field(default=(), converter=as_texts)
    """Fields that together are what a model sees; two rows with the same ones are duplicates."""
    label: str = ""
    """The answer whose balance is printed, and which duplicates may contradict."""
    groups: tuple[str, ...] = field(default=(), converter=as_texts)
    """Fields that tie rows together: donors, batches, genes, drugs, proteins, families, chromosomes."""
    reverse_complement: bool = False
    """The identity is DNA, whose other strand is the same thing."""
    near: str = ""
    """A field of sequences among which near duplicates are looked for; see :mod:`primabench_recipes.curation.near`."""
    k: int = 12
    """Letters of a k-mer: 12 for DNA, 8 for RNA, 5 for proteins."""
    smiles: str = ""
    """A field of molecules, whose scaffolds tie rows together; needs RDKit (extra ``chem``)."""
    reference: tuple[str, ...] = field(default=(), converter=as_texts)
    """Reference allele and window of variants: the one must stand in the middle of the other."""
    public_truth: str = ""
    """Where anyone can read the answers."""
