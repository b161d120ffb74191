"""The registry: datasets, tasks, and the words they are sorted by. Boards follow from it.

The file is the ``tasks.yaml`` that ``primabench patient score`` reads; boards need a few keys more. It is read
strictly: every fault is reported at once, with the path inside the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from attrs import field, frozen

from primabench_board.metrics import METRICS, BoardMetric
from primabench_core.errors import UsageError


class RegistryError(UsageError):
    """The registry file cannot be used; ``faults`` holds everything that was found."""

    def __init__(self, source: str, faults: list[str]) -> None:
        head = f"{source} has {len(faults)} {'fault' if len(faults) == 1 else 'faults'}:"
        super().__init__("\n".join([head, *(f"  - {fault}" for fault in faults)]), remedy="correct the registry file")
        self.faults = tuple(faults)


@frozen(kw_only=True)
class Entry:
    """A modality, an area or a category.

    Args:
        id: Lower-case letters, digits, hyphens and underscores.
        title: As it is shown.
        about: A sentence for the page.
        metric: The one metric of a category; empty otherwise.
    """

    id: str
    title: str
    about: str = ""
    metric: str = ""


@frozen(kw_only=True)
class Dataset:
    """Samples of one modality, under an id that tells nothing of where they come from."""

    id: str
    modality: str
    n_samples: int | None = None
    n_genes: int | None = None
    gene_id_type: str = ""
    licence: str = ""


@frozen(kw_only=True)
class Task:
    """A question about the samples of one dataset.

    Args:
        id: Opaque id.
        dataset: Id of the dataset.
        area: Therapeutic area.
        category: Family, which has exactly one metric.
        metric: That metric.
        title: As it is shown.
        minimum_n: Below it a score is marked as not resolvable.
        labels_sha256: Salted hash of the labels; where it is given, scores on other labels do not count.
    """

    id: str
    dataset: str
    area: str
    category: str
    metric: str
    title: str = ""
    minimum_n: int | None = None
    labels_sha256: str = ""


@frozen(kw_only=True)
class OpenBoard:
    """A place on the page for a modality, or an area of it, that has no task yet."""

    modality: str
    area: str = ""


@frozen(kw_only=True)
class Organisation:
    """Who runs the boards; said here and nowhere else."""

    name: str = ""
    url: str = ""
    location: str = ""
    contact: str = ""


@frozen(kw_only=True)
class Rules:
    """How the boards are run.

    Args:
        daily_cap: Most submissions of one owner in a day (UTC); None for no cap.
        decimals: Scores are rounded to so many places before anything is computed from them; None for full precision.
        skill: Whether the column of skill is shown, which never ranks.
        probe: The probe whose scores may stand here.
    """

    daily_cap: int | None = None
    decimals: int | None = None
    skill: bool = False
    probe: str = "linear-probe/1"


@frozen(kw_only=True)
class Registry:
    """Everything the file says, checked.

    Args:
        name: Short name.
        title: Heading of the page.
        synthetic: The data are made: results on made data are taken, and every page says so.
        organisation: Who runs the boards.
        rules: How they are run.
        modalities: By id, in the order of the file.
        areas: By id, in the order of the file.
        categories: By id, in the order of the file: the order of columns.
        datasets: By id.
        tasks: By id, in the order of the file.
        open_boards: As declared; those that are covered are not shown.
    """

    name: str
    title: str
    synthetic: bool = False
    organisation: Organisation = field(factory=Organisation)
    rules: Rules = field(factory=Rules)
    modalities: Mapping[str, Entry]
    areas: Mapping[str, Entry]
    categories: Mapping[str, Entry]
    datasets: Mapping[str, Dataset]
    tasks: Mapping[str, Task]
    open_boards: tuple[OpenBoard, ...] = ()

    @property
    def sha256(self) -> str:
        """SHA-256 of the canonical content."""
        text = json.dumps(attrs.asdict(self), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def modality_of(self, task: str) -> str:
        """Id of the modality of a task."""
        return self.datasets[self.tasks[task].dataset].modality

    def metric_of(self, category: str) -> BoardMetric:
        """The one metric of a category."""
        return METRICS[self.categories[category].metric]


def load_registry(path: str | Path) -> Registry:
    """Read a registry file.

    Args:
        path: YAML, UTF-8.

    Returns:
        The registry.

    Raises:
        RegistryError: It is not YAML, or holds faults; all of them are named.
        UsageError: There is no such file.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageError(f"The registry {path} cannot be read: {why}.", remedy="--registry FILE") from error
    return parse_registry(text, source=str(path))


def parse_registry(text: str, *, source: str = "the registry") -> Registry:
    """The registry that a text describes.

    Args:
        text: YAML.
        source: What messages call it.

    Raises:
        RegistryError: All faults at once.

    Example:
        >>> registry = parse_registry('''
        ... name: small
        ... datasets: [{id: d001, modality: bulk-rna}]
        ... tasks: [{id: t001, dataset: d001, area: dermatology, category: severity, metric: pearson}]
        ... ''')
        >>> registry.modality_of("t001"), registry.metric_of("severity").title
        ('bulk-rna', 'Pearson r')
    """
    from primabench_board.registry_faults import checked
    from primabench_board.registry_file import read_document

    faults: list[str] = []
    document: Any = read_document(text, faults)
    registry = checked(document, faults) if document is not None else None
    if faults or registry is None:
        raise RegistryError(source, faults)
    return registry
