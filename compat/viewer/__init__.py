"""Shows what is in a file or a net, as a page for a browser or a notebook."""

from compat.viewer.limits import Limits
from compat.viewer.page import page, snippet

__all__ = ["Limits", "page", "snippet"]
