"""What the names, expressions and tables of a program are, from its code and from runs."""
