"""Declarations of this plugin: frozen values, importable without any array library."""
