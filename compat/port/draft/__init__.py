"""A file of Lua as a file of Python."""

from compat.port.draft.draft import Draft
from compat.port.draft.writer import Report
