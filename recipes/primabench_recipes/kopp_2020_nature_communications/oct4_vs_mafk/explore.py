"""What a curator looks at before trusting the source; run as a module, arguments are ``NAME=FILE``."""

from primabench_recipes.curation.exploring import main
from primabench_recipes.kopp_2020_nature_communications.oct4_vs_mafk.card import AUDIT, RECIPE

if __name__ == "__main__":
    main(RECIPE, AUDIT)
