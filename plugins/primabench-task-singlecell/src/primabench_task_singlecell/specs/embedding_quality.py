"""Quality of a frozen embedding of cells: the task, its metric of label transfer, preparers and baselines."""

from __future__ import annotations

from primabench_core.spec import (
    BaselineSpec,
    Contract,
    DatasetSpec,
    Field,
    Interval,
    MetricSpec,
    MetricUse,
    Parameter,
    PreparerSpec,
    RecipeSpec,
    TaskSpec,
)
from primabench_task_singlecell.specs import SYNTHETIC_NOTES
from primabench_task_singlecell.specs.integration import IMMUNE_HUMAN

NAME = "embedding_quality"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"
SPECIES_KEY = f"primabench_synthetic/{NAME}_two_species@1.0.0"
PANCREAS = "baron_2016_cell_systems/pancreas_human_mouse@1.0.0"

EMBEDDING = Field("embedding", "embedding", doc="one vector a cell, of a model that has seen no type")
LABEL = Field("label", "label", doc="cell type")
FOLD = Field("fold", "label", doc="fold of the cell; every fold is scored once", public=True)
GROUP = Field("group", "label", doc="donor or batch: never on both sides of a fold", public=True, optional=True)
DOMAIN = Field("domain", "label", doc="batch, donor or species between which labels are transferred", public=True)

label_transfer = MetricSpec(
    name="label_transfer",
    summary="How well types learnt in one batch or species are called in another, mean over ordered pairs.",
    compute="primabench_task_singlecell.embedding.transfer:label_transfer",
    prediction=(EMBEDDING,),
    truth=(LABEL, DOMAIN),
    low=-1.0,
    high=1.0,
    parameters=(
        Parameter("k", 15, "number of neighbours", kinds=(int,), low=1),
        Parameter("distance", "euclidean", "between rows of the embedding", choices=("euclidean", "cosine")),
        Parameter(
            "score",
            "macro_f1",
            "metric of the called types",
            choices=("accuracy", "balanced_accuracy", "macro_f1", "mcc"),
        ),
        Parameter("labels", "all", "types of one domain alone are wrong, or left out", choices=("all", "shared")),
        Parameter("fit_on", "", "the domain that types are learnt in; by default every one in turn", kinds=(str,)),
    ),
    example="primabench_task_singlecell.integration.examples:two_species",
    interval=Interval("none", "resampled cells would be fitted and scored at once"),
    reproducibility="tolerance",
    atol=1e-4,
    references=("Cover & Hart (1967) IEEE Trans Inf Theory 13:21, doi:10.1109/TIT.1967.1053964",),
)

TASK = TaskSpec(
    name=NAME,
    title="Quality of a cell embedding",
    summary="What simple probes read from a frozen embedding: cell types, across donors, batches or species.",
    contract=Contract(prediction=(EMBEDDING,), solution=(LABEL, FOLD, GROUP, DOMAIN)),
    metrics=(
        MetricUse("knn_probe", {"score": "macro_f1", "k": 5}),
        MetricUse("linear_probe", {"task": NAME, "allow_unstratified": True}),
        MetricUse("label_transfer", {"k": 5}),
    ),
    primary="label_transfer",
    default_dataset=IMMUNE_HUMAN,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="cell",
    supervised=False,
    description="""\
**Input.** `counts` or `all_counts`, `expression`, and the `domain` (batch, donor or species), `fold` and `group` of
each cell; `label` is missing. **Prediction.** One vector for each cell, from a model that is frozen and has seen no
type of these cells. All vectors are of one width: embeddings of two species have to lie in one space. Genes of two
species stand side by side as `species:gene`; which of them are orthologues is an input of the model, and nothing over
genes is asked.

**Score.** `label_transfer`: types are learnt from the cells of one domain and called in another, over all ordered
pairs. `knn_probe` and `linear_probe` are fitted on all folds but one. Folds are whole groups, so that no donor is on
both sides; they do not hold their share of each type then, and pooled values of the linear probe say so. Each result
names its probe and the SHA-256 of the settings. Five neighbours vote, so that a rare type
can win.

**Rules.** Nothing is fitted on the scored cells. A type that a domain lacks counts as wrong when it is asked for there
(`labels=shared` leaves it out, and is another number); sets of two species hold the types of both alone. One direction
is `label_transfer{fit_on: human, k: 5}`, another number too; the values of all directions stand in `per_unit`.
""",
    references=("Luecken et al. 2022, Nature Methods, doi:10.1038/s41592-021-01336-8",),
)

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic cells of three donors",
    summary="120 made cells x 40 genes, 4 types, 3 donors as domains; for offline trials and tests only.",
    publication="Made by primabench-task-singlecell; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic negative-binomial counts, log1p",
    n_units=120,
    content_hash="b38f0dd9303c25a757a09d6b651998657f63ccfb055fcd645c6288bc79c31756",
    notes=SYNTHETIC_NOTES,
)

RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_singlecell.synthetic.recipes:build_embedding_quality",
    curator="The PrimaBench maintainers",
    history=("2026-11 The PrimaBench maintainers: first version",),
)

SPECIES = DatasetSpec(
    key=SPECIES_KEY,
    title="Synthetic cells of two species",
    summary="240 made cells of two species, 40 genes and 4 types each, 3 of them in both; for offline trials only.",
    publication="Made by primabench-task-singlecell; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic negative-binomial counts",
    n_units=240,
    content_hash="a0e8189b368e30e0c97673c4910aee20069168b25e4cda7b9f5d1262c5edf523",
    notes=SYNTHETIC_NOTES.replace("; `expression` is log(1 + count)", "")
    + "Genes are called `human:GENE_01` and `mouse:Gene_01`, markers are in the same places; the rarest type of each "
    "species is in no other.\n",
)

SPECIES_RECIPE = RecipeSpec(
    dataset=SPECIES_KEY,
    build="primabench_task_singlecell.synthetic.species:build",
    curator="The PrimaBench maintainers",
    history=("2026-11 The PrimaBench maintainers: first version",),
)

_PREPARERS = "primabench_task_singlecell.preparers.embedding"

PREPARE_IMMUNE_HUMAN = PreparerSpec(
    task=NAME,
    dataset=IMMUNE_HUMAN,
    prepare=f"{_PREPARERS}:prepare_by_batch",
    summary="All cells; batches are domains, groups and folds (leave one batch out).",
)
PREPARE_SYNTHETIC = PreparerSpec(
    task=NAME,
    dataset=SYNTHETIC_KEY,
    prepare=f"{_PREPARERS}:prepare_by_donor",
    summary="All cells; donors are domains, groups and folds (leave one donor out).",
)

_TWO_SPECIES = "Cells of the types that both species have; species are domains, donors are groups and folds."

PREPARE_PANCREAS = PreparerSpec(
    task=NAME, dataset=PANCREAS, prepare=f"{_PREPARERS}:prepare_by_species", summary=_TWO_SPECIES
)
PREPARE_SPECIES = PreparerSpec(
    task=NAME, dataset=SPECIES_KEY, prepare=f"{_PREPARERS}:prepare_by_species", summary=_TWO_SPECIES
)

_BASELINES = "primabench_task_singlecell.baselines.embedding"

PERFECT = BaselineSpec(
    name="perfect",
    task=NAME,
    summary="A place for each type: the upper end of every probe.",
    predict=f"{_BASELINES}:perfect",
    oracle=True,
)
RANDOM = BaselineSpec(
    name="random",
    task=NAME,
    summary="Ten numbers a cell, drawn by a hash of seed and id.",
    predict=f"{_BASELINES}:random",
)
COMPONENTS = BaselineSpec(
    name="components",
    task=NAME,
    summary="The first fifty principal components of expression.",
    predict=f"{_BASELINES}:components",
    requires=("scikit-learn",),
)
MATCHED_GENES = BaselineSpec(
    name="matched_genes",
    task=NAME,
    summary="Components of the genes that all domains name alike, standardised inside each domain.",
    predict=f"{_BASELINES}:matched_genes",
    requires=("scikit-learn",),
)
