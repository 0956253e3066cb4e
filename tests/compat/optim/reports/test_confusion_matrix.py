"""ConfusionMatrix against its recordings."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.golden_data import load, load_cases
from support.paths import GOLDEN

from compat import optim, t7


def assert_scores(matrix: optim.ConfusionMatrix, expected: dict[str, Any]) -> None:
    assert str(matrix) == expected["string"]
    assert torch.equal(matrix.mat, expected["mat"])
    for field in ("valids", "unionvalids"):
        torch.testing.assert_close(getattr(matrix, field), expected[field], equal_nan=True)
    for field in ("totalValid", "averageValid", "averageUnionValid"):
        assert getattr(matrix, field) == pytest.approx(expected[field], rel=1e-14, nan_ok=True)


def apply(matrix: optim.ConfusionMatrix, op: str, arguments: list) -> None:
    if op == "set":
        t, p, value = arguments
        matrix.mat[t - 1, p - 1] = value
    else:
        getattr(matrix, op)(*arguments)


@pytest.mark.parametrize(
    "case", load_cases("optim", "ConfusionMatrix"), ids=lambda case: case["name"]
)
def test_recording(case: dict[str, Any]) -> None:
    matrix = optim.ConfusionMatrix(*case["ctor"])
    for op in case["ops"]:
        if op["ok"] or case["name"] == "all_missing":
            # Torch7 fails where every target is missing; here nothing is counted.
            apply(matrix, op["op"], op["args"] or [])
        else:
            with pytest.raises(ValueError, match=r"is accepted|are accepted"):
                apply(matrix, op["op"], op["args"] or [])
        assert torch.equal(matrix.mat, op["mat"])
        if "snapshot" in op:
            assert_scores(matrix, op["snapshot"])
    assert_scores(matrix, case["final"])
    if "farFrr" in case:
        names = ("classFrrs", "classFars", "frrs", "fars")
        for name, rates in zip(names, matrix.farFrr(), strict=True):
            torch.testing.assert_close(rates, case["farFrr"][name], equal_nan=True)


def test_files_of_torch7_and_back() -> None:
    for matrix in (
        load("optim", "ConfusionMatrix")["object"],
        t7.load(GOLDEN / "format" / "class_confusion_matrix.t7"),
    ):
        assert isinstance(matrix, optim.ConfusionMatrix)
        text = str(matrix)
        again = t7.loads(t7.dumps(matrix))
        assert str(again) == text
        again.add(1, 1)
        assert again.mat[0, 0] == matrix.mat[0, 0] + 1
        fields = t7.loads(t7.dumps(matrix), raw=True).fields
        buffers = {"_mat_flat", "_target", "_prediction", "_max", "_pred_idx", "_targ_idx"}
        assert buffers <= set(fields)


@given(st.data())
def test_a_batch_is_the_sum_of_its_samples(data: st.DataObject) -> None:
    classes = data.draw(st.integers(1, 5))
    size = data.draw(st.integers(0, 20))
    scores = torch.randn(size, classes, generator=torch.Generator().manual_seed(size))
    drawn = data.draw(st.lists(st.integers(-1, classes), min_size=size, max_size=size))
    targets = torch.tensor(drawn, dtype=torch.int64)
    batch, single = optim.ConfusionMatrix(classes), optim.ConfusionMatrix(classes)
    if classes == 1:
        scores = torch.ones(size)
    batch.batchAdd(scores, targets)
    for row, target in zip(scores, drawn, strict=True):
        single.add(row, target)
    assert torch.equal(batch.mat, single.mat)
    assert batch.mat.sum() == (targets > 0).sum()


def test_zero_forgets() -> None:
    matrix = optim.ConfusionMatrix(["a", "b"])
    matrix.add(1, 1)
    matrix.updateValids()
    assert matrix.totalValid == 1
    matrix.zero()
    assert matrix.mat.sum() == matrix.valids.sum() == matrix.totalValid == 0


@pytest.mark.parametrize("target", [1, 2])
@pytest.mark.parametrize("prediction", [0, 3])
def test_predictions_outside_the_classes_are_refused(prediction: int, target: int) -> None:
    matrix = optim.ConfusionMatrix(2)
    with pytest.raises(ValueError, match=r"predictions has classes from \d to \d; 1 to 2 are"):
        matrix.add(prediction, target)
    assert matrix.mat.sum() == 0


@pytest.mark.parametrize("nclasses", [0, 2.5, "ab", [], None])
def test_a_matrix_has_classes(nclasses: Any) -> None:
    with pytest.raises(ValueError, match=r"nclasses is .*; a number of classes from 1 on"):
        optim.ConfusionMatrix(nclasses)


def test_classes_may_be_in_lists_and_arrays() -> None:
    matrix = optim.ConfusionMatrix(2)
    matrix.batchAdd([1, 2], np.array([1, 1]))
    assert matrix.mat.tolist() == [[1, 1], [0, 0]]


def test_batches_of_unequal_size_are_refused() -> None:
    with pytest.raises(ValueError, match="predictions has 2 entries, targets has 3; as many"):
        optim.ConfusionMatrix(2).batchAdd(torch.ones(2), torch.ones(3))


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize("sortmode", ["score", "occurrence"])
def test_render(sortmode: str, tmp_path: Path) -> None:
    matrix = optim.ConfusionMatrix(["cat", "dog", "fish"])
    matrix.batchAdd(torch.tensor([1, 1, 2, 3]), torch.tensor([1, 1, 2, 2]))
    file = tmp_path / "matrix.png"
    picture = matrix.render(sortmode, block=20, legendwidth=150, filename=file)
    assert picture.shape == (3, 60, 210)
    assert 0 <= picture.min() < picture.max() <= 1
    assert file.read_bytes().startswith(b"\x89PNG")
    # The corner belongs to the first class, two of two times right; below it the one never wrong.
    assert picture[:, 2, 2].min() > 0.9
    assert picture[:, 2, 22].max() < 0.1


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize(("sortmode", "corner"), [("score", 1), ("occurrence", 0)])
def test_render_sorts_the_classes(sortmode: str, corner: float) -> None:
    matrix = optim.ConfusionMatrix(["often", "right"])
    matrix.batchAdd(torch.tensor([2, 2, 2, 2]), torch.tensor([1, 1, 1, 2]))
    picture = matrix.render(sortmode, block=20)
    torch.testing.assert_close(picture[:, 2, 2], torch.full((3,), float(corner)))


def test_render_refuses_other_orders() -> None:
    with pytest.raises(ValueError, match="sortmode is 'name'; 'score' or 'occurrence' is"):
        optim.ConfusionMatrix(2).render("name")


def test_no_sample_has_no_score() -> None:
    matrix = optim.ConfusionMatrix(2)
    matrix.updateValids()
    assert math.isnan(matrix.averageValid) and math.isnan(matrix.totalValid)
