"""Card and recipe of ``immune_human``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "luecken_2022_nature_methods/immune_human@1.0.0"

AUDIT = AuditPlan(
    identity=["counts"], label="label", groups=["batch"], public_truth="annotations stand in the file on figshare"
)

DATASET = DatasetSpec(
    key=KEY,
    title="Human immune cells (scIB)",
    summary="33,506 bone marrow and blood cells, 12,303 genes, 10 batches, 16 types.",
    publication=(
        "Luecken MD et al. Benchmarking atlas-level data integration in single-cell genomics. "
        "Nature Methods 19, 41-50 (2022)."
    ),
    doi="10.1038/s41592-021-01336-8",
    origin="five studies named in the column study of the file (Oetjen, 10x Genomics, Freytag, Sun, Villani)",
    licence="CC-BY-4.0, as figshare 12420968 declares (to be verified at first fetch)",
    organism="Homo sapiens",
    modality="single-cell RNA-seq",
    n_units=33506,
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1038/s41592-021-01336-8", "https://doi.org/10.6084/m9.figshare.12420968"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.luecken_2022_nature_methods.immune_human.recipe:build",
    sources=(
        Source(
            name="Immune_ALL_human.h5ad",
            url="https://ndownloader.figshare.com/files/25717328",
            licence="CC-BY-4.0",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("anndata", "scipy"),
)
