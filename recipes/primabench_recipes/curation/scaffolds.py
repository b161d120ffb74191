"""Scaffolds of molecules: the rings and what joins them (Bemis & Murcko 1996, doi:10.1021/jm9602928), by RDKit."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

UNREADABLE = "?"
"""Stands for a SMILES that RDKit does not read."""


def can_be_had() -> bool:
    """Whether RDKit is installed (extra ``chem``)."""
    return find_spec("rdkit") is not None


def scaffolds_of(smiles: Iterable[str]) -> dict[str, str]:
    """Scaffold of each SMILES as canonical SMILES; empty for a molecule without a ring.

    Example:
        >>> scaffolds_of(["CCc1ccccc1", "CCO"])  # doctest: +SKIP
        {'CCc1ccccc1': 'c1ccccc1', 'CCO': ''}
    """
    from rdkit import Chem, RDLogger
    from rdkit.Chem.Scaffolds import MurckoScaffold

    RDLogger.DisableLog("rdApp.*")  # complaints of single molecules; they are counted
    try:
        found = {}
        for text in sorted(set(smiles)):
            molecule = Chem.MolFromSmiles(text)
            found[text] = UNREADABLE if molecule is None else MurckoScaffold.MurckoScaffoldSmiles(mol=molecule)
        return found
    finally:
        RDLogger.EnableLog("rdApp.*")
