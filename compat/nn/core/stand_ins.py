"""Gone when all have moved to ``files``."""

from compat.nn.core.files import keep, keep_in, stand_in  # noqa: F401
