"""What this distribution declares: frozen values that import no array library."""

SYNTHETIC_NOTES = """\
**Synthetic: nothing was measured.** Made with integers alone, so that every machine makes the same bytes. The truth can
be made again by anybody.
"""
"""What the cards of all synthetic datasets say."""

CURATOR = "The PrimaBench maintainers"
FIRST_VERSION = "2026-11 The PrimaBench maintainers: first version"
