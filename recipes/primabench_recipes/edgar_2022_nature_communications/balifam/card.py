"""Cards and recipes of three sizes with one layout, importable without any array library."""

from types import SimpleNamespace

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

COMMIT = "f2a46ac425834b4acecce7e0d7cd1439090ffca2"

AUDIT = AuditPlan(
    identity=["family", "sequence"],
    groups=["family"],
    near="sequence",
    k=5,
    public_truth="reference alignments stand in the repository",
)

SIZES = {"balifam100": 59, "balifam1000": 56, "balifam10000": 36}
"""Data set -> number of families."""

NOTES = notes_of(__file__)


def _card(slug: str) -> DatasetSpec:
    return DatasetSpec(
        key=f"edgar_2022_nature_communications/{slug}@1.0.0",
        title=f"Balifam {slug.removeprefix('balifam')}",
        summary=f"{SIZES[slug]} protein families to align, with reference alignments of some members.",
        publication=(
            "Edgar RC. Muscle5: High-accuracy alignment ensembles enable unbiased assessments of sequence homology and "
            "phylogeny. Nature Communications 13, 6968 (2022)."
        ),
        doi="10.1038/s41467-022-34630-w",
        origin="Thompson JD et al. BAliBASE 3.0. Proteins 61, 127 (2005), doi 10.1002/prot.20527; homologs of Pfam",
        licence="CC0-1.0",
        modality="multiple sequence alignment",
        notes=NOTES,
        citation_urls=("https://doi.org/10.1038/s41467-022-34630-w", "https://doi.org/10.1002/prot.20527"),
    )


def _recipe(slug: str) -> RecipeSpec:
    return RecipeSpec(
        dataset=f"edgar_2022_nature_communications/{slug}@1.0.0",
        build="primabench_recipes.edgar_2022_nature_communications.balifam.recipe:build",
        sources=(
            Source(
                name="balifam.tar.gz",
                url=f"https://codeload.github.com/rcedgar/balifam/tar.gz/{COMMIT}",
                licence="CC0-1.0",
            ),
        ),
        curator=CURATOR,
        audit=AUDITED_BY,
        history=(FIRST_VERSION,),
    )


DATASETS = SimpleNamespace(**{slug: _card(slug) for slug in SIZES})
RECIPES = SimpleNamespace(**{slug: _recipe(slug) for slug in SIZES})
