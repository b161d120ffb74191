"""Cards and recipes of two test sets with one layout, importable without any array library."""

from types import SimpleNamespace

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, github, notes_of

REPOSITORY, COMMIT = "omarperacha/ps4-dataset", "e1820264e0762fb44d496f53e08cdcb7ddf92598"

AUDIT = AuditPlan(
    identity=["sequence"], near="sequence", k=5, public_truth="it stands in the repository and follows from PDB entries"
)

SETS = {
    "cb513": (
        513,
        "Cuff JA, Barton GJ. Evaluation and improvement of multiple sequence methods for protein secondary structure "
        "prediction. Proteins 34, 508 (1999)",
    ),
    "ts115": (
        115,
        "Yang Y et al. Sixty-five years of the long march in protein secondary structure prediction: the final "
        "stretch? Briefings in Bioinformatics 19, 482 (2018), doi 10.1093/bib/bbw129",
    ),
}
"""Data set -> number of chains, and where it comes from."""

NOTES = notes_of(__file__)


def _card(slug: str) -> DatasetSpec:
    n, origin = SETS[slug]
    return DatasetSpec(
        key=f"peracha_2024_biotechniques/{slug}@1.0.0",
        title=f"{slug.upper()} protein secondary structure",
        summary=f"{n} protein chains with DSSP states in three and eight classes, and masks.",
        publication=(
            "Peracha O. PS4: a next-generation dataset for protein single-sequence secondary structure prediction. "
            "BioTechniques 76(2), 63-70 (2024)."
        ),
        doi="10.2144/btn-2023-0024",
        origin=f"{origin}; files of NetSurfP-2.0 (Klausen MS et al. Proteins 87, 520 (2019), doi 10.1002/prot.25674)",
        licence="CC0-1.0, as the repository declares",
        modality="protein secondary structure",
        n_units=n,
        notes=NOTES,
        citation_urls=("https://doi.org/10.2144/btn-2023-0024", "https://doi.org/10.1002/prot.25674"),
    )


def _recipe(slug: str) -> RecipeSpec:
    path = f"ps4_data/data/{slug}/{slug.upper()}_HHblits.csv"
    return RecipeSpec(
        dataset=f"peracha_2024_biotechniques/{slug}@1.0.0",
        build="primabench_recipes.peracha_2024_biotechniques.netsurfp_sets.recipe:build",
        sources=(Source(name="chains.csv", url=github(REPOSITORY, COMMIT, path), licence="CC0-1.0"),),
        curator=CURATOR,
        audit=AUDITED_BY,
        history=(FIRST_VERSION,),
    )


DATASETS = SimpleNamespace(**{slug: _card(slug) for slug in SETS})
RECIPES = SimpleNamespace(**{slug: _recipe(slug) for slug in SETS})
