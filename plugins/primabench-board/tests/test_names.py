"""Names of models."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from primabench_board.lookalike import skeleton, unseen
from primabench_board.names import LONGEST, RESERVED, model_name, name_faults

from primabench_core.errors import UsageError


@pytest.mark.parametrize("word", [*RESERVED, "Mean", "Rank", "Model"])
@pytest.mark.parametrize("spell", [str, str.upper, str.lower, lambda w: f"  {w}\u00a0", lambda w: _wide(w)])
def test_headings_are_refused_however_they_are_spelled(word, spell):
    assert any("heading" in fault for fault in name_faults(spell(word)))


def _wide(word):
    return "".join(chr(ord(c) + 0xFEE0) for c in word)


@pytest.mark.parametrize(
    "name", ["Меаn", "Rаnk", "Τask", "𝓜𝓮𝓪𝓷", "Ｂｅｓｔ", "Mοdel", "Fаmily", "Мetric", "Аrea", "Ｒank"]
)
def test_what_looks_like_a_heading_is_refused(name):
    assert any("heading" in fault for fault in name_faults(name))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "empty"),
        (" \t ", "empty"),
        ("\u3164", "empty"),
        ("\u2800\u2800", "empty"),
        ("a\u202egnp.exe", "U+202E"),
        ("a\u200bb", "U+200B"),
        ("a\u2066b\u2069", "U+2066"),
        ("a\x00b", "U+0000"),
        ("a\x1b[31mb", "U+001B"),
        ("a\nb", "U+000A"),
        ("a\u00adb", "U+00AD"),
        ("a\ufe0fb", "U+FE0F"),
        ("\ud800x", "U+D800"),
        ("\ue000x", "U+E000"),
        ("x" * (LONGEST + 1), "81 characters"),
        ("PCA (baseline)", "baselines"),
        ("PCA (BASELINE) ", "baselines"),
        ("PCA （ｂａｓｅｌｉｎｅ）", "baselines"),
        ("PCA (bаseline)", "baselines"),
        ("PCA(baseline)", "baselines"),
        ("Z" + "\u0301" * 3, "marks"),
    ],
)
def test_what_is_no_name(name, words):
    with pytest.raises(UsageError) as caught:
        model_name(name)
    assert words in str(caught.value)
    assert "\u202e" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_all_faults_are_told_at_once():
    with pytest.raises(UsageError) as caught:
        model_name("x\u200b" * 100 + " (baseline)")
    assert all(word in str(caught.value) for word in ("U+200B", "at most 80", "baselines"))


@pytest.mark.parametrize(
    "name",
    ["scGPT", "Geneformer 104M", "β-VAE", "模型", "नमूना", "=1+1", "<script>alert(1)</script>", "ESM-2 (650M)",
     "x" * LONGEST, "baseline", "Meaning", "Rank 2", "Café", "a.b_c+d", "T5", "Zażółć"],
)  # fmt: skip
def test_what_is_a_name(name):
    assert model_name(name).display == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(
    ("one", "two"), [("scGPT", "ѕсGРТ"), ("GPT-1", "GPT-l"), ("GPT-I", "gpt-1"), ("modern", "modem"), ("O1", "01"),
                     ("a-b", "a‐b"), ("a'b", "a’b"), ("paypal", "раураl")]
)  # fmt: skip
def test_names_that_look_alike(one, two):
    assert model_name(one).resembles(model_name(two))
    assert model_name(two).resembles(model_name(one))


@pytest.mark.parametrize(("one", "two"), [("scGPT", "SCGPT"), ("ﬁne", "fine"), ("Straße", "STRASSE"), ("a  b", "a b")])
def test_spellings_of_one_name(one, two):
    assert model_name(one).key == model_name(two).key
    assert not model_name(one).resembles(model_name(two))


@pytest.mark.parametrize(("one", "two"), [("PCA-16", "PCA-32"), ("alpha", "beta"), ("v1.0", "v1.1"), ("A", "B")])
def test_other_names_are_apart(one, two):
    assert not model_name(one).resembles(model_name(two))
    assert model_name(one).key != model_name(two).key


@given(st.text(max_size=90))
@settings(deadline=None)
def test_any_text_is_judged(text):
    faults = name_faults(text)
    if faults:
        with pytest.raises(UsageError):
            model_name(text)
        return
    name = model_name(text)
    assert name.display
    assert not unseen(name.display)
    again = model_name(name.display)
    assert again == name
    assert model_name(f" {text} ").key == name.key
    if text.isascii():
        assert model_name(text.swapcase()).key == name.key


@given(st.text(max_size=30))
@settings(deadline=None)
def test_a_skeleton_is_its_own(text):
    once = skeleton(text)
    assert skeleton(once) == once
    assert skeleton(unicodedata.normalize("NFC", text)) == once


def test_skeletons_follow_the_table_of_unicode():
    """Pairs written out from confusables.txt of Unicode, independent of the package that carries it."""
    for one, two in (("а", "a"), ("Ι", "l"), ("1", "l"), ("|", "l"), ("0", "O"), ("m", "rn"), ("ß", "β"), ("ﬀ", "ff"),
                     ("æ", "ae"), ("℀", "a/c"), ("ǃ", "!"), ("…", "...")):  # fmt: skip
        assert skeleton(one) == skeleton(two), (one, two)
    for one, two in (("a", "b"), ("l", "i"), ("S", "5"), ("B", "8"), ("u", "v")):
        assert skeleton(one) != skeleton(two), (one, two)
