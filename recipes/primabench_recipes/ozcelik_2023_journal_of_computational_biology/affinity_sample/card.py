"""Card and recipe of ``affinity_sample``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "ozcelik_2023_journal_of_computational_biology/affinity_sample@1.0.0"

AUDIT = AuditPlan(
    identity=["smiles", "sequence"],
    label="affinity",
    groups=["ligand", "protein"],
    near="sequence",
    k=5,
    smiles="smiles",
    public_truth="it stands in the package and in KIBA",
)

FOLDER = "pydebiaseddta:pydebiaseddta/data/dta/dta_sample_data"

CHECKSUMS = {
    "train": "85b00b614148a918aefef5858bfad8e984529c2ac35b1d391062ff9ec9cd33c6",
    "val": "6c9c4160eff1a623d195505c82245dbcfca41d0d9ebf66997ad70a3e64df5295",
    "test": "5e682e06c6ec3076efca55ec4ce3754039e45c76381ea76d1ea9644ee00e3b71",
}
"""SHA-256 of the table of each split."""

DATASET = DatasetSpec(
    key=KEY,
    title="Kinase affinity sample (KIBA scores)",
    summary="5,000 ligand-kinase pairs with KIBA scores, split 3:1:1 by the source; ships with pydebiaseddta.",
    publication=(
        "Özçelik R, Bağ A, Atıl B, Barsbey M, Özgür A, Özkırımlı E. A framework for improving the generalizability of "
        "drug-target affinity prediction models. Journal of Computational Biology 30(11), 1226-1239 (2023)."
    ),
    doi="10.1089/cmb.2023.0208",
    origin=(
        "Tang J et al. Making sense of large-scale kinase inhibitor bioactivity data sets. "
        "Journal of Chemical Information and Modeling 54, 735 (2014), doi 10.1021/ci400709d, told by the values"
    ),
    licence="MIT, as files of pydebiaseddta",
    organism="Homo sapiens",
    modality="drug-target affinity",
    n_units=5000,
    content_hash="6ab55346c29d1eddf6883d11abc956b1aed546b4ca23372427328ef236621a03",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1089/cmb.2023.0208", "https://doi.org/10.1021/ci400709d"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.ozcelik_2023_journal_of_computational_biology.affinity_sample.recipe:build",
    sources=tuple(
        Source(name=f"{split}.csv", package=f"{FOLDER}/{split}.csv", sha256=digest, licence="MIT")
        for split, digest in CHECKSUMS.items()
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("pydebiaseddta",),
    install="pip install --no-deps pydebiaseddta",
)
