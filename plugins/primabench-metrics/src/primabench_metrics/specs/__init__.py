"""What each metric declares: frozen values that import without any array library."""
