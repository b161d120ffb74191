"""Card and recipe of ``airway``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of
from primabench_recipes.curation.inmoose import DOI, LICENCE, PUBLICATION

KEY = "colange_2025_scientific_reports/airway@1.0.0"

AUDIT = AuditPlan(
    groups=["donor", "treated"], public_truth="nothing is predicted from these data, and all values are public"
)

DATASET = DatasetSpec(
    key=KEY,
    title="Airway, dexamethasone",
    summary="RNA-seq counts of four donors' airway cells with and without dexamethasone; ships with InMoose (GPL).",
    publication=PUBLICATION,
    doi=DOI,
    origin=(
        "Himes BE et al. RNA-Seq transcriptome profiling identifies CRISPLD2 as a glucocorticoid responsive gene. "
        "PLoS ONE 9, e99625 (2014), doi 10.1371/journal.pone.0099625; GEO GSE52778"
    ),
    licence=LICENCE,
    organism="Homo sapiens",
    modality="bulk RNA-seq",
    n_units=8,
    content_hash="d0e31fd33c05a5b604ab0fc2213db0cba4b1028f192068c5bf73d8b0eaf9d7ab",
    notes=notes_of(__file__),
    citation_urls=(f"https://doi.org/{DOI}", "https://doi.org/10.1371/journal.pone.0099625"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.colange_2025_scientific_reports.airway.recipe:build",
    sources=(
        Source(
            name="airway.h5ad",
            package="inmoose:inmoose/data/airway/airway.h5ad",
            sha256="2a1c1b6112b08154931455d07fd75ebb03b30f043f1afbf2fdb1b98b56ecc190",
            licence="GPL-3.0-or-later",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("inmoose", "anndata", "scipy"),
    install="pip install primabench-recipes[gpl]",
)
