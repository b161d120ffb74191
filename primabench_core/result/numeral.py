"""How a number is shown to a person; files and hashes always hold all its bits."""

from __future__ import annotations


def numeral(value: float | None, missing: str = "–", digits: int = 4) -> str:
    """So many decimals, or four significant digits where decimals would hide the number.

    Example:
        >>> numeral(0.81234), numeral(1234567.0), numeral(2e-7), numeral(None), numeral(0.81234, digits=3)
        ('0.8123', '1.235e+06', '2.000e-07', '–', '0.812')
    """
    if value is None:
        return missing
    size = abs(value)
    if size and (size < 10 ** (1 - digits) or size >= 1e5):
        return f"{value:.3e}"
    return f"{value:.{digits}f}" if size < 100 else f"{value:.2f}"


def span(low: float, high: float, digits: int = 4) -> str:
    """Both ends of an interval with the decimals that the larger end needs: an end near 0 is no reason for powers.

    Example:
        >>> span(-0.003087, 0.11, digits=3), span(1e-7, 2e-7)
        ('[-0.003, 0.110]', '[1.000e-07, 2.000e-07]')
    """
    size = max(abs(low), abs(high))
    if 10 ** (1 - digits) <= size < 100:
        return f"[{low:.{digits}f}, {high:.{digits}f}]"
    return f"[{numeral(low, digits=digits)}, {numeral(high, digits=digits)}]"
