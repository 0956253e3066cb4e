"""The look of drafts: rules that make Python as people write it of Python that does the same.

Each rule is a function that looks at a whole file (``source.py``) and gives what to change. It
changes only what it can prove from the file alone; what takes knowledge of types is for ``write``.
"""
