"""What a curator looks at before trusting the source; run as a module, arguments are ``NAME=FILE``."""

from primabench_recipes.curation.exploring import main
from primabench_recipes.ryu_2023_conference_on_computer_vision_and_pattern_recognition.ocelot.card import AUDIT, RECIPE

if __name__ == "__main__":
    main(RECIPE, AUDIT)
