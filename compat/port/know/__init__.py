"""The types of a program's names, expressions and tables, from its code and from runs."""
