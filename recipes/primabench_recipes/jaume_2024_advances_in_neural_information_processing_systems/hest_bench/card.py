"""Cards and recipes of nine tasks with one layout, importable without any array library."""

from types import SimpleNamespace

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

PUBLICATION = "jaume_2024_advances_in_neural_information_processing_systems"
LICENCE = "CC-BY-NC-SA-4.0; not to be passed on"

AUDIT = AuditPlan(label="counts", groups=["sample"], public_truth="expression stands in the files of the source")

FOLDERS = {
    "idc": ("IDC", "breast"),
    "prad": ("PRAD", "prostate"),
    "paad": ("PAAD", "pancreas"),
    "skcm": ("SKCM", "skin"),
    "coad": ("COAD", "colon"),
    "read": ("READ", "rectum"),
    "ccrcc": ("CCRCC", "kidney"),
    "lung": ("LUNG", "lung"),
    "lymph_idc": ("LYMPH_IDC", "lymph node"),
}
"""Data set -> folder of the source, and the organ."""

NOTES = notes_of(__file__)


def _card(slug: str) -> DatasetSpec:
    folder, organ = FOLDERS[slug]
    return DatasetSpec(
        key=f"{PUBLICATION}/{slug}@1.0.0",
        title=f"HEST-Benchmark {folder}",
        summary=f"Expression of 50 genes at spots of {organ} tissue, folds by the source.",
        publication=(
            "Jaume G et al. HEST-1k: A Dataset for Spatial Transcriptomics and Histology Image Analysis. "
            "Advances in Neural Information Processing Systems 37 (2024)."
        ),
        doi="10.48550/arXiv.2406.16192",
        licence=LICENCE,
        organism="Homo sapiens",
        modality="spatial transcriptomics",
        notes=NOTES,
        citation_urls=("https://doi.org/10.48550/arXiv.2406.16192",),
    )


def _recipe(slug: str) -> RecipeSpec:
    folder = FOLDERS[slug][0]
    return RecipeSpec(
        dataset=f"{PUBLICATION}/{slug}@1.0.0",
        build=f"primabench_recipes.{PUBLICATION}.hest_bench.recipe:build",
        sources=(
            Source(
                name="hest_bench",
                url="https://huggingface.co/datasets/MahmoodLab/hest-bench",
                files=(f"{folder}/adata/*.h5ad", f"{folder}/splits/*.csv", f"{folder}/var_50genes.json"),
                licence=LICENCE,
                public=False,
                redistribute=False,
            ),
        ),
        curator=CURATOR,
        audit=AUDITED_BY,
        history=(FIRST_VERSION,),
        requires=("anndata", "scipy"),
    )


DATASETS = SimpleNamespace(**{slug: _card(slug) for slug in FOLDERS})
RECIPES = SimpleNamespace(**{slug: _recipe(slug) for slug in FOLDERS})
