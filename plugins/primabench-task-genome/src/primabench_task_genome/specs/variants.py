"""The tasks on variants, their synthetic datasets, splits and baselines."""

from __future__ import annotations

from primabench_core.spec import BaselineSpec, Contract, DatasetSpec, Field, PreparerSpec, RecipeSpec, TaskSpec
from primabench_task_genome.specs import CURATOR, FIRST_VERSION, SYNTHETIC_NOTES
from primabench_task_genome.specs.fields import CHROMOSOME, EFFECT, GENE, LABEL, SCORE, SIGNIFICANT, TRUE_EFFECT

CLINVAR = "landrum_2018_nucleic_acids_research/clinvar_missense@1.0.0"
"""Key of the default dataset; its recipe is in primabench-recipes."""

LABELS, EFFECTS = "variant_effect_classification", "variant_effect_regression"
LABELS_KEY, EFFECTS_KEY = f"primabench_synthetic/{LABELS}@1.0.0", f"primabench_synthetic/{EFFECTS}@1.0.0"

CLASSIFICATION = TaskSpec(
    name=LABELS,
    title="Variant effect: pathogenic or not",
    summary="Score variants so that pathogenic or causal ones stand above the others.",
    contract=Contract(
        prediction=(
            SCORE,
            Field("probability", "probability", doc="of 0 and 1, for calibration", coord="classes", optional=True),
            Field("label", "label", vocabulary="truth", doc="a call of your own", optional=True),
        ),
        solution=(LABEL, CHROMOSOME, GENE),
        unknown_labels="refuse",
    ),
    metrics=(
        "auroc",
        "average_precision",
        "average_precision_standard_error",
        "mcc_at_prevalence",
        "auprc_by_chrom_weighted_average",
        "auroc_mean_over_genes",
        "average_precision_mean_over_genes",
        "mcc_at_prevalence_mean_over_genes",
    ),
    primary="auroc",
    default_dataset=CLINVAR,
    synthetic_dataset=LABELS_KEY,
    unit="variant",
    independent_unit="chromosome",
    test_only=True,
    description="""\
**Input.** `chrom`, `pos` (from 1), `ref`, `alt` and a `window` of reference bases around each variant. Longer windows,
on either strand, come from `pb.get_sequences(test, genome, length)`, which checks every reference allele.
**Prediction.** One `score` a variant. **Its sign is fixed: higher means more likely pathogenic or causal.** Of
a language model hand in minus the log-likelihood ratio of alternative to reference. Scores are never transformed or
turned round.

**Score.** `auroc` and `average_precision` (chance: `prevalence`, beside it) over all variants;
`mcc_at_prevalence` needs no tuned threshold. Knowing the gene alone gives a high score over all variants: read
the means over genes beside it. `auprc_by_chrom_weighted_average` is TraitGym's, with its standard error
over chromosomes.

**Calibration, calls.** With `probability` (columns 0 and 1) ask for `metrics=["brier_score",
"expected_calibration_error", "log_loss"]`, with `label` for `["mcc", "macro_f1"]`.

**Test-only.** There is no training split: `pb.fetch_test` serves the variants. A duplicated variant is refused.

**Intervals** resample chromosomes.
""",
    references=(
        "Landrum et al. 2018, Nucleic Acids Research, doi:10.1093/nar/gkx1153",
        "Benegas et al. 2025, TraitGym, doi:10.1101/2025.02.11.637758",
    ),
)

REGRESSION = TaskSpec(
    name=EFFECTS,
    title="Variant effect: how large, which way",
    summary="Predict the signed effect of variants on expression, accessibility or another quantity (QTL).",
    contract=Contract(
        prediction=(EFFECT,),
        solution=(TRUE_EFFECT, CHROMOSOME, SIGNIFICANT),
        unknown_labels="refuse",
    ),
    metrics=("spearman", "pearson", "significance_auroc", "significance_average_precision"),
    primary="spearman",
    default_dataset=EFFECTS_KEY,
    synthetic_dataset=EFFECTS_KEY,
    unit="variant",
    independent_unit="chromosome",
    test_only=True,
    description="""\
**Input.** `chrom`, `pos` (from 1), `ref`, `alt`, `window`. **Prediction.** `value`: the effect of the
alternative against the reference allele, in any units that keep order and sign.

**Score.** `spearman` orders tables, `pearson` beside it. Whether effects are significant is asked of the size of the
prediction alone (`significance_auroc`, `significance_average_precision`).

**Data.** No public set of QTL effects is among our recipes yet, so the default dataset is the synthetic one; a dataset
plugin needs the fields `chrom`, `pos`, `ref`, `alt`, `value` and, if known, `significant`, and the preparer
`primabench_task_genome.preparers.variants:prepare_effects`.
""",
    references=("Avsec et al. 2021, Nature Methods, doi:10.1038/s41592-021-01252-x",),
)

SYNTHETIC_LABELS = DatasetSpec(
    key=LABELS_KEY,
    title="Synthetic variants with labels",
    summary="240 made variants in 12 genes on 4 chromosomes; for offline trials and tests only.",
    publication="Made by primabench-task-genome; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic variants",
    n_units=240,
    content_hash="bf017ab4f3bc74826c39e5328b1fa67bfb2619ecff6dac29df0dbeb404861773",
    notes=SYNTHETIC_NOTES + "Labels follow the kind of the amino-acid change, with noise.\n",
)
SYNTHETIC_EFFECTS = DatasetSpec(
    key=EFFECTS_KEY,
    title="Synthetic variants with effects",
    summary="160 made variants on 5 chromosomes; for offline trials and tests only.",
    publication="Made by primabench-task-genome; not measured, not published.",
    licence="CC0-1.0",
    organism="none (synthetic)",
    modality="synthetic variants",
    n_units=160,
    content_hash="f3871d88e5470bdfb77521cf3fe7c6f47c34cb0b7f5c9996a7e2900fb5897d38",
    notes=SYNTHETIC_NOTES + "Effects follow the change of G and C, with noise.\n",
)

_RECIPES = "primabench_task_genome.synthetic.recipes"
RECIPE_LABELS = RecipeSpec(
    dataset=LABELS_KEY, build=f"{_RECIPES}:build_labels", curator=CURATOR, history=(FIRST_VERSION,)
)
RECIPE_EFFECTS = RecipeSpec(
    dataset=EFFECTS_KEY, build=f"{_RECIPES}:build_effects", curator=CURATOR, history=(FIRST_VERSION,)
)

_ALL = "All variants are tested. Reference alleles were compared with the genome when the data were built; that each "
_ALL += "stands in the middle of its window, and that no variant stands twice, is checked again here."
_PREPARERS = "primabench_task_genome.preparers.variants"
PREPARE_CLINVAR = PreparerSpec(task=LABELS, dataset=CLINVAR, prepare=f"{_PREPARERS}:prepare_labels", summary=_ALL)
PREPARE_LABELS = PreparerSpec(task=LABELS, dataset=LABELS_KEY, prepare=f"{_PREPARERS}:prepare_labels", summary=_ALL)
PREPARE_EFFECTS = PreparerSpec(task=EFFECTS, dataset=EFFECTS_KEY, prepare=f"{_PREPARERS}:prepare_effects", summary=_ALL)

_BASELINES = "primabench_task_genome.baselines.variants"

PERFECT = BaselineSpec(
    name="perfect",
    task=LABELS,
    summary="The truth itself: the upper end.",
    predict=f"{_BASELINES}:perfect",
    oracle=True,
)
RANDOM = BaselineSpec(
    name="random", task=LABELS, summary="A uniform score, by a hash of seed and id.", predict=f"{_BASELINES}:random"
)
TRANSVERSION = BaselineSpec(
    name="transversion",
    task=LABELS,
    summary="1 for transversions, 0 for transitions.",
    predict=f"{_BASELINES}:transversion",
)
CODON_SEVERITY = BaselineSpec(
    name="codon_severity",
    task=LABELS,
    summary="Grantham distance of the amino-acid change, read with the nuclear or the mitochondrial code.",
    predict=f"{_BASELINES}:codon_severity",
)
PERFECT_EFFECT = BaselineSpec(
    name="perfect",
    task=EFFECTS,
    summary="The truth itself: the upper end.",
    predict=f"{_BASELINES}:perfect_effect",
    oracle=True,
)
RANDOM_EFFECT = BaselineSpec(
    name="random",
    task=EFFECTS,
    summary="A uniform effect of either sign, by a hash of seed and id.",
    predict=f"{_BASELINES}:random_effect",
)
GC_CHANGE = BaselineSpec(
    name="gc_change",
    task=EFFECTS,
    summary="Number of G and C that the alternative allele has more.",
    predict=f"{_BASELINES}:gc_change",
)
