"""Cards and recipes of 18 data sets with one layout, importable without any array library."""

from types import SimpleNamespace

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

PUBLICATION = "dalla_torre_2025_nature_methods"

AUDIT = AuditPlan(
    identity=["sequence"],
    label="label",
    reverse_complement=True,
    near="sequence",
    public_truth="labels stand in the headers of the files on Hugging Face",
)

LICENCE = "not stated where we could read it; to be verified at first fetch on the page of the dataset"

HISTONES = (
    "H2AFZ",
    "H3K27ac",
    "H3K27me3",
    "H3K36me3",
    "H3K4me1",
    "H3K4me2",
    "H3K4me3",
    "H3K9ac",
    "H3K9me3",
    "H4K20me1",
)

TASKS = {
    **{mark: (f"{mark} in human cells, 1,000 bp", 2) for mark in HISTONES},
    "enhancers": ("enhancer or not, 400 bp", 2),
    "enhancers_types": ("tissue-specific, other or no enhancer, 400 bp", 3),
    "promoter_all": ("promoter or not, 300 bp", 2),
    "promoter_no_tata": ("promoter without TATA box or not, 300 bp", 2),
    "promoter_tata": ("promoter with TATA box or not, 300 bp", 2),
    "splice_sites_acceptors": ("acceptor or not, 600 bp", 2),
    "splice_sites_all": ("acceptor, donor or neither, 600 bp", 3),
    "splice_sites_donors": ("donor or not, 600 bp", 2),
}
"""Folder of the source -> what is told apart, and the number of classes."""

HOST = "https://huggingface.co/datasets/InstaDeepAI/nucleotide_transformer_downstream_tasks_revised/resolve/main"

NOTES = notes_of(__file__)


def key_of(task: str) -> str:
    """Key of the dataset of one task."""
    return f"{PUBLICATION}/{task.lower()}@1.0.0"


def _card(task: str) -> DatasetSpec:
    what, classes = TASKS[task]
    return DatasetSpec(
        key=key_of(task),
        title=f"Nucleotide Transformer, revised: {task}",
        summary=f"DNA sequences, {what}; {classes} classes, train and test by the source.",
        publication=(
            "Dalla-Torre H et al. Nucleotide Transformer: building and evaluating robust foundation models for human "
            "genomics. Nature Methods 22, 287-297 (2025)."
        ),
        doi="10.1038/s41592-024-02523-z",
        origin="ENCODE, EPDnew and GENCODE, as the publication says",
        licence=LICENCE,
        organism="Homo sapiens",
        modality="DNA sequence",
        notes=NOTES,
        citation_urls=("https://doi.org/10.1038/s41592-024-02523-z",),
    )


def _recipe(task: str) -> RecipeSpec:
    return RecipeSpec(
        dataset=key_of(task),
        build="primabench_recipes.dalla_torre_2025_nature_methods.nucleotide_transformer_revised.recipe:build",
        sources=tuple(
            Source(name=f"{split}.fna", url=f"{HOST}/{task}/{split}.fna", licence=LICENCE)
            for split in ("train", "test")
        ),
        curator=CURATOR,
        audit=AUDITED_BY,
        history=(FIRST_VERSION,),
    )


DATASETS = SimpleNamespace(**{task.lower(): _card(task) for task in TASKS})
RECIPES = SimpleNamespace(**{task.lower(): _recipe(task) for task in TASKS})
