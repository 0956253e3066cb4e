"""Facts that follow from the form of single places of a program, before anything is inferred."""
