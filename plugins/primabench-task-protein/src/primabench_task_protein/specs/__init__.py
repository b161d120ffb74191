"""What this distribution declares: frozen values that import no array library."""
