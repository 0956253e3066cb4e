"""Training runs: their options, the trainer and the session around it, for scripts too."""

from dptable.training.options import Options
from dptable.training.session import Session, new_folder
from dptable.training.stopping import INTERRUPTED, stop_requests
from dptable.training.trainer import Tally, Trainer, replicated

__all__ = [
    "INTERRUPTED",
    "Options",
    "Session",
    "Tally",
    "Trainer",
    "new_folder",
    "replicated",
    "stop_requests",
]
