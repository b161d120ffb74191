"""Card and recipe of ``oct4_vs_mafk``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, github, notes_of

PUBLICATION = "kopp_2020_nature_communications"
KEY = f"{PUBLICATION}/oct4_vs_mafk@1.0.0"
REPOSITORY, COMMIT = "BIMSBbioinfo/janggu", "5128419cf404d8f1904d46c627c0c7963356fff1"
LICENCE = "GPL-3.0, as files of janggu; data of ENCODE are free to use"

AUDIT = AuditPlan(
    identity=["sequence"],
    label="label",
    groups=["chrom"],
    reverse_complement=True,
    near="sequence",
    public_truth="classes are the files on GitHub",
)

FILES = {
    "train.oct4.fa": "sample.fa",
    "train.mafk.fa": "sample2.fa",
    "test.oct4.fa": "sample_test.fa",
    "test.mafk.fa": "sample2_test.fa",
}
"""Split and class -> file of the source."""

DATASET = DatasetSpec(
    key=KEY,
    title="Peaks of Oct4 or of Mafk",
    summary="DNA of 200 bases under peaks of one of two transcription factors in human embryonic stem cells.",
    publication=(
        "Kopp W, Monti R, Tamburrini A, Ohler U, Akalin A. Deep learning for genomics using Janggu. "
        "Nature Communications 11, 3488 (2020)."
    ),
    doi="10.1038/s41467-020-17155-y",
    origin="ENCODE, H1-hESC",
    licence=LICENCE,
    organism="Homo sapiens",
    modality="DNA sequence",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1038/s41467-020-17155-y",),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build=f"primabench_recipes.{PUBLICATION}.oct4_vs_mafk.recipe:build",
    sources=tuple(
        Source(name=name, url=github(REPOSITORY, COMMIT, f"src/janggu/resources/{file}"), licence=LICENCE)
        for name, file in FILES.items()
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
)
