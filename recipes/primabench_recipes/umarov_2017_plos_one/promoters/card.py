"""Cards and recipes of two data sets with one layout, importable without any array library."""

from types import SimpleNamespace

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, github, notes_of

PUBLICATION = "umarov_2017_plos_one"
REPOSITORY, COMMIT = "solovictor/CNNPromoterData", "b4d2949e9bc5206f3049b35a488b036125ccc653"

AUDIT = AuditPlan(
    identity=["sequence"],
    label="label",
    reverse_complement=True,
    near="sequence",
    public_truth="classes are the files on GitHub",
)

LICENCE = "none stated; sequences of public genomes"

SETS = {
    "ecoli_sigma70_promoters": ("Ecoli_prom.fa", "Ecoli_non_prom.fa", 81, "Escherichia coli", "sigma 70 promoters"),
    "mouse_tata_promoters": ("Mouse_tata.fa", "Mouse_nonprom.fa", 251, "Mus musculus", "promoters with TATA box"),
}
"""Data set -> file of promoters, file of others, bases of each, organism, what the positives are."""

NOTES = notes_of(__file__)


def _card(name: str) -> DatasetSpec:
    _, _, length, organism, what = SETS[name]
    return DatasetSpec(
        key=f"{PUBLICATION}/{name}@1.0.0",
        title=f"Promoters or not: {name}",
        summary=f"{what} of {organism} and other sequences, {length} bases each.".capitalize(),
        publication=(
            "Umarov RK, Solovyev VV. Recognition of prokaryotic and eukaryotic promoters using convolutional deep "
            "learning neural networks. PLoS ONE 12(2), e0171410 (2017)."
        ),
        doi="10.1371/journal.pone.0171410",
        origin="RegulonDB (E. coli), EPDnew (mouse)",
        licence=LICENCE,
        organism=organism,
        modality="DNA sequence",
        notes=NOTES,
        citation_urls=("https://doi.org/10.1371/journal.pone.0171410",),
    )


def _recipe(name: str) -> RecipeSpec:
    return RecipeSpec(
        dataset=f"{PUBLICATION}/{name}@1.0.0",
        build=f"primabench_recipes.{PUBLICATION}.promoters.recipe:build",
        sources=tuple(
            Source(name=role, url=github(REPOSITORY, COMMIT, file), licence=LICENCE, redistribute=False)
            for role, file in zip(("promoters.fa", "others.fa"), SETS[name], strict=False)
        ),
        curator=CURATOR,
        audit=AUDITED_BY,
        history=(FIRST_VERSION,),
    )


DATASETS = SimpleNamespace(**{name: _card(name) for name in SETS})
RECIPES = SimpleNamespace(**{name: _recipe(name) for name in SETS})
