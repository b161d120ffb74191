"""Fitness prediction: the task, its synthetic dataset, splits and baselines."""

from __future__ import annotations

from types import SimpleNamespace

from primabench_metrics.specs.fields import SCORE

from primabench_core.spec import BaselineSpec, Contract, DatasetSpec, PreparerSpec, RecipeSpec, TaskSpec
from primabench_task_protein.specs.metrics import (
    ASSAY,
    FIT,
    FITNESS,
    MSA_DEPTH,
    MUTATION_DEPTH,
    SELECTION,
    TAXON,
    UNIPROT,
)

NAME = "fitness_prediction"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"
PROTEINGYM = "notin_2023_advances_in_neural_information_processing_systems"
SETS = ("proteingym_substitutions", "proteingym_indels")
DEFAULT = f"{PROTEINGYM}/{SETS[0]}@1.0.0"

TASK = TaskSpec(
    name=NAME,
    title="Protein fitness prediction",
    summary="Rank the variants of each deep mutational scan by fitness, without training on it (ProteinGym).",
    contract=Contract(
        prediction=(SCORE,),
        solution=(FITNESS, FIT, ASSAY, UNIPROT, SELECTION, MSA_DEPTH, TAXON, MUTATION_DEPTH),
        unknown_labels="refuse",
    ),
    metrics=(
        "fitness_spearman",
        "fitness_auroc",
        "fitness_mcc",
        "fitness_ndcg_at_10_percent",
        "fitness_top_recall_10_percent",
    ),
    primary="fitness_spearman",
    default_dataset=DEFAULT,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="variant",
    test_only=True,
    description="""\
**Input.** `assay`, `wild_type`, `mutant` (`A24G`, several joined by `:`) and `sequence` of each variant.
**Prediction.** One `score` a variant, higher for fitter ones; scales may differ between assays.

**Score.** Each metric is taken within each assay, then averaged as ProteinGym does: assays of one protein and selection
type, proteins, the five selection types. A plain mean over assays is another number. `per_unit` holds every assay,
`values` every selection type and slice: depth of the alignment, taxon, number of mutations. Nothing is
rounded on the way.

**Undefined assays.** An assay without a value (a constant prediction, say) makes the average undefined;
`policy=penalise_constant_prediction` counts it as 0 instead.

**Test-only.** There is no training split: `pb.fetch_test` serves the variants. Duplicated variants are refused.

**Comparing models.** `primabench_task_protein.proteingym_board` ranks models from a table of values for each assay and
gives the standard error of the difference to the best one (10,000 draws of proteins within each selection type).
""",
    references=("Notin et al. 2023, ProteinGym, NeurIPS, doi:10.1101/2023.12.07.570727",),
)

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic deep mutational scans",
    summary="8 made scans of 5 proteins, 480 variants; for offline trials and tests only.",
    publication="Made by primabench-task-protein; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic protein variants",
    n_units=480,
    content_hash="7fc15ff144cf51a544cddc218f57825e8b53adfac2b547950a8125a640db97e2",
    notes="""\
**Synthetic: nothing was measured.** Made with integers alone, so that every machine makes the same bytes. Fitness falls
with substitutions that BLOSUM62 calls unlike, with noise. The truth can be made again by anybody.
""",
)
RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_protein.synthetic.recipes:build",
    curator="The PrimaBench maintainers",
    history=("2026-11 The PrimaBench maintainers: first version",),
)

_SUMMARY = "All variants are tested; selection type, protein and slices come with the assays."
_PREPARE = "primabench_task_protein.preparers.fitness:prepare"
PREPARE_SYNTHETIC = PreparerSpec(task=NAME, dataset=SYNTHETIC_KEY, prepare=_PREPARE, summary=_SUMMARY)
PREPARE = SimpleNamespace(
    **{
        name: PreparerSpec(task=NAME, dataset=f"{PROTEINGYM}/{name}@1.0.0", prepare=_PREPARE, summary=_SUMMARY)
        for name in SETS
    }
)

_BASELINES = "primabench_task_protein.baselines.fitness"
PERFECT = BaselineSpec(
    name="perfect", task=NAME, summary="The truth itself: the upper end.", predict=f"{_BASELINES}:perfect", oracle=True
)
RANDOM = BaselineSpec(
    name="random", task=NAME, summary="A uniform score, by a hash of seed and id.", predict=f"{_BASELINES}:random"
)
BLOSUM62 = BaselineSpec(
    name="blosum62",
    task=NAME,
    summary="Sum over substitutions of BLOSUM62 of the new residue less that of the old one with itself.",
    predict=f"{_BASELINES}:blosum62",
)
