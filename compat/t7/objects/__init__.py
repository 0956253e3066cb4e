"""Numbers and tables to Python objects, and back: reader, writer, registry of classes."""
