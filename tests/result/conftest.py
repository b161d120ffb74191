"""Results to try things on."""

import pytest

from primabench_core.result import EvalResult, Interval, MetricResult


def metric(name="accuracy", value=0.75, **more):
    return MetricResult(name=name, value=value, **{"n": 40, **more})


@pytest.fixture
def result():
    return EvalResult.make(
        task="cell_type_annotation",
        dataset="zheng_2017_nature_communications/pbmc@1.0.0",
        dataset_hash="d" * 64,
        predictions_sha256="a" * 64,
        truth_sha256="b" * 64,
        primary="macro_f1",
        packages={"primabench-core": "0.1.0"},
        environment={"python": "3.11"},
        seeds={"bootstrap": 0},
        timings={"metrics": 0.5},
        labels={"model_name": "small <b>model</b>", "step": "1000"},
        n_units=40,
        unit="cell",
        results=[
            metric(interval=Interval(low=0.7, high=0.8, draws=2000, unit="donor")),
            metric(
                "macro_f1",
                0.1 + 0.2,
                params={"labels": "union"},
                per_unit={"B": 0.5, "é": None, "-0": -0.0},
                values={"matrix": [[1, 2], [3, 4]], "none": None},
                flags=("zero_division",),
                n_undefined=1,
                mean_over_defined=0.4,
                coverage=0.975,
                n_excluded={"no_truth": 1},
                libraries={"scikit-learn": "1.9.0"},
            ),
            MetricResult(name="auroc", value=None, reason="single_class", detail="only 'b' occurs", n=40),
            metric("silhouette_label", 0.2, reproducibility="tolerance", rtol=1e-6),
        ],
    )
