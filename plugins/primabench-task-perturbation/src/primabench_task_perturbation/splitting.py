"""Which perturbations are held out: the classes of GEARS' ``simulation`` split, or a share of all.

Draws are by a hash of seed and name, not by a generator: the order of names does not enter, and every machine draws
the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from primabench_task_perturbation.names import parts_of

TRAIN = "train"
UNSEEN = "unseen"
UNSEEN_SINGLE, COMBO_SEEN0, COMBO_SEEN1, COMBO_SEEN2 = "unseen_single", "combo_seen0", "combo_seen1", "combo_seen2"


def drawn(names: Iterable[str], share: float, seed: int) -> frozenset[str]:
    """A share of the names, rounded to the nearest number: those with the smallest hash of seed and name.

    Example:
        >>> sorted(drawn("abcd", 0.5, 0)) == sorted(drawn("dcba", 0.5, 0))
        True
    """
    ordered = sorted(set(names), key=lambda name: (sha256(f"{seed}:{name}".encode()).digest(), name))
    return frozenset(ordered[: int(share * len(ordered) + 0.5)])


def simulation(names: Sequence[str], *, seed: int = 1, genes: float = 0.75, seen2: float = 0.75) -> dict[str, str]:
    """Class of each perturbation under GEARS' ``simulation`` split (Roohani et al. 2024).

    ``genes`` of all perturbed genes are seen: their single perturbations are training data, as are ``seen2`` of the
    combinations of seen genes alone. Held out are single perturbations of other genes, the other combinations of seen
    genes, and all combinations of which one gene or none was seen.

    Args:
        names: Normalised, without control.
        seed: Of the draws.
        genes: Share of seen genes.
        seen2: Share of the combinations of seen genes that are training data.

    Returns:
        ``train``, ``unseen_single``, ``combo_seen0``, ``combo_seen1`` or ``combo_seen2`` for each name.

    Example:
        >>> set(simulation(["A", "B", "C", "D", "A+B"]).values()) <= {"train", "unseen_single", "combo_seen0",
        ...                                                            "combo_seen1", "combo_seen2"}
        True
    """
    seen = drawn((part for name in names for part in parts_of(name)), genes, seed)
    known = drawn((n for n in names if len(parts_of(n)) > 1 and set(parts_of(n)) <= seen), seen2, seed)
    found = {}
    for name in names:
        parts = parts_of(name)
        count = len(seen.intersection(parts))
        if len(parts) == 1:
            found[name] = TRAIN if count else UNSEEN_SINGLE
        elif count == len(parts):
            found[name] = TRAIN if name in known else COMBO_SEEN2
        else:
            found[name] = COMBO_SEEN1 if count else COMBO_SEEN0
    return found


def leave_perturbation_out(names: Sequence[str], *, seed: int = 1, share: float = 0.25) -> dict[str, str]:
    """``unseen`` for a share of all perturbations, ``train`` for the others; no gene of a held-out one is in training.

    Args:
        names: Normalised, without control.
        seed: Of the draw.
        share: Share that is held out.

    Example:
        >>> sorted(leave_perturbation_out(["A", "B", "C", "D"]).values())
        ['train', 'train', 'train', 'unseen']
    """
    held = drawn(names, share, seed)
    genes = {part for name in held for part in parts_of(name)}
    return {name: UNSEEN if name in held or genes.intersection(parts_of(name)) else TRAIN for name in names}
