"""Card and recipe of ``gse7390_metastasis``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "polsterl_2020_journal_of_machine_learning_research/gse7390_metastasis@1.0.0"

AUDIT = AuditPlan(
    identity=["expression"],
    label="event",
    groups=["grade", "er"],
    public_truth="it stands in scikit-survival and in GEO (GSE7390)",
)

DATASET = DatasetSpec(
    key=KEY,
    title="Breast cancer GSE7390, time to metastasis",
    summary="198 node-negative breast cancers, 76 probes, time to metastasis; ships with scikit-survival (GPL).",
    publication=(
        "Pölsterl S. scikit-survival: A Library for Time-to-Event Analysis Built on Top of scikit-learn. "
        "Journal of Machine Learning Research 21(212), 1-6 (2020)."
    ),
    origin=(
        "Desmedt C et al. Strong time dependence of the 76-gene prognostic signature for node-negative breast cancer "
        "patients in the TRANSBIG multicenter independent validation series. Clinical Cancer Research 13, 3207 (2007), "
        "doi 10.1158/1078-0432.CCR-06-2765; GEO GSE7390"
    ),
    licence="GPL-3.0-or-later, as a file of scikit-survival; the GEO series states no restriction",
    organism="Homo sapiens",
    modality="microarray",
    n_units=198,
    content_hash="abaa35597ad94b126ccffc6a92c2aa49fa13036ef3d573890e2d6012aab2dcc3",
    notes=notes_of(__file__),
    citation_urls=("https://jmlr.org/papers/v21/20-729.html", "https://doi.org/10.1158/1078-0432.CCR-06-2765"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.polsterl_2020_journal_of_machine_learning_research.gse7390_metastasis.recipe:build",
    sources=(
        Source(
            name="metastasis.arff",
            package="scikit-survival:sksurv/datasets/data/breast_cancer_GSE7390-metastasis.arff",
            sha256="233f4c1c06b2ee299fffcba0f9881f6ed66a3566ccbec30b5004f0d298b52570",
            licence="GPL-3.0-or-later",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("scikit-survival",),
    install="pip install primabench-recipes[gpl]",
)
