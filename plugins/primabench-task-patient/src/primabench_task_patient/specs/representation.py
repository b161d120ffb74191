"""Representation of patients: the task, its synthetic datasets, its folds and baselines."""

from __future__ import annotations

from primabench_core.spec import BaselineSpec, Contract, DatasetSpec, Field, PreparerSpec, RecipeSpec, TaskSpec

NAME = "patient_representation"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"
SEVERITY_KEY = "primabench_synthetic/patient_severity@1.0.0"
GSE7390 = "polsterl_2020_journal_of_machine_learning_research/gse7390_metastasis@1.0.0"
"""Its recipe is in primabench-recipes, its file inside scikit-survival (GPL)."""

TASK = TaskSpec(
    name=NAME,
    title="Representation of patients",
    summary="Turn each omics sample into one vector, on which a fixed linear probe is scored for a hidden answer.",
    contract=Contract(
        prediction=(Field("embedding", "embedding", doc="one vector a sample; the width is the model's choice"),),
        solution=(
            Field("label", "label", optional=True, doc="class of the hidden task"),
            Field("value", "value", optional=True, doc="number of the hidden task"),
            Field("role", "label", vocabulary=("fit", "score"), optional=True, doc="side of a fixed split"),
            Field("fold", "label", optional=True, doc="fold that ships with the data"),
            Field("group", "label", optional=True, doc="patient, where samples repeat"),
        ),
    ),
    metrics=("patient_probe",),
    primary="patient_probe",
    default_dataset=GSE7390,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="sample",
    supervised=False,
    description="""\
**Input.** One omics sample a row: `counts` (raw) or `expression` (log scale), genes or probes named. No label is
given. **Prediction.** `embedding`: one vector for each sample.

**Score.** `linear-probe/1`: in each fold a standardiser and a penalised linear model are fitted on the other folds, the
penalty chosen by an inner cross-validation there; predictions out of fold are pooled and scored once, AUROC for
classes, Pearson's r for numbers. Folds ship with the data: stratified, no patient on two sides. A fixed split is fitted
once and scored once. `fold_mean` stands beside the pooled score, because the intercept of each fold moves against its
held-out mean: pooling makes a random embedding look worse than chance.

**Intervals** resample patients inside their classes, on fixed predictions: refitting is not in them, so they are too
narrow. Below 30 patients, or 10 of a class, a score is flagged `not_resolvable`.

**Leaks to think of.** An embedding fitted on all samples is transductive; say so. Public cohorts may have been in the
training data of a model. Site or batch may follow the answer.

**Many tasks at once**, in one file: `primabench patient validate|score`.
""",
    references=(
        "Airola et al. 2011, Computational Statistics & Data Analysis, doi:10.1016/j.csda.2010.11.018",
        "Desmedt et al. 2007, Clinical Cancer Research, doi:10.1158/1078-0432.CCR-06-2765",
    ),
)

_NOTES = """\
**Synthetic: no patient was measured.** Counts are made with integers alone, so that every machine makes the same bytes.
Eight of sixty genes follow the answer. The truth can be made again by anybody.
"""

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic cohort with two subtypes",
    summary="60 made samples x 60 genes, two subtypes, five stratified folds; for offline trials and tests only.",
    publication="Made by primabench-task-patient; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic counts",
    n_units=60,
    content_hash="e346509337818f511cdb18d950b56f806cf62b891ac907e050e9d74847914972",
    notes=_NOTES,
)
SEVERITY = DatasetSpec(
    key=SEVERITY_KEY,
    title="Synthetic cohort with a clinical score",
    summary="80 made samples of 40 patients x 60 genes, a score, five folds that keep patients whole; for trials only.",
    publication="Made by primabench-task-patient; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic counts",
    n_units=80,
    content_hash="19164cec00415bac20b2bf6f34810ff36549c18ada94f2d5497bdaae0666b7a9",
    notes=_NOTES + "Two visits of each patient share a gene that is shifted threefold: `group` must not be split.\n",
)

_HISTORY = ("2026-11 The PrimaBench maintainers: first version",)
RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_patient.synthetic.recipes:build_endotype",
    curator="The PrimaBench maintainers",
    history=_HISTORY,
)
SEVERITY_RECIPE = RecipeSpec(
    dataset=SEVERITY_KEY,
    build="primabench_task_patient.synthetic.recipes:build_severity",
    curator="The PrimaBench maintainers",
    history=_HISTORY,
)

_PREPARE = "primabench_task_patient.preparers.representation"
PREPARE_SYNTHETIC = PreparerSpec(
    task=NAME,
    dataset=SYNTHETIC_KEY,
    prepare=f"{_PREPARE}:prepare",
    summary="All samples without labels; five folds of the recipe, stratified by subtype.",
)
PREPARE_SEVERITY = PreparerSpec(
    task=NAME,
    dataset=SEVERITY_KEY,
    prepare=f"{_PREPARE}:prepare",
    summary="All samples without scores; five folds of the recipe, both visits of a patient in one.",
)
PREPARE_GSE7390 = PreparerSpec(
    task=NAME,
    dataset=GSE7390,
    prepare=f"{_PREPARE}:prepare_gse7390",
    id_list="primabench_task_patient:splits/gse7390_five_years.tsv",
    id_list_sha256="574b3bef266391a2c3eb88af4a0c48997c8e945efeefe11dce62fcef97a64fe6",
    summary="Metastasis within five years (1,825 days) against none: patients whose last look was earlier without one "
    "are left out. Five folds, stratified by class, drawn by hashes of ids.",
)

_BASELINES = "primabench_task_patient.baselines.embeddings"
PERFECT = BaselineSpec(
    name="perfect",
    task=NAME,
    summary="The truth itself as an embedding: the upper end of the probe.",
    predict=f"{_BASELINES}:perfect",
    oracle=True,
)
RANDOM = BaselineSpec(
    name="random",
    task=NAME,
    summary="64 columns of Gaussian noise, by a hash of seed and sample id.",
    predict=f"{_BASELINES}:random",
)
PCA = BaselineSpec(
    name="pca",
    task=NAME,
    summary="Up to 50 principal components of log expression, fitted on all samples without labels (transductive).",
    predict=f"{_BASELINES}:pca",
    requires=("scikit-learn",),
)
HVG = BaselineSpec(
    name="hvg",
    task=NAME,
    summary="The 500 genes of the largest variance of log expression.",
    predict=f"{_BASELINES}:hvg",
)
