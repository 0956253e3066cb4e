"""Logistic regression."""

from __future__ import annotations

from compat.nn.criterions import logistic as torch7
from compat.nn.interchange.criterions.classification import SoftMarginCriterion
from compat.nn.interchange.to_torch import converts_simply

converts_simply(torch7.BinaryLogisticRegression, lambda c: SoftMarginCriterion(c.sizeAverage))
