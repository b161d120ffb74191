"""Track prediction: the task, its synthetic dataset, splits and baselines."""

from __future__ import annotations

from primabench_core.spec import BaselineSpec, Contract, DatasetSpec, PreparerSpec, RecipeSpec, TaskSpec
from primabench_task_genome.specs import CURATOR, FIRST_VERSION, SYNTHETIC_NOTES
from primabench_task_genome.specs.fields import PEAK, REGION, TRACKS, TRUE_TRACKS

NAME = "track_prediction"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"

TASK = TaskSpec(
    name=NAME,
    title="Track prediction",
    summary="Predict signal tracks (accessibility, binding, expression) in bins of held-out regions.",
    contract=Contract(prediction=(TRACKS,), solution=(TRUE_TRACKS, REGION, PEAK)),
    metrics=(
        "pearson_over_bins_then_mean_over_tracks",
        "spearman_over_counts_then_mean_over_tracks",
        "auroc_over_bins_then_mean_over_tracks",
        "average_precision_over_bins_then_mean_over_tracks",
    ),
    primary="pearson_over_bins_then_mean_over_tracks",
    default_dataset=SYNTHETIC_KEY,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="bin",
    independent_unit="region",
    description="""\
**Input.** `sequence` of each bin and the `region` it belongs to. **Prediction.** `value`, bins x tracks; columns
are named by `genes`, the coordinate of named columns, which here holds the names of tracks.

**Score.** The names say what is reduced first. `pearson_over_bins_then_mean_over_tracks`: one correlation a track over
the bins of all regions together, then the mean over tracks; a mean over regions is another number.
`spearman_over_counts_then_mean_over_tracks`: totals of regions are ranked. Where the truth has `peak` (1, 0, and
-100 for no answer, left out), AUROC and average precision a track.

**Data.** No public set of tracks is among our recipes yet, so the default dataset is the synthetic one.

**Intervals** resample regions.
""",
    references=(
        "Avsec et al. 2021, Nature Methods, doi:10.1038/s41592-021-01252-x",
        "Marin et al. 2024, arXiv:2311.12570",
    ),
)

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic tracks",
    summary="40 made regions of 8 bins with 3 tracks; for offline trials and tests only.",
    publication="Made by primabench-task-genome; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic signal",
    n_units=128,
    content_hash="b782fcd7e706e9bdd5ee7be3193ffe63bde2ffea48f3c793cfef36b35c2d608b",
    notes=SYNTHETIC_NOTES + "Signal follows composition, with noise.\n",
)
RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_genome.synthetic.recipes:build_tracks",
    curator=CURATOR,
    history=(FIRST_VERSION,),
)
PREPARE_SYNTHETIC = PreparerSpec(
    task=NAME,
    dataset=SYNTHETIC_KEY,
    prepare="primabench_task_genome.preparers.tracks:prepare",
    id_list="primabench_task_genome:splits/tracks_synthetic.tsv",
    id_list_sha256="7b543dc120f2c52f84251f3543c18a5e06ad922d1c76fe468f86fadb5d727e98",
    summary="Regions 24 to 39 are held out (128 of 320 bins).",
)

_BASELINES = "primabench_task_genome.baselines.tracks"
PERFECT = BaselineSpec(
    name="perfect", task=NAME, summary="The truth itself: the upper end.", predict=f"{_BASELINES}:perfect", oracle=True
)
RANDOM = BaselineSpec(
    name="random",
    task=NAME,
    summary="Uniform signal, by a hash of seed, id and track.",
    predict=f"{_BASELINES}:random",
)
GC_LINEAR = BaselineSpec(
    name="gc_linear",
    task=NAME,
    summary="Least squares of each track on composition.",
    predict=f"{_BASELINES}:gc_linear",
)
