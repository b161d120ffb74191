"""Card and recipe of ``ifnb_pbmc``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "kang_2018_nature_biotechnology/ifnb_pbmc@1.0.0"

AUDIT = AuditPlan(
    identity=["counts"],
    label="cell_type",
    groups=["donor", "condition"],
    public_truth="all cells stand in the file on figshare and in GEO (GSE96583)",
)

DATASET = DatasetSpec(
    key=KEY,
    title="Interferon-beta response of blood cells",
    summary="Blood cells of eight lupus patients with and without interferon beta; raw counts, annotated types.",
    publication=(
        "Kang HM et al. Multiplexed droplet single-cell RNA-sequencing using natural genetic variation. "
        "Nature Biotechnology 36, 89-94 (2018)."
    ),
    doi="10.1038/nbt.4042",
    origin="GEO GSE96583, as a file of pertpy on figshare (34464122)",
    licence="CC-BY-4.0, as figshare declares (to be verified at first fetch); the GEO series states no restriction",
    organism="Homo sapiens",
    modality="single-cell RNA-seq after perturbation",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1038/nbt.4042",),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.kang_2018_nature_biotechnology.ifnb_pbmc.recipe:build",
    sources=(
        Source(name="kang_2018.h5ad", url="https://figshare.com/ndownloader/files/34464122", licence="CC-BY-4.0"),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("anndata", "scipy"),
)
