"""A program as a whole: its files, where they go, and what is in the folder that is written."""
