"""Cards and recipes of two data sets with one layout, importable without any array library."""

from types import SimpleNamespace

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

PUBLICATION = "notin_2023_advances_in_neural_information_processing_systems"
RELEASE = "ProteinGym_v1.3"
HOST = f"https://marks.hms.harvard.edu/proteingym/{RELEASE}"
LICENCE = "MIT, as ProteinGym says; scans carry the terms of their publications"

AUDIT = AuditPlan(
    identity=["assay", "mutant"],
    label="label",
    groups=["uniprot", "selection"],
    public_truth="all scans are public, and many models were chosen on them",
)

SETS = {
    "proteingym_substitutions": ("DMS_substitutions.csv", "DMS_ProteinGym_substitutions.zip", "substitutions"),
    "proteingym_indels": ("DMS_indels.csv", "DMS_ProteinGym_indels.zip", "insertions and deletions"),
}
"""Data set -> table of assays, archive of scans, what varies."""

NOTES = notes_of(__file__)


def _card(name: str) -> DatasetSpec:
    return DatasetSpec(
        key=f"{PUBLICATION}/{name}@1.0.0",
        title=f"ProteinGym: {SETS[name][2]}",
        summary=f"Deep mutational scans of proteins, {SETS[name][2]}; fitness of every variant.",
        publication=(
            "Notin P et al. ProteinGym: large-scale benchmarks for protein fitness prediction and design. "
            "Advances in Neural Information Processing Systems 36 (2023)."
        ),
        doi="10.1101/2023.12.07.570727",
        origin="the publications of the scans, named in the table of assays",
        licence=LICENCE,
        modality="protein variants",
        notes=NOTES,
        citation_urls=("https://proteingym.org",),
    )


def _recipe(name: str) -> RecipeSpec:
    table, archive, _ = SETS[name]
    return RecipeSpec(
        dataset=f"{PUBLICATION}/{name}@1.0.0",
        build=f"primabench_recipes.{PUBLICATION}.proteingym.recipe:build",
        sources=(
            Source(name="assays.csv", url=f"{HOST}/{table}", licence=LICENCE),
            Source(name="scans.zip", url=f"{HOST}/{archive}", licence=LICENCE),
        ),
        curator=CURATOR,
        audit=AUDITED_BY,
        history=(FIRST_VERSION,),
    )


DATASETS = SimpleNamespace(**{name: _card(name) for name in SETS})
RECIPES = SimpleNamespace(**{name: _recipe(name) for name in SETS})
