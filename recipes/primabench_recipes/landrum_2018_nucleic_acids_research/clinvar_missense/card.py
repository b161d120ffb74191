"""Card and recipe of ``clinvar_missense``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "landrum_2018_nucleic_acids_research/clinvar_missense@1.0.0"
RELEASE = "20240107"
NCBI = "https://ftp.ncbi.nlm.nih.gov"

AUDIT = AuditPlan(
    identity=["chrom", "pos", "alt"],
    label="label",
    groups=["gene", "chrom"],
    reference=["ref", "window"],
    public_truth="ClinVar is public, and many predictors were tuned on it",
)

DATASET = DatasetSpec(
    key=KEY,
    title="ClinVar missense variants",
    summary="Missense variants of ClinVar, pathogenic or benign, with their reference context (GRCh38).",
    publication=(
        "Landrum MJ et al. ClinVar: improving access to variant interpretations and supporting evidence. "
        "Nucleic Acids Research 46(D1), D1062-D1067 (2018)."
    ),
    doi="10.1093/nar/gkx1153",
    origin=f"ClinVar, release {RELEASE}; GRCh38 without alternative contigs",
    licence="public domain (NCBI); ClinVar asks for a citation and is not for direct diagnosis",
    organism="Homo sapiens",
    modality="variants",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1093/nar/gkx1153",),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.landrum_2018_nucleic_acids_research.clinvar_missense.recipe:build",
    sources=(
        Source(
            name="clinvar.vcf.gz",
            url=f"{NCBI}/pub/clinvar/vcf_GRCh38/archive_2.0/2024/clinvar_{RELEASE}.vcf.gz",
            licence="public domain",
        ),
        Source(
            name="genome.fa.gz",
            url=(
                f"{NCBI}/genomes/all/GCA/000/001/405/GCA_000001405.15_GRCh38/"
                "seqs_for_alignment_pipelines.ucsc_ids/GCA_000001405.15_GRCh38_no_alt_analysis_set.fna.gz"
            ),
            licence="public domain",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
)
