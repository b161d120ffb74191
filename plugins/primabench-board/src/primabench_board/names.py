"""Names of models: what may be one, when two are the same, and when two look the same.

A name is compared after NFKC, case folding and trimming, so that case, width and blanks make no second model. Beside
this key every name has two *looks*, skeletons of UTS 39 taken before and after folding; another name with an equal look
is refused, because a reader could not tell the two apart.
"""

from __future__ import annotations

import unicodedata

from attrs import frozen

from primabench_board.lookalike import skeleton, unseen
from primabench_core.errors import UsageError

LONGEST = 80
"""Most code points of a name."""

RESERVED = ("Task", "Family", "Area", "Metric", "Best", "Mean", "Rank", "Model")
"""Headings of the tables; no model may be called so."""

SUFFIX = "(baseline)"
"""What the page puts behind the name of a baseline; no name may end so."""

_MOST_MARKS = 2


@frozen
class ModelName:
    """A name that was checked.

    Args:
        display: As it is shown: NFC, blanks trimmed and made single.
        key: Equal for spellings of one name.
        look: Skeleton of the name.
        folded_look: Skeleton of the name without case.
    """

    display: str
    key: str
    look: str
    folded_look: str

    def resembles(self, other: ModelName) -> bool:
        """Whether it looks like another name without being it."""
        looks_alike = self.look == other.look or self.folded_look == other.folded_look
        return self.key != other.key and looks_alike


def model_name(text: str) -> ModelName:
    """Check a name.

    Args:
        text: As somebody typed it.

    Returns:
        The name with what it is compared by.

    Raises:
        UsageError: Empty, too long, with letters that draw nothing, reserved (or looking so), or ending like a
            baseline. All faults at once.

    Example:
        >>> model_name("  My   Model ").display
        'My Model'
        >>> model_name("MY MODEL").key == model_name("my model").key
        True
    """
    faults = name_faults(text)
    if faults:
        raise UsageError(f"The name {text!a} cannot be taken: {'; '.join(faults)}.", remedy="choose another name")
    return _made(text)


def _made(text: str) -> ModelName:
    compatible = _single(unicodedata.normalize("NFKC", text))
    look = skeleton(_folded(skeleton(compatible)))
    key = _folded(compatible)
    return ModelName(_single(unicodedata.normalize("NFC", text)), key, look, skeleton(key))


def _single(text: str) -> str:
    return " ".join(text.split())


def _folded(text: str) -> str:
    """Case folded; folding may undo NFKC, hence once more."""
    return _single(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()))


def name_faults(text: str) -> list[str]:
    """Everything that speaks against a name; empty where nothing does."""
    faults = []
    hidden = unseen(text)
    if hidden:
        shown = ", ".join(hidden[:5]) + (", …" if len(hidden) > 5 else "")
        faults.append(f"it has characters that draw nothing or turn the text: {shown}")
        text = "".join(c for c in text if not unseen(c))
    made = _made(text)
    if not made.key:
        return [*faults, "it is empty"]
    if len(made.display) > LONGEST:
        faults.append(f"it has {len(made.display)} characters, at most {LONGEST} are allowed")
    if _most_marks(made.display) > _MOST_MARKS:
        faults.append(f"it stacks more than {_MOST_MARKS} marks on a letter")
    for word in RESERVED:
        other = _made(word)
        if made.key == other.key:
            faults.append(f"{word} is a heading of the tables")
        elif made.resembles(other):
            faults.append(f"it looks like {word}, a heading of the tables")
    end = _made(SUFFIX)
    if made.key.endswith(end.key) or made.look.endswith(end.look) or made.folded_look.endswith(end.folded_look):
        faults.append(f"it ends with {SUFFIX}, or looks so, which marks baselines")
    return faults


def _most_marks(text: str) -> int:
    most = run = 0
    for char in unicodedata.normalize("NFD", text):
        run = run + 1 if unicodedata.combining(char) else 0
        most = max(most, run)
    return most
