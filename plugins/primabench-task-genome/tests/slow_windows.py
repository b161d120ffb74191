"""Windows cut base by base: what the fast code must agree with."""

from __future__ import annotations

COMPLEMENT = str.maketrans("ACGTN", "TGCAN")


def base(genome: str, place: int, circular: bool) -> str:
    if circular:
        return genome[place % len(genome)]
    return genome[place] if 0 <= place < len(genome) else "N"


def slow_windows(
    genome: str, pos: int, ref: str, alt: str, length: int, *, strand: str = "+", circular: bool = False,
    anchor: int | None = None,
) -> tuple[str, str, int]:  # fmt: skip
    """Reference and alternative window, and the index of the anchor."""
    start, centre = pos - 1, length // 2
    middle = start if anchor is None else anchor - 1
    # the alternative genome as a list of single letters to the left and to the right of the anchor
    if start >= middle:
        between = [base(genome, i, circular) for i in range(middle, start)]
        right, after = between + list(alt), start + len(ref)
        left, before = [], middle - 1
    elif start + len(ref) <= middle:
        between = [base(genome, i, circular) for i in range(start + len(ref), middle)]
        left, before = list(alt) + between, start - 1
        right, after = [], middle
    else:
        mid = middle - start
        left, before = list(alt[:mid]), start - 1
        right, after = list(alt[mid:]), start + len(ref)
    while len(left) < centre:
        left.insert(0, base(genome, before, circular))
        before -= 1
    while len(right) < length - centre:
        right.append(base(genome, after, circular))
        after += 1
    changed = "".join(left[len(left) - centre :] + right[: length - centre])
    plain = "".join(base(genome, i, circular) for i in range(middle - centre, middle - centre + length))
    if strand == "+":
        return plain, changed, centre
    turned = (plain[::-1].translate(COMPLEMENT), changed[::-1].translate(COMPLEMENT))
    return *turned, length - 1 - centre
