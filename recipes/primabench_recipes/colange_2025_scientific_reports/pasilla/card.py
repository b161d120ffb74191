"""Card and recipe of ``pasilla``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of
from primabench_recipes.curation.inmoose import DOI, LICENCE, PUBLICATION

KEY = "colange_2025_scientific_reports/pasilla@1.0.0"

AUDIT = AuditPlan(
    groups=["library", "treated"], public_truth="nothing is predicted from these data, and all values are public"
)

DATASET = DatasetSpec(
    key=KEY,
    title="Pasilla, knock-down",
    summary="RNA-seq counts of seven Drosophila samples with and without pasilla knock-down; ships with InMoose (GPL).",
    publication=PUBLICATION,
    doi=DOI,
    origin=(
        "Brooks AN et al. Conservation of an RNA regulatory map between Drosophila and mammals. "
        "Genome Research 21, 193 (2011), doi 10.1101/gr.108662.110; GEO GSE18508"
    ),
    licence=LICENCE,
    organism="Drosophila melanogaster",
    modality="bulk RNA-seq",
    n_units=7,
    content_hash="0f38b90b7d256540758af98b60542cb6cf286739cc2ca2757a852bcf9286facd",
    notes=notes_of(__file__),
    citation_urls=(f"https://doi.org/{DOI}", "https://doi.org/10.1101/gr.108662.110"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.colange_2025_scientific_reports.pasilla.recipe:build",
    sources=(
        Source(
            name="counts.tsv",
            package="inmoose:inmoose/data/pasilla/pasilla_gene_counts.tsv",
            sha256="ea0dafbfcc600559644cfe7dd5cc8de809d631eb64ba3089aaa25c2fa0954dad",
            licence="GPL-3.0-or-later",
        ),
        Source(
            name="samples.csv",
            package="inmoose:inmoose/data/pasilla/pasilla_sample_annotation.csv",
            sha256="1844f871ca5d750f41685c73b87bd7dda291ec0d52304c1afb46a17ae88db745",
            licence="GPL-3.0-or-later",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("inmoose", "scipy"),
    install="pip install primabench-recipes[gpl]",
)
