"""What each expression of a program may be, from its constants, constructors and calls.

Variables, fields and functions gather the types of all that is put into them, again and again until
nothing is new. What a trace has seen of an expression is believed before that.
"""

from compat.port.inference.files import Class, File
from compat.port.inference.inference import Inference
from compat.port.inference.shapes import (
    counts_up,
    is_name,
    is_open,
    is_self,
    may_end,
    required,
    scripts,
    tested,
    tried,
)
