"""The result of one evaluation: every metric with its uncertainty, and what it was computed from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen, validators

from primabench_core.errors import MissingPluginError, ResultError, UnknownNameError
from primabench_core.result.identity import record_hash, request_hash_of, scores_hash
from primabench_core.result.metric_result import MetricResult
from primabench_core.result.plain import text_labels
from primabench_core.spec.frozen import FrozenMapping

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group


def _text_mapping(value: Mapping[str, str]) -> FrozenMapping[str]:
    for key, item in value.items():
        if not isinstance(key, str) or not isinstance(item, str):
            raise ValueError(f"expected pairs of text, got {key!r}: {item!r}")
    return FrozenMapping(value)


def _results(value: Iterable[MetricResult]) -> tuple[MetricResult, ...]:
    return tuple(value)


def _seeds(value: Mapping[str, int]) -> FrozenMapping[int]:
    return FrozenMapping(value)


def _seconds(value: Mapping[str, float]) -> FrozenMapping[float]:
    return FrozenMapping({key: float(item) for key, item in value.items()})


@frozen(kw_only=True)
class EvalResult:
    """Scores of one prediction on one truth, with provenance. Made by :meth:`make`, read by :meth:`load`.

    Example:
        >>> r = EvalResult.make(results=[MetricResult(name="accuracy", value=0.75, n=4)], n_units=4)
        >>> r["accuracy"].value, r.scores
        (0.75, {'accuracy': 0.75})
    """

    task: str = ""
    """Name of the task; empty for a truth of the caller."""
    dataset: str = ""
    """``publication/slug@version``; empty for a truth of the caller."""
    dataset_hash: str = ""
    """Content hash of the dataset."""
    results: tuple[MetricResult, ...] = field(converter=_results)
    """One value a metric, in the order of the request."""
    primary: str = ""
    """Name of the metric that orders tables."""
    predictions_sha256: str = ""
    """Fingerprint of the predictions' canonical content."""
    predictions_reason: str = ""
    """Why there is no fingerprint; required when it is empty."""
    truth_sha256: str = ""
    """Fingerprint of the truth, salted where the truth is private."""
    request_hash: str
    """Hash of what was asked."""
    scores_hash: str
    """Hash of the request and of the bits of all exact metrics."""
    record_hash: str
    """Hash of the whole record but for place and time; finds a file that was edited."""
    packages: Mapping[str, str] = field(factory=dict, converter=_text_mapping)
    """Versions of core and of the plugins that computed; part of the request."""
    environment: Mapping[str, str] = field(factory=dict, converter=_text_mapping)
    """Versions of Python and of array libraries; in no hash."""
    seeds: Mapping[str, int] = field(factory=dict, converter=_seeds)
    """Name to seed."""
    device: str = "cpu"
    timings: Mapping[str, float] = field(factory=dict, converter=_seconds)
    """Stage to seconds."""
    labels: Mapping[str, str] = field(factory=dict, converter=_text_mapping)
    """Free pairs of text: model_name, model_family, adapter_mode, artifact_id, preprocessing_version, step;
    ``baseline`` names the baseline that predicted, ``oracle`` says that it knew the solution."""
    n_units: int = field(validator=validators.ge(0))
    """Units of the truth."""
    coverage: float = field(default=1.0, validator=[validators.ge(0), validators.le(1)])
    """Share of units that were predicted."""
    unit: str = "row"
    """What a unit is, in the singular."""
    synthetic: bool = False
    """The dataset is made, not measured; never ranked on a board."""
    created: str = ""
    """When, in ISO 8601 (UTC)."""

    def __attrs_post_init__(self) -> None:
        if not self.results:
            raise ValueError("a result needs at least one metric")
        if len(set(self.keys())) < len(self.results):
            raise ValueError("the same metric with the same parameters occurs twice")
        if not self.predictions_sha256 and not self.predictions_reason:
            raise ValueError("a result without a fingerprint of the predictions needs a reason for that")

    @classmethod
    def make(cls, *, request_hash: str = "", **fields: Any) -> EvalResult:
        """A result with its hashes computed and its time set.

        Args:
            request_hash: The hash that was computed before the metrics ran; compared with the one that follows from
                the fields.
            **fields: Fields of this class, without the three hashes. ``predictions_reason`` defaults to
                "not hashed" where no fingerprint is given.

        Raises:
            ValueError: The request hash is not that of these fields, or an invariant is broken.
        """
        fields.setdefault("created", datetime.now(UTC).isoformat(timespec="seconds"))
        if not fields.get("predictions_sha256"):
            fields.setdefault("predictions_reason", "not hashed")
        bare = cls(request_hash="", scores_hash="", record_hash="", **fields)
        asked = request_hash_of(bare)
        if request_hash and request_hash != asked:
            raise ValueError("the request hash is not that of this request")
        hashed = evolve(bare, request_hash=asked, scores_hash=scores_hash(asked, bare.results))
        return evolve(hashed, record_hash=record_hash(hashed))

    def keys(self) -> tuple[str, ...]:
        """A name for each metric: its own, with the parameters that tell it apart where a name occurs twice."""
        names = [r.name for r in self.results]
        return (
            tuple(_key(r, [o for o in self.results if o.name == r.name]) for r in self.results)
            if (len(set(names)) < len(names))
            else tuple(names)
        )

    def __getitem__(self, name: str) -> MetricResult:
        keys = self.keys()
        for key, found in zip(keys, self.results, strict=True):
            if key == name:
                return found
        raise UnknownNameError("metric", name, keys, remedy=f"this result holds: {', '.join(keys)}")

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __iter__(self) -> Iterator[MetricResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def scores(self) -> dict[str, float | None]:
        """Name to value, None where there is none."""
        return {key: r.value for key, r in zip(self.keys(), self.results, strict=True)}

    @property
    def model(self) -> str:
        """Name of what predicted, from the labels; "model" if they do not say."""
        return self.labels.get("model_name") or self.labels.get("baseline") or "model"

    @property
    def is_baseline(self) -> bool:
        """A baseline of the task predicted."""
        return "baseline" in self.labels

    @property
    def is_oracle(self) -> bool:
        """A baseline predicted that knows the solution: a ceiling, no competitor."""
        return self.labels.get("oracle") == "yes"

    def with_labels(self, **labels: str | float) -> EvalResult:
        """The same result with these labels added (numbers as their text); no hash changes."""
        return evolve(self, labels={**self.labels, **text_labels(labels)})

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, as they stand in a result file."""
        from primabench_core.result.json import to_dict

        return to_dict(self)

    def to_pandas(self) -> pd.DataFrame:
        """One row a metric.

        The columns are ``metric``, ``value``, ``low``, ``high``, ``level``, ``n``, ``n_undefined``, ``coverage``,
        ``status``, ``reason``, ``direction`` and ``version``.

        Raises:
            MissingPluginError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingPluginError(
                "to_pandas needs pandas, which is not installed", remedy='pip install "primabench-core[files]"'
            ) from error
        rows = [
            {
                "metric": key,
                "value": r.value,
                "low": r.interval.low if r.interval else None,
                "high": r.interval.high if r.interval else None,
                "level": r.interval.level if r.interval else None,
                "n": r.n,
                "n_undefined": r.n_undefined,
                "coverage": r.coverage,
                "status": r.status,
                "reason": r.reason,
                "direction": r.direction,
                "version": r.version,
            }
            for key, r in zip(self.keys(), self.results, strict=True)
        ]
        frame = pd.DataFrame(rows)
        for column in ("value", "low", "high", "level", "coverage"):
            frame[column] = frame[column].astype("float64")
        for column in ("n", "n_undefined"):
            frame[column] = frame[column].astype("Int64")
        return frame

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write canonical JSON to a temporary name beside ``path`` and rename it; nothing partial is ever seen.

        Args:
            path: The file to write; its folder exists.
            overwrite: Replace a file that is already there.

        Returns:
            The path.

        Raises:
            ResultError: There is a file already, or the folder cannot be written.
        """
        from primabench_core.result.files import write_text
        from primabench_core.result.json import to_json

        return write_text(Path(path), to_json(self), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> EvalResult:
        """Read what :meth:`save` wrote, strictly.

        Raises:
            ResultError: The file is absent or unreadable, or is not exactly a result; the message names the place.
        """
        from primabench_core.result.files import read_bytes
        from primabench_core.result.json import from_json

        found = from_json(read_bytes(Path(path)), source=str(path))
        if not isinstance(found, cls):
            raise ResultError(f"{path} holds no EvalResult but {type(found).__name__}")
        return found

    def __repr__(self) -> str:
        about = ", ".join(f"{k}={v!r}" for k, v in (("task", self.task), ("dataset", self.dataset)) if v)
        shown = ", ".join(f"{k}={'None' if v is None else format(v, '.4g')}" for k, v in list(self.scores.items())[:6])
        more = ", …" if len(self.results) > 6 else ""
        return f"EvalResult({about + ', ' if about else ''}n_units={self.n_units}, {shown}{more})"

    def __str__(self) -> str:
        from primabench_core.result.table import as_text

        return as_text(self)

    def __rich__(self) -> Group:
        from primabench_core.result.table import result_table

        return result_table(self)


def _key(result: MetricResult, alike: list[MetricResult]) -> str:
    names = sorted({name for other in alike for name in other.params})
    telling = [n for n in names if len({repr(other.params.get(n)) for other in alike}) > 1]
    if not telling:
        return result.name
    return f"{result.name}{{{', '.join(f'{n}: {result.params.get(n)}' for n in telling)}}}"
