"""Variants with a label or an effect: test-only, every row is scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from primabench_core import CorruptDataError, EvalData

if TYPE_CHECKING:
    from primabench_core.store.prepare import DatasetReader, Splits

ANSWERS = ("label", "significance", "review", "value", "significant")
"""Fields that tell the answer, or follow it; none of them stays in the test split."""


def prepare_labels(data: DatasetReader) -> Splits:
    """All variants without answers, and label, chromosome and gene of each.

    Raises:
        CorruptDataError: two rows are one variant, a label is neither 0 nor 1, or a window does not show the
            reference allele in its middle.
    """
    labelled = data.artifact("labelled")
    label = np.asarray(labelled["label"])
    if not np.isin(label, (0, 1)).all():
        raise CorruptDataError("Labels of variants must be 0 or 1.")
    fields: dict[str, Any] = {"label": label.astype(np.int64)}
    return _splits(data, labelled, fields, genes=True)


def prepare_effects(data: DatasetReader) -> Splits:
    """All variants without answers; effect, chromosome, and whether the effect is significant where that is known.

    Raises:
        CorruptDataError: two rows are one variant, or a window does not show the reference allele in its middle.
    """
    labelled = data.artifact("labelled")
    fields: dict[str, Any] = {"value": np.asarray(labelled["value"], np.float64)}
    if "significant" in labelled:
        fields["significant"] = np.asarray(labelled["significant"], np.int64)
    return _splits(data, labelled, fields, genes=False)


def _splits(data: DatasetReader, labelled: EvalData, fields: dict[str, Any], *, genes: bool) -> Splits:
    from primabench_core.store.prepare import Splits

    fields["chromosome"] = np.asarray(labelled["chrom"], object)
    if genes and "gene" in labelled:
        fields["gene"] = np.asarray(_genes(labelled), object)
    _check(labelled)
    censored = data.artifact("censored")
    shown = {name: value for name, value in censored.fields.items() if name not in ANSWERS}
    return Splits(
        train=None,
        test=EvalData(shown, ids=censored.ids),
        solution=EvalData(fields, ids=labelled.ids).select([str(i) for i in censored.ids or ()]),
    )


def _genes(variants: EvalData) -> list[str]:
    """Gene of each variant; one without a gene is by itself, so that no mean over genes takes such variants for one."""
    names = np.asarray(variants["gene"], object).tolist()
    ids = variants.ids or range(variants.n)
    return [f"no gene ({i})" if v is None or v != v or v == "" else str(v) for v, i in zip(names, ids, strict=True)]


def _check(variants: EvalData) -> None:
    """One row a variant (a join by variant would multiply rows), and the reference allele where it should be."""
    columns = [np.asarray(variants[name]).tolist() for name in ("chrom", "pos", "ref", "alt")]
    rows = list(zip(*columns, strict=True))
    if len(set(rows)) != len(rows):
        raise CorruptDataError(f"{len(rows) - len(set(rows))} variants stand twice in the dataset.")
    if "window" not in variants:
        return
    windows = np.asarray(variants["window"], object).tolist()
    wrong = [
        i for i, (window, ref) in enumerate(zip(windows, columns[2], strict=True))
        if window[len(window) // 2 :][: len(ref)] != ref
    ]  # fmt: skip
    if wrong:
        raise CorruptDataError(
            f"The reference allele of {len(wrong)} variants is not in the middle of their windows, "
            f"first of {':'.join(map(str, rows[wrong[0]]))}."
        )
