"""Card and recipe of ``bbbp``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, github, notes_of

KEY = "xiong_2020_journal_of_medicinal_chemistry/bbbp@1.0.0"

AUDIT = AuditPlan(
    identity=["smiles"],
    label="label",
    smiles="smiles",
    public_truth="it stands in the repository, in MoleculeNet and in many libraries",
)

DATASET = DatasetSpec(
    key=KEY,
    title="Blood-brain barrier penetration (BBBP)",
    summary="About 2,050 molecules that pass the blood-brain barrier or do not.",
    publication=(
        "Xiong Z et al. Pushing the boundaries of molecular representation for drug discovery with the graph attention "
        "mechanism. Journal of Medicinal Chemistry 63, 8749-8760 (2020)."
    ),
    doi="10.1021/acs.jmedchem.9b00959",
    origin=(
        "Martins IF et al. Journal of Chemical Information and Modeling 52, 1686 (2012), doi 10.1021/ci300124c; "
        "Wu Z et al. MoleculeNet. Chemical Science 9, 513 (2018), doi 10.1039/C7SC02664A"
    ),
    licence="CC0-1.0, as the repository's folder of data declares",
    modality="small molecules",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1021/acs.jmedchem.9b00959", "https://doi.org/10.1039/C7SC02664A"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.xiong_2020_journal_of_medicinal_chemistry.bbbp.recipe:build",
    sources=(
        Source(
            name="BBBP.csv",
            url=github("OpenDrugAI/AttentiveFP", "dda6708342ffe255ded73c459ad64214a4615542", "data/BBBP.csv"),
            licence="CC0-1.0",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
)
