"""Network inference: the task, its synthetic dataset, its preparers and baselines."""

from __future__ import annotations

from primabench_core.spec import BaselineSpec, Contract, DatasetSpec, PreparerSpec, RecipeSpec, TaskSpec
from primabench_task_singlecell.specs.grn_metrics import LABEL, REGULATOR, RULES, SCORE

NAME = "grn_inference"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"
MESC_SEMRAU = "mccalla_2023_g3_genes_genomes_genetics/mesc_semrau@1.0.0"

TASK = TaskSpec(
    name=NAME,
    title="Regulatory network inference",
    summary="Weigh the edges from regulators to genes, given expression of single cells.",
    contract=Contract(prediction=(SCORE,), solution=(LABEL, REGULATOR), **RULES),
    metrics=(
        "auprc_ratio",
        "average_precision",
        "auroc",
        "early_precision_ratio",
        "mean_regulator_average_precision",
    ),
    primary="auprc_ratio",
    default_dataset=MESC_SEMRAU,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="edge",
    independent_unit="regulator",
    description="""\
**Input.** The training split holds cells: `expression` (cells x genes, log2(1 + counts), genes named). The test split
holds the candidate edges: `regulator` and `target`, their ids are `regulator>target`. It is BEELINE's universe:
regulators of the network that are expressed, times genes of the network that are expressed, without self-loops.

**Prediction.** A sparse table of edges, in any order and any number of parts: columns `regulator`, `target`, `weight`
(a data frame, a CSV or Parquet file), in Python also `edges=[(regulator, target, weight), …]`, or `score` with the ids
of candidate edges. Edges are ranked by the magnitude of their weight. An edge that is not listed weighs 0, of an edge
that comes again the heaviest counts, self-loops and edges outside of the universe are ignored and counted. A gene that
is not in the data is refused, and so is NaN.

**Score.** `auprc_ratio` = average precision over the density of the universe: 1 is chance. Tied edges enter together,
so that no order of listing helps; the block of edges that weigh 0 is one tie. `early_precision_ratio` looks at as many
edges as are true, all ties at the cut included, and never selects edges of weight 0.
`mean_regulator_average_precision` takes regulators with at least ten true edges one by one: it asks for targets, not
for which regulators are busy.

**Rules.** An absent edge is not a proven negative; read every number against the density. Do not limit rows to a list
of transcription factors from elsewhere, and do not cut genes by name. Weights may be learned from the cells of the
training split and from anything that is not this network.

**Intervals** resample regulators: edges of one regulator come from one experiment.
""",
    references=(
        "Pratapa et al. 2020, Nature Methods, doi:10.1038/s41592-019-0690-6",
        "McCalla et al. 2023, G3, doi:10.1093/g3journal/jkad004",
    ),
)

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic cells with four regulators",
    summary="80 made cells x 60 genes and the 48 edges that made them; for offline trials and tests only.",
    publication="Made by primabench-task-singlecell; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic negative-binomial counts, log2(1 + count)",
    n_units=204,
    content_hash="2478567218e2bd36657c2f76bb32f2dfed39c29a7885db52bf280161dbfe209d",
    notes="""\
**Synthetic: no cell was measured.** Each of four regulators is on in half of the cells, its twelve targets then count
five times as much; eight genes are nobody's targets. Counts are drawn with integers alone, so that every machine makes
the same bytes. The truth can be made again by anybody.
""",
)

RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_singlecell.synthetic.network:build",
    curator="The PrimaBench maintainers",
    history=("2026-11 The PrimaBench maintainers: first version",),
)

_HOW = (
    "Candidate edges: regulators of the network that are expressed x genes of the network that are expressed, without "
    "self-loops. No edge is given; cells are the training split."
)
PREPARE_MESC_SEMRAU = PreparerSpec(
    task=NAME,
    dataset=MESC_SEMRAU,
    prepare="primabench_task_singlecell.preparers.grn:prepare",
    summary=f"{_HOW} 42 regulators x 3,327 genes: 139,692 candidates, of which 4,393 (3.1 %) are true.",
)
PREPARE_SYNTHETIC = PreparerSpec(
    task=NAME, dataset=SYNTHETIC_KEY, prepare="primabench_task_singlecell.preparers.grn:prepare", summary=_HOW
)

_BASELINES = "primabench_task_singlecell.baselines.grn"

PERFECT = BaselineSpec(
    name="perfect",
    task=NAME,
    summary="1 for each true edge: the upper end of every metric.",
    predict=f"{_BASELINES}:perfect",
    oracle=True,
)
RANDOM = BaselineSpec(
    name="random",
    task=NAME,
    summary="A uniform weight by a hash of seed and edge: the ratios are near 1.",
    predict=f"{_BASELINES}:random",
)
CORRELATION = BaselineSpec(
    name="correlation",
    task=NAME,
    summary="Absolute Pearson correlation of regulator and target over cells.",
    predict=f"{_BASELINES}:correlation",
)
FOREST = BaselineSpec(
    name="forest",
    task=NAME,
    summary="As GENIE3: importance of each regulator in extremely randomised trees that predict the target.",
    predict=f"{_BASELINES}:forest",
    requires=("scikit-learn",),
)
