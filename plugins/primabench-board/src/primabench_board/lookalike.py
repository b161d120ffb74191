"""What a text looks like: the skeleton of Unicode Technical Standard 39, and letters that nobody sees.

The table of confusable letters is Unicode's own, as the package confusable-homoglyphs ships it. ICU has the same
algorithm, but its Python binding has to be compiled against the ICU of the machine, and a name would then be judged by
whatever version stands there; a package of data alone gives every installation the same judgement.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from functools import cache

_MARKS = "\u200e\u200f"
"""Directional marks that the published table puts around right-to-left letters."""

_BLANKS = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that draw nothing, of categories that are visible otherwise."""

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""General categories: control, format, surrogate, private, unassigned, line and paragraph separators."""


def unseen(text: str) -> list[str]:
    r"""Code points that draw nothing or steer what stands around them, as ``U+200B``.

    Example:
        >>> unseen("a\u200bb\u202e")
        ['U+200B', 'U+202E']
    """
    return [f"U+{ord(c):04X}" for c in dict.fromkeys(text) if _is_unseen(c)]


def _is_unseen(char: str) -> bool:
    is_selector = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return char in _BLANKS or is_selector or unicodedata.category(char) in _UNSEEN


def skeleton(text: str) -> str:
    """The text with every letter replaced by the one it looks like; two texts that look alike have one skeleton.

    Args:
        text: Any text.

    Returns:
        A text for comparing, not for reading.

    Example:
        >>> skeleton("scGPT") == skeleton("ѕсGРТ")  # the second in part Cyrillic
        True
        >>> skeleton("modem") == skeleton("modern")
        True
    """
    table = _prototypes()
    mapped = "".join(table.get(c, c) for c in unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFD", mapped)


@cache
def _prototypes() -> dict[str, str]:
    """Every confusable letter to the letters it stands for.

    The package lists pairs in both directions. A class of the table is one target and the letters that look like it,
    so the classes are found by joining pairs; the target is the only member of several letters, or any fixed member.
    """
    from confusable_homoglyphs.confusables import confusables_data  # type: ignore[import-untyped]

    parent: dict[str, str] = {}

    def root(item: str) -> str:
        parent.setdefault(item, item)
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for letter, others in confusables_data.items():
        for other in others:
            one, two = root(_bare(letter)), root(_bare(other["c"]))
            if one != two:
                parent[max(one, two)] = min(one, two)
    classes: dict[str, list[str]] = defaultdict(list)
    for item in parent:
        classes[root(item)].append(item)
    target = {letter: min(members) for members in classes.values() for letter in members if len(letter) == 1}
    for members in classes.values():
        several = sorted(m for m in members if len(m) > 1)
        if several:
            spelled = "".join(target.get(c, c) for c in unicodedata.normalize("NFD", several[0]))
            target.update(dict.fromkeys((m for m in members if len(m) == 1), spelled))
    return target


def _bare(text: str) -> str:
    return text.strip(_MARKS) or text
