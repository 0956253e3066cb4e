"""Write digits.t7 from the copy of the data that scikit-learn ships: see README.txt."""

from __future__ import annotations

import torch
from sklearn.datasets import load_digits

from compat import t7
from dptable.data import DIGITS


def main() -> None:
    """Write the file."""
    digits = load_digits()
    data = torch.from_numpy(digits.images).to(torch.uint8).unsqueeze(1)
    labels = torch.from_numpy(digits.target).to(torch.uint8) + 1
    t7.save(DIGITS, {"data": data, "labels": labels})


if __name__ == "__main__":
    main()
