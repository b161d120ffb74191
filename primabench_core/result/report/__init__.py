"""One self-contained HTML page from one or many results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from primabench_core.errors import MissingPluginError, UsageError
from primabench_core.result.eval_result import EvalResult

if TYPE_CHECKING:
    from primabench_core.result.compare import Comparison
    from primabench_core.result.curves import Confusion, Curve
    from primabench_core.result.naming import File

INSTALL = 'pip install "primabench-core[report]"'


def write_report(
    results: EvalResult | Iterable[EvalResult],
    path: str | Path,
    *,
    title: str = "",
    curves: Mapping[str, Sequence[Confusion | Curve]] | None = None,
    comparisons: Iterable[Comparison] = (),
    files: Sequence[File] = (),
    overwrite: bool = True,
) -> Path:
    """Write a report: scores with intervals, parts, curves, paired tests, and where everything comes from.

    The page is one file without scripts. It asks nothing of any server, follows the reader's light or dark scheme,
    and can be read on a phone and by a screen reader. Results on different data stand in sections of their own.

    Args:
        results: One result or many; those with a label ``baseline`` are drawn as baselines.
        path: The file to write; its folder exists.
        title: Heading of the page.
        curves: Name of the model (or ``record_hash`` of its result) to what is drawn of it beyond scores; see
            :mod:`primabench_core.result.curves`.
        comparisons: Tables of paired tests, from :func:`primabench_core.result.compare.compare`.
        files: Where each result was read from, to tell models of one name apart whose labels are the same.
        overwrite: Replace a file that is already there.

    Returns:
        The path.

    Raises:
        UsageError: There is no result, files are more or fewer than results, or curves name a model that is not
            among the results.
        MissingPluginError: vl-convert or jinja2 is not installed.
        ResultError: The file cannot be written.

    Example:
        >>> results = [EvalResult.load(name) for name in ("a.json", "b.json")]  # doctest: +SKIP
        >>> write_report(results, "report.html", title="Two checkpoints")  # doctest: +SKIP
    """
    from primabench_core.result.files import write_text

    page = render_report(results, title=title, curves=curves, comparisons=comparisons, files=files)
    return write_text(Path(path), page, overwrite=overwrite)


def render_report(
    results: EvalResult | Iterable[EvalResult],
    *,
    title: str = "",
    curves: Mapping[str, Sequence[Confusion | Curve]] | None = None,
    comparisons: Iterable[Comparison] = (),
    files: Sequence[File] = (),
) -> str:
    """The HTML of :func:`write_report`, as text."""
    given = [results] if isinstance(results, EvalResult) else list(results)
    if not given:
        raise UsageError("A report needs at least one result.")
    if files and len(files) != len(given):
        raise UsageError(f"files name {len(files)} paths for {len(given)} results.")
    _check_installed()
    from primabench_core.result.report.page import render_page

    return render_page(given, title=title, curves=dict(curves or {}), comparisons=tuple(comparisons), files=files)


def _check_installed() -> None:
    from importlib.util import find_spec

    absent = [name for name in ("vl_convert", "jinja2") if find_spec(name) is None]
    if absent:
        raise MissingPluginError(f"A report needs {', '.join(absent)}, not installed here.", remedy=INSTALL)
