"""What a curator looks at before trusting the source; run as a module, arguments are ``NAME=FILE``."""

from primabench_recipes.baron_2016_cell_systems.pancreas_human_mouse.card import AUDIT, RECIPE
from primabench_recipes.curation.exploring import main

if __name__ == "__main__":
    main(RECIPE, AUDIT)
