"""Cards and recipes of 28 data sets with one layout, importable without any array library."""

from types import SimpleNamespace

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

PUBLICATION = "zhou_2024_international_conference_on_learning_representations"

AUDIT = AuditPlan(
    identity=["sequence"],
    label="label",
    reverse_complement=True,
    near="sequence",
    public_truth="labels stand in the files on Hugging Face",
)

LICENCE = "not stated where we could read it (the code of DNABERT-2 is Apache-2.0); to be verified at first fetch"

YEAST = ("H3", "H3K14ac", "H3K36me3", "H3K4me1", "H3K4me2", "H3K4me3", "H3K79me3", "H3K9ac", "H4", "H4ac")

SETS = {
    **{f"emp_{mark}": (f"{mark} in yeast", 2) for mark in YEAST},
    **{f"human_tf_{i}": (f"binding of transcription factor {i} in human", 2) for i in range(5)},
    **{f"mouse_{i}": (f"binding of transcription factor {i} in mouse", 2) for i in range(5)},
    **{
        f"prom_{size}_{kind}": (f"{what} of human, {name}", 2)
        for size, what in (("300", "promoters (300 bp)"), ("core", "core promoters (70 bp)"))
        for kind, name in (("all", "all"), ("notata", "without TATA box"), ("tata", "with TATA box"))
    },
    "splice_reconstructed": ("splice donor, acceptor or neither in human", 3),
    "virus_covid": ("variants of SARS-CoV-2", 9),
}
"""Folder of the source -> what is told apart, and the number of classes."""

REVISION = "2db3b738af3c676c243350ac337b9560ab15b04b"
HOST = f"https://huggingface.co/datasets/leannmlindsey/GUE/resolve/{REVISION}/GUE"
SPLITS = ("train", "dev", "test")

NOTES = notes_of(__file__)


def key_of(name: str) -> str:
    """Key of one data set."""
    return f"{PUBLICATION}/{name.lower()}@1.0.0"


def _card(name: str) -> DatasetSpec:
    what, classes = SETS[name]
    return DatasetSpec(
        key=key_of(name),
        title=f"GUE: {name}",
        summary=f"DNA sequences, {what}; {classes} classes; train, dev and test by the source.",
        publication=(
            "Zhou Z, Ji Y, Li W, Dutta P, Davuluri R, Liu H. DNABERT-2: efficient foundation model and benchmark for "
            "multi-species genomes. International Conference on Learning Representations (2024)."
        ),
        origin="ENCODE, EPDnew, Ensembl, GISAID and published yeast data, as the publication says",
        licence=LICENCE,
        organism={"emp": "Saccharomyces cerevisiae", "mouse": "Mus musculus", "virus": "SARS-CoV-2"}.get(
            name.partition("_")[0], "Homo sapiens"
        ),
        modality="DNA sequence",
        notes=NOTES,
        citation_urls=("https://arxiv.org/abs/2306.15006",),
    )


def _recipe(name: str) -> RecipeSpec:
    return RecipeSpec(
        dataset=key_of(name),
        build=f"primabench_recipes.{PUBLICATION}.gue.recipe:build",
        sources=tuple(
            Source(name=f"{split}.csv", url=f"{HOST}/{name}/{split}.csv", licence=LICENCE) for split in SPLITS
        ),
        curator=CURATOR,
        audit=AUDITED_BY,
        history=(FIRST_VERSION,),
    )


DATASETS = SimpleNamespace(**{name.lower(): _card(name) for name in SETS})
RECIPES = SimpleNamespace(**{name.lower(): _recipe(name) for name in SETS})
