"""A small complete plugin, installed by the tests of discovery."""
