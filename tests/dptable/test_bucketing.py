import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.distributed import _compute_bucket_assignment_by_size as torchs

from dptable.bucketing import compute_bucket_assignment_by_size as ours

tensors = st.lists(
    st.builds(
        torch.empty,
        st.integers(0, 40),
        dtype=st.sampled_from([torch.float32, torch.float64, torch.float16, torch.int64]),
        device=st.sampled_from(["cpu", "meta"]),
    ),
    min_size=1,
    max_size=25,
)
limits = st.lists(st.integers(0, 400), min_size=1, max_size=4)


@given(tensors, limits)
def test_results_are_pytorchs(tensors, limits):
    assert ours(tensors, limits) == torchs(tensors, limits)


@given(tensors, limits, st.data())
def test_sparse_gradients_have_their_own_bucket(tensors, limits, data):
    n = len(tensors)
    sparse = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    assert ours(tensors, limits, sparse) == torchs(tensors, limits, sparse)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=25), limits, st.data())
def test_indices_in_the_order_of_readiness(sizes, limits, data):
    tensors = [torch.empty(size) for size in sizes]
    n = len(tensors)
    order = data.draw(st.permutations(range(n)))
    sparse = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    assert ours(tensors, limits, sparse, order) == torchs(tensors, limits, sparse, order)


def test_a_small_first_bucket():
    tensors = [torch.empty(100)] * 6
    assert ours(tensors, [400, 800]) == ([[0], [1, 2], [3, 4], [5]], [400, 800, 800, 800])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [1]), "at least one tensor"),
        (([torch.empty(1)], []), "at least one limit"),
        (
            ([torch.empty(1)], [1], [True, False]),
            "expect_sparse_gradient has 2 entries; one for each of the 1",
        ),
        (
            ([torch.empty(1)], [1], [], [0, 1]),
            "tensor_indices has 2 entries; one for each of the 1",
        ),
        (([torch.eye(2).to_sparse()], [1]), "tensors.0. is torch.sparse_coo; a dense tensor"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        ours(*arguments)
