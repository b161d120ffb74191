"""Card and recipe of ``argon1000_energies``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "merz_2022_journal_of_open_source_software/argon1000_energies@1.0.0"

AUDIT = AuditPlan(identity=["energy"], public_truth="nothing is predicted from these data, and all values are public")

FOLDER = "physical_validation:physical_validation/tests/test_system_database/Argon1000"

CHECKSUMS = {
    "0.000125": "94ffcc13d36344aabf1cec24c19318d73a6a62866679842c4e887fbabe8dcc6a",
    "0.00025": "6a967bb5bc95d00a4552fcffeecdf92bc6e5163c79c1a46156d2f7f679c9fc03",
    "0.0005": "c4dbc6b99964c23289c98a15cbf8dc1176318f71ec96b8c077ba9b1c4ecf27e0",
    "0.001": "83caa62c8bcf7d210352740594cd140302f80cc21915cdff5c1e2f6499d2976f",
    "0.002": "c15067ec740bc917858011c5278430dbf5cf0486a91992333f99bc90a8688adb",
    "0.004": "343a82ad46e5ebe8b53fe3bc9322be8115baa7890e79290ef448867dbc241cda",
}
"""SHA-256 of the series at each time step, in picoseconds."""

DATASET = DatasetSpec(
    key=KEY,
    title="Argon 1000, energies at six time steps",
    summary="Conserved energy of 1,000 argon atoms (NVE) at six time steps, 1,001 values each; a reference for drift.",
    publication=(
        "Merz PT et al. physical_validation: A Python package to assess the physical validity of molecular simulation "
        "results. Journal of Open Source Software 7(69), 3981 (2022)."
    ),
    doi="10.21105/joss.03981",
    licence="MIT, as files of physical_validation",
    modality="molecular dynamics",
    n_units=6,
    content_hash="256da242480feba62748a08963a130435e9159f9c84c319fe1d79d0f96d38382",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.21105/joss.03981", "https://doi.org/10.1371/journal.pone.0202764"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.merz_2022_journal_of_open_source_software.argon1000_energies.recipe:build",
    sources=tuple(
        Source(name=f"dt_{step}.dat", package=f"{FOLDER}/{step}/constant_of_motion.dat", sha256=digest, licence="MIT")
        for step, digest in CHECKSUMS.items()
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("physical-validation",),
)
