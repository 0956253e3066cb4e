"""Package graphicsmagick of Torch7, on Pillow (the extra ``dptable[image]``).

Lua's class ``Image`` keeps a ``Picture`` and replaces it by changed ones.
"""

from compat.graphicsmagick.picture import Picture

__all__ = ["Picture"]
