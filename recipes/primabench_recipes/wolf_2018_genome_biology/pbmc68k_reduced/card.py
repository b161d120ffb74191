"""Card and recipe of ``wolf_2018_genome_biology/pbmc68k_reduced@1.0.0``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, AuditPlan, notes_of

KEY = "wolf_2018_genome_biology/pbmc68k_reduced@1.0.0"

AUDIT = AuditPlan(
    identity=["expression"],
    label="label",
    groups=["phase"],
    public_truth="it can be read out of scanpy",
)

DATASET = DatasetSpec(
    key=KEY,
    title="PBMC 68k, reduced",
    summary="700 human blood cells of one donor, 765 genes, 10 annotated types; ships with scanpy.",
    publication=(
        "Wolf FA, Angerer P, Theis FJ. SCANPY: large-scale single-cell gene expression data analysis. "
        "Genome Biology 19, 15 (2018)."
    ),
    doi="10.1186/s13059-017-1382-0",
    origin=(
        "Zheng GXY et al. Massively parallel digital transcriptional profiling of single cells. "
        "Nature Communications 8, 14049 (2017), doi 10.1038/ncomms14049: fresh 68k PBMCs, donor A, 10x Genomics."
    ),
    licence=(
        "BSD-3-Clause, as a file of scanpy; the measurements are 10x Genomics', whose own terms for "
        "'Fresh 68k PBMCs (Donor A)' apply to further use and are not restated in the file"
    ),
    organism="Homo sapiens",
    modality="single-cell RNA-seq",
    n_units=700,
    content_hash="2a675f58b6d6843129f0bf7c10311ad5961911855b3a1ed6d7269376267c804d",
    notes=notes_of(__file__),
    citation_urls=(
        "https://doi.org/10.1186/s13059-017-1382-0",
        "https://doi.org/10.1038/ncomms14049",
        "https://www.10xgenomics.com/datasets/fresh-68-k-pbm-cs-donor-a-1-standard-1-1-0",
    ),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.wolf_2018_genome_biology.pbmc68k_reduced.recipe:build",
    sources=(
        Source(
            name="10x_pbmc68k_reduced.h5ad",
            package="scanpy:scanpy/datasets/10x_pbmc68k_reduced.h5ad",
            sha256="e71d41e737c941559b7c57c9243bdb3d2c889c2adfdf00e3422ac6b46783676f",
            equivalent=("863e19914ab2d4ba97edc9623ac3a343c0461f1e40b121bfb5fa92638b22e9bd",),  # scanpy 1.12
            licence="BSD-3-Clause",
        ),
    ),
    curator="The PrimaBench maintainers",
    audit=AUDITED_BY,
    history=(
        "2026-11-29 The PrimaBench maintainers: first version, from the file inside scanpy 1.11",
        "2026-11-29 The PrimaBench maintainers: scanpy 1.12 ships another encoding, which builds the same",
    ),
    requires=("scanpy", "anndata"),
)
