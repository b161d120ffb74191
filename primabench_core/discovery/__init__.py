"""Entry points become names, names become specs, specs name functions; each level costs more than the one before.

- :mod:`.names`: entry-point metadata alone, no plugin code runs;
- :mod:`.registry`: loads the spec that is asked for, in isolation, and resolves the functions it names;
- :mod:`.metrics`: gives a metric and its parameters their one identity;
- :mod:`.hooks`: moments that a plugin may take part in;
- :mod:`.listing`, :mod:`.extensions`, :mod:`.doctor`: what the facade and the command show of it.
"""
