"""Card and recipe of ``ctcf_peaks_drosophila``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "dale_2011_bioinformatics/ctcf_peaks_drosophila@1.0.0"

AUDIT = AuditPlan(
    label="peaks",
    groups=["cell_line", "chrom"],
    public_truth="it stands in the package and in the publication's supplement",
)

FOLDER = "pybedtools:pybedtools/test/data"

CHECKSUMS = {
    "Kc": "0fae763c2b73bac8af987b3695735fe5cbb48afa91b127c38dde00a2f981749c",
    "Mbn2": "8c6d2bf546d7580a50b5cf1bfbe9ac3e79343ea1e89b1a771b682027a3dec427",
}
"""SHA-256 of the sites of each cell line."""

DATASET = DatasetSpec(
    key=KEY,
    title="CTCF binding sites, Drosophila Kc and Mbn2",
    summary="5,116 CTCF sites of two Drosophila cell lines on six chromosomes; ships with pybedtools.",
    publication=(
        "Dale RK, Pedersen BS, Quinlan AR. Pybedtools: a flexible Python library for manipulating genomic datasets and "
        "annotations. Bioinformatics 27(24), 3423-3424 (2011)."
    ),
    doi="10.1093/bioinformatics/btr539",
    origin=(
        "Bushey AM, Ramos E, Corces VG. Three subclasses of a Drosophila insulator show distinct and cell "
        "type-specific genomic distributions. Genes & Development 23, 1338 (2009), doi 10.1101/gad.1798209"
    ),
    licence="MIT, as files of pybedtools; the sites are the publication's supplement",
    organism="Drosophila melanogaster",
    modality="ChIP-chip peaks",
    n_units=12,
    content_hash="fc0c022da883e366c71b220f3a49575111876de5a24d0b1a624e465cc0fe69b8",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1093/bioinformatics/btr539", "https://doi.org/10.1101/gad.1798209"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.dale_2011_bioinformatics.ctcf_peaks_drosophila.recipe:build",
    sources=tuple(
        Source(name=f"{cells}.bed", package=f"{FOLDER}/CTCF_{cells}_Bushey_2009.bed", sha256=digest, licence="MIT")
        for cells, digest in CHECKSUMS.items()
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("pybedtools",),
)
