"""What a curator looks at before trusting the source; run as a module, arguments are ``NAME=FILE``."""

from primabench_recipes.curation.exploring import main
from primabench_recipes.merz_2022_journal_of_open_source_software.argon1000_energies.card import AUDIT, RECIPE

if __name__ == "__main__":
    main(RECIPE, AUDIT)
