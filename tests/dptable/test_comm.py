import threading
import warnings
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.tensors import on, one_each

from compat import cutorch
from dptable import comm
from dptable.tensors import inplace_sums as flat
from dptable.tensors import nccl

pytestmark = pytest.mark.devices(8)

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.complex64, torch.bool]


def equal(one, other):
    if one.layout != torch.strided:
        one, other = one.to_dense(), other.to_dense()
    return one.dtype == other.dtype and torch.equal(one.cpu(), other.cpu())


def here(tensor, gpu=1):
    """The tensor on a logical device; a dense one where simulated devices have no others."""
    return on(gpu, tensor.to_dense() if cutorch.device(gpu).type == "sim" else tensor)


def filled(shape, dtype, start=0):
    count = torch.Size(shape).numel()
    return ((torch.arange(count) + start) % 23).to(dtype).reshape(shape)


shapes = st.lists(st.integers(0, 4), max_size=3)
tensors = st.builds(filled, shapes, st.sampled_from(DTYPES), st.integers(0, 9))
strided = tensors | tensors.map(lambda t: t.t() if t.dim() == 2 else t)
any_layout = strided | tensors.map(lambda t: t.to_sparse() if t.dim() else t)
# PyTorch has no sum of sparse booleans.
summable = any_layout.filter(lambda t: t.layout == torch.strided or t.dtype != torch.bool)
devices = st.lists(st.integers(1, 8), min_size=1, max_size=4)


@given(any_layout, devices)
def test_broadcast(tensor, devices):
    tensor = here(tensor, devices[0])
    copies = comm.broadcast(tensor, devices)
    assert copies[0] is tensor
    assert len(copies) == len(devices)
    assert all(equal(copy, tensor) for copy in copies)
    if tensor.layout == torch.strided and tensor.numel():
        assert len({copy.data_ptr() for copy in copies}) == len(devices)


def test_broadcast_out():
    out = torch.empty(3), torch.empty(3, dtype=torch.float64)
    result = comm.broadcast(torch.arange(3.0), out=out)
    assert all(a is b for a, b in zip(result, out, strict=True))
    assert out[1].tolist() == [0, 1, 2]


@given(st.lists(any_layout, max_size=8), devices, st.integers(1, 200))
def test_broadcast_coalesced(tensors, devices, buffer_size):
    tensors = [here(tensor, devices[0]) for tensor in tensors]
    copies = comm.broadcast_coalesced(tensors, devices, buffer_size)
    assert len(copies) == len(devices)
    assert all(a is b for a, b in zip(copies[0], tensors, strict=True))
    for copy in copies[1:]:
        assert all(equal(a, b) for a, b in zip(copy, tensors, strict=True))
        for one, other in zip(copy, tensors, strict=True):
            if one.layout == torch.strided and one.numel():
                assert one.data_ptr() != other.data_ptr()


def test_coalesced_copies_share_one_buffer():
    tensors = [torch.ones(3, 2), torch.ones(5)]
    one, other = comm.broadcast_coalesced(tensors, [1, 2])[1]
    assert one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def test_a_coalesced_copy_may_change_without_tripping_autograd_in_another():
    _, (weight, buffer) = comm.broadcast_coalesced([torch.ones(3), torch.ones(3)], [1, 2])
    weight.requires_grad_()
    loss = (weight * weight).sum()
    buffer.zero_()
    loss.backward()
    assert weight.grad.tolist() == [2, 2, 2]


@given(summable, st.integers(1, 4))
def test_reduce_add(tensor, n):
    tensor = here(tensor)
    inputs = one_each([tensor.clone() for _ in range(n)])
    result = comm.reduce_add(inputs)
    expected = tensor.to_dense() if tensor.is_sparse else tensor
    for _ in range(n - 1):
        expected = expected + (tensor.to_dense() if tensor.is_sparse else tensor)
    assert equal(result.to_dense() if result.is_sparse else result, expected)
    assert (result is inputs[0]) == (n == 1)
    assert all(equal(t, tensor) for t in inputs)


@given(st.lists(summable, max_size=8), st.integers(1, 4), st.integers(1, 200))
def test_reduce_add_coalesced(tensors, n, buffer_size):
    tensors = [here(tensor) for tensor in tensors]
    inputs = [on(i + 1, [tensor.clone() for tensor in tensors]) for i in range(n)]
    results = comm.reduce_add_coalesced(inputs, buffer_size=buffer_size)
    assert len(results) == len(tensors)
    for i, result in enumerate(results):
        assert equal(result, comm.reduce_add([column[i] for column in inputs]))
        assert equal(inputs[0][i], tensors[i])


# Simulated devices have no sparse tensors.
@pytest.mark.cpus(8)
def test_reduce_add_coalesced_mixes_sparse_and_dense():
    dense = torch.eye(3)
    inputs = [[dense.to_sparse(), dense], [dense, dense]]
    first, second = comm.reduce_add_coalesced(inputs)
    assert equal(first, 2 * dense)
    assert equal(second, 2 * dense)
    (sparse,) = comm.reduce_add_coalesced([[dense.to_sparse()], [dense.to_sparse()]])
    assert sparse.is_sparse


@given(st.integers(0, 60), st.integers(1, 9))
def test_slice_sizes(n, k):
    sizes = comm.slice_sizes(n, k)
    assert len(sizes) == k
    assert sum(sizes) == n
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)
    ranges = comm.slice_ranges(n, k)
    assert [stop - start for start, stop in ranges] == sizes
    assert [i for start, stop in ranges for i in range(start, stop)] == list(range(n))


def test_slices_are_torch7s_not_torch_chunks():
    assert comm.slice_sizes(9, 4) == [3, 2, 2, 2]
    with pytest.raises(ValueError, match="n is 3 and k is 0; n from 0 on and k from 1 on"):
        comm.slice_sizes(3, 0)


@given(strided.filter(lambda t: t.dim() > 0), devices, st.data())
def test_gather_undoes_scatter(tensor, devices, data):
    dim = data.draw(st.integers(-tensor.dim(), tensor.dim() - 1))
    tensor = on(1, tensor)
    chunks = comm.scatter(tensor, devices, dim=dim)
    n = tensor.size(dim)
    assert [c.size(dim) for c in chunks] == [
        size for size in comm.slice_sizes(n, len(devices)) if size or not n
    ]
    assert equal(comm.gather(chunks, dim), tensor)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_scatter_by_sizes(sizes):
    tensor = filled([3, sum(sizes)], torch.float32)
    chunks = comm.scatter(tensor, [1] * len(sizes), sizes, 1)
    assert [chunk.size(1) for chunk in chunks] == sizes
    out = one_each([torch.empty(3, size) for size in sizes])
    assert all(a is b for a, b in zip(comm.scatter(tensor, out=out, dim=1), out, strict=True))
    assert all(equal(a, b) for a, b in zip(out, chunks, strict=True))


def test_chunks_on_the_same_device_are_views():
    tensor = on(1, torch.arange(4))
    first, second = comm.scatter(tensor, [1, 1])
    assert first.data_ptr() == tensor.data_ptr()
    assert second.data_ptr() == tensor[2:].data_ptr()


# Simulated devices have no sparse tensors.
@pytest.mark.cpus(8)
def test_sparse_tensors_scatter_and_gather():
    tensor = torch.eye(5).to_sparse()
    chunks = comm.scatter(tensor, [1, 2])
    assert [chunk.shape for chunk in chunks] == [(3, 5), (2, 5)]
    assert equal(comm.gather(chunks), tensor)


def test_gather_joins_scalars():
    assert comm.gather([torch.tensor(1.0), torch.tensor(2.0)]).tolist() == [1, 2]


def test_gather_out():
    out = torch.empty(4, 3)[:, :2]
    assert comm.gather([torch.ones(1, 2), torch.zeros(3, 2)], out=out) is out
    assert out.sum(1).tolist() == [2, 0, 0, 0]


def test_scatter_and_gather_are_differentiable():
    tensor = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    chunks = comm.scatter(tensor, [1, 2, 3])
    comm.gather([chunk * (i + 1) for i, chunk in enumerate(chunks)]).sum().backward()
    assert tensor.grad[:, 0].tolist() == [1, 1, 2, 2, 3]


@given(strided, st.integers(1, 4))
def test_broadcast_into(tensor, n):
    tensors = one_each([tensor, *(torch.empty_like(tensor) for _ in range(n))])
    comm.broadcast_into_(tensors)
    assert all(equal(t, tensor) for t in tensors)


def test_broadcast_into_leaves_shared_memory_alone():
    first, second = torch.ones(4), torch.zeros(4)
    versions = first._version, second._version
    comm.broadcast_into_([first, first.view(4), second, second])
    assert second.tolist() == [1] * 4
    assert (first._version, second._version) == (versions[0], versions[1] + 1)


@given(strided.filter(lambda t: t.dtype != torch.bool), st.integers(1, 4), st.booleans())
def test_reduce_into(tensor, n, zero):
    tensors = one_each([tensor.clone() for _ in range(n)])
    comm.reduce_into_(tensors, zero=zero)
    expected = tensor.clone()
    for _ in range(n - 1):
        expected = expected + tensor
    assert equal(tensors[0], expected)
    assert all(equal(t, torch.zeros_like(tensor) if zero else tensor) for t in tensors[1:])


@pytest.mark.parametrize("zero", [False, True])
def test_reduce_into_tensors_that_are_not_contiguous(zero):
    tensors = [torch.arange(12.0).view(3, 4).t() + i for i in range(3)]
    expected = tensors[0] + tensors[1] + tensors[2]
    tensors = one_each(tensors)
    assert not tensors[0].is_contiguous()
    comm.reduce_into_(tensors, zero=zero)
    assert equal(tensors[0], expected)
    assert all((t == 0).all() == zero for t in tensors[1:])


@pytest.mark.parametrize("zero", [False, True])
def test_threads_share_a_reduction_by_ranges(zero):
    # Several blocks per range, and a number of elements that nothing divides.
    n = 9 * flat._BLOCK_BYTES // 4 + 17
    tensors = [torch.randn(n) for _ in range(3)]
    expected = tensors[0] + tensors[1] + tensors[2]
    tensors = one_each(tensors)
    threads = [
        threading.Thread(target=comm.reduce_slice_, args=(tensors, *r), kwargs={"zero": zero})
        for r in comm.slice_ranges(n, 4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert equal(tensors[0], expected)
    assert all((t == 0).all() == zero for t in tensors[1:])


def test_the_flat_verbs_work_on_parameters():
    first, second = map(torch.nn.Parameter, one_each([torch.ones(3), torch.ones(3)]))
    comm.reduce_into_([first, second], zero=True)
    comm.broadcast_into_([first, second])
    assert second.tolist() == [2, 2, 2]
    assert second.is_leaf


# They are refused before any of them is on a device.
@pytest.mark.cpus(8)
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: comm.broadcast([1.0], [1]), TypeError, "tensor is a list; a tensor"),
        (
            lambda: comm.broadcast(torch.ones(1)),
            ValueError,
            "devices and out are (None|given); exactly one of them is",
        ),
        (lambda: comm.broadcast(torch.ones(1), []), ValueError, "at least one device"),
        (lambda: comm.broadcast(torch.ones(1), [0]), ValueError, "GPU ids count from 1"),
        (
            lambda: comm.broadcast(torch.ones(1), out=[torch.ones(2)]),
            ValueError,
            r"out\[0\] is \(2,\).*; \(1,\) torch.float32 torch.strided is",
        ),
        (
            lambda: comm.broadcast(torch.empty(1, device="meta"), [1]),
            ValueError,
            "tensor is on meta; the first device, cpu, or the CPU is",
        ),
        (
            lambda: comm.broadcast_coalesced([torch.ones(1), torch.ones(1, device="meta")], [1]),
            ValueError,
            "tensors is on cpu and meta; one device",
        ),
        (
            lambda: comm.broadcast_coalesced([torch.ones(1)], [1], 0),
            ValueError,
            "buffer_size is 0; a size from 1 on is accepted",
        ),
        (lambda: comm.reduce_add([]), ValueError, "inputs is empty; at least one tensor"),
        (lambda: comm.reduce_add([torch.ones(1), 1]), TypeError, "inputs is an int; a tensor"),
        (
            lambda: comm.reduce_add([torch.ones(2), torch.ones(3)]),
            ValueError,
            r"inputs\[1\] is \(3,\)",
        ),
        (
            lambda: comm.reduce_add([torch.ones(2), torch.ones(2).double()]),
            ValueError,
            r"inputs\[1\] is .*float64",
        ),
        (
            lambda: comm.reduce_add([torch.ones(2)], "meta"),
            ValueError,
            "destination is meta:0; the device of one of the inputs, cpu",
        ),
        (
            lambda: comm.reduce_add_coalesced([]),
            ValueError,
            "inputs is empty; at least one sequence",
        ),
        (
            lambda: comm.reduce_add_coalesced([[torch.ones(1)], []]),
            ValueError,
            r"inputs\[1\] has 0 tensors, inputs\[0\] has 1; as many",
        ),
        (
            lambda: comm.reduce_add_coalesced([[torch.ones(1)], [torch.ones(2)]]),
            ValueError,
            r"inputs\[1\]\[0\] is \(2,\)",
        ),
        (lambda: comm.scatter(torch.tensor(1), [1]), ValueError, "one that has dimension 0"),
        (lambda: comm.scatter(torch.ones(3), [1], dim=1), ValueError, "one that has dimension 1"),
        (
            lambda: comm.scatter(torch.ones(3), [1, 2], [1, 1]),
            ValueError,
            "the sizes of chunks are .*; 2 that add up to 3",
        ),
        (
            lambda: comm.scatter(torch.ones(3), [1, 2], [3]),
            ValueError,
            "has 1 entries; one for each of the 2 devices",
        ),
        (
            lambda: comm.scatter(torch.ones(3), chunk_sizes=[3], out=[torch.ones(3)]),
            ValueError,
            "chunk_sizes is .*; with out, whose own sizes count, None",
        ),
        (lambda: comm.gather([]), ValueError, "at least one tensor"),
        (
            lambda: comm.gather([torch.ones(2, 3), torch.ones(2, 4)]),
            ValueError,
            r"tensors\[1\] is \(2, 4\) torch.float32, tensors\[0\] is",
        ),
        (
            lambda: comm.gather([torch.ones(2), torch.ones(2, 1)]),
            ValueError,
            r"tensors\[1\] is \(2, 1\) torch.float32, tensors\[0\] is",
        ),
        (
            lambda: comm.gather([torch.ones(2)], out=torch.ones(3)),
            ValueError,
            r"out has size \(3,\); \(2,\) is",
        ),
        (
            lambda: comm.gather([torch.ones(2)], destination=1, out=torch.ones(2)),
            ValueError,
            "destination is .*; with out, whose own device counts, None",
        ),
        (
            lambda: comm.reduce_into_([torch.ones(2), torch.ones(3)]),
            ValueError,
            r"tensors\[1\] is \(3,\)",
        ),
        (
            lambda: comm.broadcast_into_([torch.ones(2), torch.ones(2).int()]),
            ValueError,
            r"tensors\[1\] is .*int32",
        ),
        (lambda: comm.reduce_into_([]), ValueError, "tensors is empty; at least one tensor"),
        (lambda: comm.broadcast_into_([]), ValueError, "tensors is empty; at least one tensor"),
        (
            lambda: comm.broadcast_into_([torch.ones(2), [1, 1]]),
            TypeError,
            r"tensors\[1\] is a list; a tensor",
        ),
        (
            lambda: comm.reduce_slice_([torch.ones(4), torch.ones(3)], 0, 4),
            ValueError,
            r"tensors\[1\] is \(3,\)",
        ),
        (
            lambda: comm.reduce_slice_([torch.ones(2)], 1, 3),
            ValueError,
            "start is 1 and stop is 3; 0 <= start <= stop <= 2",
        ),
        (
            lambda: comm.reduce_slice_([torch.ones(2, 2)], 0, 1),
            ValueError,
            "tensors have 2 dimensions; flat ones",
        ),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.fixture
def untold(monkeypatch):
    monkeypatch.setattr(nccl, "_told", set())


# What can be carried differs on real GPUs.
@pytest.mark.cpus(8)
@pytest.mark.parametrize(
    "verb",
    [
        lambda one, other: comm.broadcast(one, [1, 2], nccl=True)[1],
        lambda one, other: comm.broadcast_coalesced([one], [1, 2], nccl=True)[1][0],
        lambda one, other: comm.reduce_add([one, other], nccl=True) - other,
        lambda one, other: comm.reduce_add_coalesced([[one], [other]], nccl=True)[0] - other,
    ],
)
def test_falling_back_from_nccl_warns_once_and_copies(verb, untold):
    one, other = torch.arange(4.0), torch.ones(4)
    with pytest.warns(UserWarning, match="NCCL is not used, copies are: not all devices are GPUs"):
        assert torch.equal(verb(one, other), one)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(verb(one, other), one)


@pytest.fixture
def nccl_on_cpu(monkeypatch):
    """NCCL as its documentation has it, on CPU tensors; the value lists what was called."""
    calls = []

    def broadcast(inputs, root=0):
        calls.append("broadcast")
        for tensor in inputs:
            tensor.copy_(inputs[root])

    def reduce(inputs, output=None, root=0):
        calls.append("reduce")
        (inputs[root] if output is None else output).copy_(torch.stack(inputs).sum(0))

    monkeypatch.setattr(nccl, "why_not_nccl", lambda tensors: None)
    monkeypatch.setattr(torch.cuda.nccl, "broadcast", broadcast)
    monkeypatch.setattr(torch.cuda.nccl, "reduce", reduce)
    return calls


# What takes NCCL's place sums on the CPU.
@pytest.mark.cpus(8)
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_nccl_carries_what_it_is_asked_to(nccl_on_cpu, dtype):
    tensors = [filled([3, 2], dtype), filled([4], dtype)]
    assert equal(comm.broadcast(tensors[0], [1, 2], nccl=True)[1], tensors[0])
    copies = comm.broadcast_coalesced(tensors, [1, 2, 3], 8, nccl=True)
    assert all(equal(a, b) for copy in copies for a, b in zip(copy, tensors, strict=True))
    sums = comm.reduce_add_coalesced(copies, nccl=True)
    assert all(equal(a, b * 3) for a, b in zip(sums, tensors, strict=True))
    one, other = (tensors[0].clone() for _ in range(2))
    assert equal(comm.reduce_add([one, other], nccl=True), 2 * tensors[0])
    comm.reduce_into_([one, other], zero=True, nccl=True)
    assert equal(one, 2 * tensors[0])
    assert not other.any()
    comm.broadcast_into_([one, other], nccl=True)
    assert equal(other, one)
    assert nccl_on_cpu == ["broadcast"] * 3 + ["reduce"] * 3 + ["broadcast"]


def test_nccl_is_refused_when_launches_block(monkeypatch):
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    assert "CUDA_LAUNCH_BLOCKING" in comm.why_not_nccl([torch.ones(1)])


def gpu_tensor(index=0, dtype=torch.float32, layout=torch.strided, contiguous=True):
    """What NCCL wants to know of a tensor on a GPU."""
    return SimpleNamespace(
        is_cuda=True,
        device=torch.device("cuda", index),
        dtype=dtype,
        layout=layout,
        is_contiguous=lambda: contiguous,
    )


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ([gpu_tensor(0), gpu_tensor(1)], None),
        ([gpu_tensor(0, torch.complex64), gpu_tensor(1, torch.complex64)], None),
        ([gpu_tensor(0), torch.ones(1)], "not all devices are GPUs"),
        ([gpu_tensor(1), gpu_tensor(1)], "a GPU is listed twice"),
        ([gpu_tensor(0, contiguous=False)], "a tensor is not contiguous"),
        ([gpu_tensor(0, layout=torch.sparse_coo)], "a tensor is not contiguous"),
        ([gpu_tensor(0, torch.bool)], "it does not know torch.bool"),
    ],
)
def test_when_nccl_serves(monkeypatch, tensors, reason):
    monkeypatch.delenv("CUDA_LAUNCH_BLOCKING", raising=False)
    monkeypatch.setattr(torch._C, "_nccl_all_reduce", None, raising=False)
    assert comm.why_not_nccl(tensors) == reason
    monkeypatch.delattr(torch._C, "_nccl_all_reduce")
    assert comm.why_not_nccl([gpu_tensor()]) == "this PyTorch was built without NCCL"


@pytest.mark.cuda
@pytest.mark.cpus(1)
class TestOnOneGpu:
    @pytest.fixture(autouse=True)
    def gpu_twice(self, logical_devices):
        cutorch.configure(["cuda:0", "cuda:0", "cpu"])

    def test_why_not_nccl(self):
        one, other = torch.ones(2, device="cuda"), torch.ones(2, device="cuda")
        assert comm.why_not_nccl([one, other]) == "a GPU is listed twice"
        assert comm.why_not_nccl([one.bool()]) in (
            "it does not know torch.bool",
            "this PyTorch was built without NCCL",
        )

    def test_one_rank_needs_no_nccl(self):
        tensor = torch.arange(4.0, device="cuda")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert comm.broadcast(tensor, [1], nccl=True)[0] is tensor
            comm.broadcast_into_([tensor], nccl=True)
            comm.reduce_into_([tensor], nccl=True)
        assert tensor.tolist() == [0, 1, 2, 3]

    @pytest.mark.parametrize("dtype", sorted(nccl._NCCL_TYPES, key=str))
    def test_nccl_of_one_rank_knows_every_type_that_it_is_given(self, dtype):
        tensor = filled([3, 5], dtype).cuda()
        if comm.why_not_nccl([tensor]) is not None:
            pytest.skip("this PyTorch was built without NCCL")
        # As with several GPUs: in place, and into another tensor.
        result = torch.empty_like(tensor)
        nccl.broadcast([tensor])
        nccl.reduce([tensor], result)
        nccl.reduce([tensor])
        assert equal(result, tensor)
        assert equal(tensor.cpu(), filled([3, 5], dtype))

    @pytest.mark.parametrize("source", ["cuda:0", "cpu"])
    def test_broadcast(self, source):
        tensors = [filled([3, 2], dtype).to(source) for dtype in DTYPES]
        copies = comm.broadcast_coalesced(tensors, [1, 2])
        assert all(t.is_cuda for copy in copies for t in copy)
        assert all(
            equal(a.cpu(), b.cpu()) for copy in copies for a, b in zip(copy, tensors, strict=True)
        )
        assert (copies[0][0] is tensors[0]) == (source == "cuda:0")
        one, other = comm.broadcast(tensors[0], ["cuda:0", "cuda:0"])
        assert one.data_ptr() != other.data_ptr()

    def test_matches_torch(self):
        tensors = [torch.randn(5, 3, device="cuda"), torch.randn(7, device="cuda")]
        ours = comm.reduce_add_coalesced([tensors, tensors], 1)
        theirs = torch.cuda.comm.reduce_add_coalesced([tensors, tensors], 0)
        assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))
        ours = comm.scatter(tensors[0], [1, 2], [2, 3])
        theirs = torch.cuda.comm.scatter(tensors[0], [0, 0], [2, 3])
        assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))
        assert torch.equal(comm.gather(ours, 0, 1), torch.cuda.comm.gather(theirs, 0, 0))

    def test_between_cpu_and_gpu(self):
        parts = [torch.ones(2, device="cuda"), torch.zeros(1)]
        assert comm.gather(parts, destination="cpu").tolist() == [1, 1, 0]
        assert comm.gather(parts, destination=1).is_cuda

    def test_pinned_memory_may_change_at_once(self):
        tensors = [torch.ones(1 << 22, device="cuda"), torch.full((1 << 22,), 2.0).pin_memory()]
        comm.reduce_into_(tensors, zero=True)
        assert (tensors[0] == 3).all()
        comm.broadcast_into_(tensors)
        assert (tensors[1] == 3).all()

    def test_flat_verbs(self):
        tensors = [torch.randn(1 << 16, device="cuda") for _ in range(3)]
        expected = tensors[0] + tensors[1] + tensors[2]
        comm.reduce_into_(tensors, zero=True)
        assert torch.equal(tensors[0], expected)
        assert not tensors[1].any()
        comm.broadcast_into_(tensors)
        assert torch.equal(tensors[2], expected)
