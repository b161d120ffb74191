"""Cards and recipes of three splits with one layout, importable without any array library."""

from types import SimpleNamespace

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, github, notes_of

REPOSITORY, COMMIT = "kexinhuang12345/MolTrans", "47ac16b8c158b080ba6cdaec74cd7aa9c1332b73"
LICENCE = "BSD-3-Clause, as the repository declares; DrugBank's terms for its full data are non-commercial"

AUDIT = AuditPlan(
    identity=["smiles", "sequence"],
    label="label",
    groups=["drug", "protein"],
    near="sequence",
    k=5,
    smiles="smiles",
    public_truth="it stands in the repository",
)

SPLITS = {
    "biosnap_random": ("full_data", "random pairs"),
    "biosnap_unseen_drug": ("unseen_drug", "unseen drugs"),
    "biosnap_unseen_protein": ("unseen_protein", "unseen proteins"),
}
"""Data set -> folder of the source, and what is held out."""

PARTS = ("train", "val", "test")
NOTES = notes_of(__file__)


def _card(slug: str) -> DatasetSpec:
    held_out = SPLITS[slug][1]
    return DatasetSpec(
        key=f"huang_2021_bioinformatics/{slug}@1.0.0",
        title=f"BioSNAP interactions, {held_out}",
        summary=f"Drug-protein pairs that interact or are not known to; train, val and test by {held_out}.",
        publication=(
            "Huang K, Xiao C, Glass LM, Sun J. MolTrans: Molecular Interaction Transformer for drug-target interaction "
            "prediction. Bioinformatics 37(6), 830-836 (2021)."
        ),
        doi="10.1093/bioinformatics/btaa880",
        origin="Zitnik M et al. BioSNAP Datasets, Stanford (2018), ChG-Miner, from DrugBank",
        licence=LICENCE,
        organism="Homo sapiens",
        modality="drug-target interaction",
        notes=NOTES,
        citation_urls=("https://doi.org/10.1093/bioinformatics/btaa880",),
    )


def _recipe(slug: str) -> RecipeSpec:
    folder = f"dataset/BIOSNAP/{SPLITS[slug][0]}"
    return RecipeSpec(
        dataset=f"huang_2021_bioinformatics/{slug}@1.0.0",
        build="primabench_recipes.huang_2021_bioinformatics.biosnap.recipe:build",
        sources=tuple(
            Source(name=f"{part}.csv", url=github(REPOSITORY, COMMIT, f"{folder}/{part}.csv"), licence=LICENCE)
            for part in PARTS
        ),
        curator=CURATOR,
        audit=AUDITED_BY,
        history=(FIRST_VERSION,),
    )


DATASETS = SimpleNamespace(**{slug: _card(slug) for slug in SPLITS})
RECIPES = SimpleNamespace(**{slug: _recipe(slug) for slug in SPLITS})
