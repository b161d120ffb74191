"""What a curator looks at before trusting the source; run as a module, arguments are ``NAME=FILE``."""

from primabench_recipes.curation.exploring import main
from primabench_recipes.peidli_2024_nature_methods.replogle_2022_k562_essential.card import AUDIT, RECIPE

if __name__ == "__main__":
    main(RECIPE, AUDIT)
