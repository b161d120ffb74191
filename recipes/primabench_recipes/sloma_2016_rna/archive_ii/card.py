"""Card and recipe of ``archive_ii``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "sloma_2016_rna/archive_ii@1.0.0"

AUDIT = AuditPlan(
    identity=["sequence"],
    label="pairs",
    groups=["family"],
    near="sequence",
    k=8,
    public_truth="it stands in the archive and in the databases of its families",
)

DATASET = DatasetSpec(
    key=KEY,
    title="ArchiveII RNA structures",
    summary="About 3,975 RNAs of ten families with base pairs from comparative analysis, pseudoknots included.",
    publication=(
        "Sloma MF, Mathews DH. Exact calculation of loop formation probability identifies folding motifs in RNA "
        "secondary structures. RNA 22, 1808-1818 (2016)."
    ),
    doi="10.1261/rna.053694.115",
    licence="distributed freely by the Mathews lab, who ask for a citation; the copy's repository is MIT",
    modality="RNA secondary structure",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1261/rna.053694.115",),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.sloma_2016_rna.archive_ii.recipe:build",
    sources=(
        Source(
            name="archiveII.tar.gz",
            url=(
                "https://codeload.github.com/AkkshayaRajesh/rna-structural-prediction/tar.gz/"
                "57b177e88595c6bc532925f899034b3837211248"
            ),
            licence="MIT (repository); cite the authors",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
)
