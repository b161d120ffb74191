"""Sequence classification: the task, its synthetic dataset, splits and baselines."""

from __future__ import annotations

from types import SimpleNamespace

from primabench_core.spec import (
    BaselineSpec,
    Contract,
    DatasetSpec,
    Field,
    MetricUse,
    PreparerSpec,
    RecipeSpec,
    TaskSpec,
)
from primabench_task_genome.specs import CURATOR, FIRST_VERSION, SYNTHETIC_NOTES
from primabench_task_genome.specs.fields import CALLED, CLASS, FOLD, GROUP, SEEN

NAME = "sequence_classification"
SYNTHETIC_KEY = f"primabench_synthetic/{NAME}@1.0.0"

NT = "dalla_torre_2025_nature_methods"
NT_SETS = (
    *(m.lower() for m in ("H2AFZ", "H3K27ac", "H3K27me3", "H3K36me3", "H3K4me1", "H3K4me2", "H3K4me3", "H3K9ac")),
    *("h3k9me3", "h4k20me1", "enhancers", "enhancers_types", "promoter_all", "promoter_no_tata", "promoter_tata"),
    *("splice_sites_acceptors", "splice_sites_all", "splice_sites_donors"),
)
GENOMIC = "gresova_2023_bmc_genomic_data"
GENOMIC_SETS = (
    "demo_coding_vs_intergenomic_seqs",
    "demo_human_or_worm",
    "drosophila_enhancers_stark",
    "dummy_mouse_enhancers_ensembl",
    "human_enhancers_cohn",
    "human_enhancers_ensembl",
    "human_ensembl_regulatory",
    "human_nontata_promoters",
    "human_ocr_ensembl",
)
GUE = "zhou_2024_international_conference_on_learning_representations"
GUE_SETS = (
    *(f"emp_{m.lower()}" for m in ("H3", "H3K14ac", "H3K36me3", "H3K4me1", "H3K4me2", "H3K4me3", "H3K79me3", "H3K9ac")),
    *("emp_h4", "emp_h4ac", *(f"human_tf_{i}" for i in range(5)), *(f"mouse_{i}" for i in range(5))),
    *("prom_300_all", "prom_300_notata", "prom_300_tata", "prom_core_all", "prom_core_notata", "prom_core_tata"),
    *("splice_reconstructed", "virus_covid"),
)
WHOLE_SETS = {
    "primate_splice_junctions": "noordewier_1991_advances_in_neural_information_processing_systems",
    "ecoli_promoters": "harley_1987_nucleic_acids_research",
    "ecoli_sigma70_promoters": "umarov_2017_plos_one",
    "mouse_tata_promoters": "umarov_2017_plos_one",
}
"""Sets without a split of the source -> publication."""

DEFAULT = f"{NT}/promoter_all@1.0.0"

TASK = TaskSpec(
    name=NAME,
    title="Sequence classification",
    summary="Name the class of each DNA sequence: promoter, enhancer, splice site, binding site, histone mark.",
    contract=Contract(
        prediction=(
            Field(**{f: getattr(CALLED, f) for f in ("name", "kind", "vocabulary", "doc")}, optional=True),
            Field(
                "probability", "probability", doc="score of each class, columns named", coord="classes", optional=True
            ),
            Field("embedding", "embedding", doc="one vector a sequence, for the probes", optional=True),
        ),
        solution=(CLASS, FOLD, GROUP, SEEN),
        unknown_labels="count",
    ),
    metrics=(
        "mcc",
        "mcc_without_leaks",
        MetricUse("leaked_share", always=True),
        "accuracy",
        "macro_f1",
        "balanced_accuracy",
    ),
    primary="mcc",
    default_dataset=DEFAULT,
    synthetic_dataset=SYNTHETIC_KEY,
    unit="sequence",
    description="""\
**Input.** `sequence`, and `label` in training. **Prediction**, one of three: a `label` (the panel); `probability`
with a column a class (`metrics=["auroc_ovr_macro", "log_loss", "expected_calibration_error"]`; of two classes also
`auroc` and `average_precision` with `positive=`); or one `embedding` a test sequence (`metrics=["linear_probe"]`:
`linear-probe/1`, cross-validated over the folds of the test split, equal sequences in one fold).

**Folds.** Training rows carry `fold` (0 to 9, from hashes of the sequences): for ten models of nine folds each, score
each on the test split and report mean and sample deviation (`primabench_task_genome.metrics.sequences.fold_summary`).
`mcc_mean_over_folds` scores rows of a cross-validation of your own.

**Leaks.** `leaked_share` says in every result, whatever metrics are asked for, how many test sequences training
holds too: copies, other strands, near duplicates (12-mers shared by eight tenths, found by MinHash).
`mcc_without_leaks` is the score without them. In
`human_enhancers_ensembl` 11,694 of 30,970 test rows are copies of training rows, all of them positive.

**Intervals** resample sequences.
""",
    references=(
        "Dalla-Torre et al. 2025, Nature Methods, doi:10.1038/s41592-024-02523-z",
        "Grešová et al. 2023, BMC Genomic Data, doi:10.1186/s12863-023-01123-8",
        "Zhou et al. 2024, ICLR, arXiv:2306.15006",
    ),
)

SYNTHETIC = DatasetSpec(
    key=SYNTHETIC_KEY,
    title="Synthetic sequences with motifs",
    summary="300 made sequences of 60 bases in three classes; for offline trials and tests only.",
    publication="Made by primabench-task-genome; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic DNA",
    n_units=100,
    content_hash="23eb3064d7af6cb2e04b9746207b6e661db45b6bc4734a693d934f89f0d4d063",
    notes=SYNTHETIC_NOTES + "Two classes carry two copies of a motif each.\n",
)
RECIPE = RecipeSpec(
    dataset=SYNTHETIC_KEY,
    build="primabench_task_genome.synthetic.recipes:build_sequences",
    curator=CURATOR,
    history=(FIRST_VERSION,),
)

_PREPARERS = "primabench_task_genome.preparers.sequences"
PREPARE_SYNTHETIC = PreparerSpec(
    task=NAME,
    dataset=SYNTHETIC_KEY,
    prepare=f"{_PREPARERS}:prepare_listed",
    id_list="primabench_task_genome:splits/sequences_synthetic.tsv",
    id_list_sha256="d639798a7b764bc99c8531ff2e8c1080b4d9e52e6a5eaaced9b83235d0da3b86",
    summary="Every third sequence is tested.",
)


def _published(publication: str, sets: tuple[str, ...]) -> SimpleNamespace:
    return SimpleNamespace(
        **{
            name: PreparerSpec(
                task=NAME,
                dataset=f"{publication}/{name}@1.0.0",
                prepare=f"{_PREPARERS}:prepare_published",
                summary="Train and test as published; training rows carry ten folds by hashes of their sequences.",
            )
            for name in sets
        }
    )


PREPARE_NT = _published(NT, NT_SETS)
PREPARE_GENOMIC = _published(GENOMIC, GENOMIC_SETS)
PREPARE_GUE = _published(GUE, GUE_SETS)
PREPARE_OCT4 = _published("kopp_2020_nature_communications", ("oct4_vs_mafk",)).oct4_vs_mafk
PREPARE_WHOLE = SimpleNamespace(
    **{
        name: PreparerSpec(
            task=NAME,
            dataset=f"{publication}/{name}@1.0.0",
            prepare=f"{_PREPARERS}:prepare_whole",
            summary="One fifth of the sequences is tested, chosen by hashes of genes (where known) and of sequences on "
            "either strand, so that rows of one gene and copies are never parted.",
        )
        for name, publication in WHOLE_SETS.items()
    }
)

_BASELINES = "primabench_task_genome.baselines.sequences"
PERFECT = BaselineSpec(
    name="perfect", task=NAME, summary="The truth itself: the upper end.", predict=f"{_BASELINES}:perfect", oracle=True
)
MAJORITY = BaselineSpec(
    name="majority",
    task=NAME,
    summary="The most frequent training class for every sequence; of equal ones the first by name.",
    predict=f"{_BASELINES}:majority",
)
RANDOM = BaselineSpec(
    name="random",
    task=NAME,
    summary="A class with the frequencies of training, by a hash of seed and id.",
    predict=f"{_BASELINES}:random",
)
GC_LOGISTIC = BaselineSpec(
    name="gc_logistic",
    task=NAME,
    summary="Logistic regression on composition alone (shares of G and C, of purines).",
    predict=f"{_BASELINES}:gc_logistic",
    requires=("scikit-learn",),
)
KMER_LOGISTIC = BaselineSpec(
    name="kmer_logistic",
    task=NAME,
    summary="Logistic regression on 6-mer frequencies.",
    predict=f"{_BASELINES}:kmer_logistic",
    requires=("scikit-learn",),
)
