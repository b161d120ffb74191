"""Card and recipe of ``davis``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, github, notes_of

KEY = "ozturk_2018_bioinformatics/davis@1.0.0"
REPOSITORY, COMMIT = "hkmztrk/DeepDTA", "a546a8433a6822e958f36171c4356ad6f414d623"
LICENCE = "none stated; facts of the supplement of Davis et al. (2011), not to be passed on"

AUDIT = AuditPlan(
    identity=["smiles", "sequence"],
    label="pkd",
    groups=["drug", "target", "sequence"],
    near="sequence",
    k=5,
    smiles="smiles",
    public_truth="it stands in the repository and in the publication's supplement",
)

FILES = {
    "ligands.txt": "ligands_can.txt",
    "proteins.txt": "proteins.txt",
    "affinities.txt": "drug-target_interaction_affinities_Kd__Davis_et_al.2011v1.txt",
    **{
        f"{part}_fold_setting{n}.txt": f"folds/{part}_fold_setting{n}.txt"
        for n in (1, 2, 3)
        for part in ("test", "train")
    },
}
"""Name of a source -> its path below ``data/davis``."""

DATASET = DatasetSpec(
    key=KEY,
    title="Davis kinase affinities",
    summary="Dissociation constants of 68 inhibitors against 442 kinases, with the folds of DeepDTA.",
    publication=(
        "Öztürk H, Özgür A, Ozkirimli E. DeepDTA: deep drug-target binding affinity prediction. "
        "Bioinformatics 34(17), i821-i829 (2018)."
    ),
    doi="10.1093/bioinformatics/bty593",
    origin=(
        "Davis MI et al. Comprehensive analysis of kinase inhibitor selectivity. Nature Biotechnology 29, 1046 (2011), "
        "doi 10.1038/nbt.1990"
    ),
    licence=LICENCE,
    organism="Homo sapiens",
    modality="drug-target affinity",
    n_units=30056,
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1093/bioinformatics/bty593", "https://doi.org/10.1038/nbt.1990"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.ozturk_2018_bioinformatics.davis.recipe:build",
    sources=tuple(
        Source(name=name, url=github(REPOSITORY, COMMIT, f"data/davis/{path}"), licence=LICENCE, redistribute=False)
        for name, path in FILES.items()
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
)
