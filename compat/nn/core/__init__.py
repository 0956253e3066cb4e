"""The protocol of all modules: compute, differentiate, copy, convert, save. No layer is here."""
