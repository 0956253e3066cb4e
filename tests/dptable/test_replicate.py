import copy

import pytest
import torch
from support.tensors import on
from torch import nn

import dptable
from compat import cutorch
from dptable.replicate import replicate

pytestmark = pytest.mark.devices(4)


class Tied(nn.Module):
    """One weight in two modules, one module in two parents, a buffer, and an unused parameter."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)
        self.second.weight = self.first.weight
        self.left = nn.Sequential(self.first, nn.Tanh())
        self.right = nn.Sequential(self.first, nn.BatchNorm1d(3))
        self.unused = nn.Parameter(torch.ones(2))
        self.frozen = nn.Parameter(torch.ones(3), requires_grad=False)
        self.none = None

    def forward(self, x):
        return self.second(self.left(x) + self.right(x)) * self.frozen


def at(replica, x):
    """The tensor where a replica is."""
    return x.to(next(t.device for t in tensors_of(replica)))


def tensors_of(replica):
    for module in replica.modules():
        yield from (t for t in vars(module).values() if isinstance(t, torch.Tensor))
        yield from module.parameters(recurse=False)


def backward(network, replicas, x):
    chunks = x.tensor_split(len(replicas))
    losses = [
        replica(at(replica, chunk)).square().sum()
        for replica, chunk in zip(replicas, chunks, strict=True)
    ]
    sum(loss.to(losses[0].device) for loss in losses).backward()
    return {name: p.grad for name, p in network.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_gradients_are_those_of_the_parts_summed(n):
    network = Tied().double()
    x = torch.randn(6, 3, dtype=torch.float64)
    expected = copy.deepcopy(network)
    wanted = backward(expected, [expected] * n, x)
    got = backward(network, replicate(network, range(1, n + 1)), x)
    for name, gradient in wanted.items():
        torch.testing.assert_close(got[name], gradient)
    assert "frozen" not in got


def test_the_package_has_it_too():
    assert dptable.replicate is replicate


def test_sharing_is_kept_in_every_replica():
    network = Tied()
    for replica in replicate(network, [1, 2]):
        assert replica.first.weight is replica.second.weight
        assert replica.left[0] is replica.right[0] is replica.first
        assert replica.first is not network.first
        assert replica.none is None


def test_the_first_replica_has_the_networks_own_tensors():
    network = Tied().to(cutorch.device(1))
    first, second = replicate(network, [1, 2])
    assert first.first.weight.data_ptr() == network.first.weight.data_ptr()
    assert second.first.weight.data_ptr() != network.first.weight.data_ptr()
    assert first.right[1].running_mean is network.right[1].running_mean
    first(on(1, torch.randn(4, 3)))
    assert network.right[1].num_batches_tracked == 1
    assert second.right[1].num_batches_tracked == 0


def test_replicas_have_no_parameters_of_their_own():
    network = Tied()
    assert [list(replica.parameters()) for replica in replicate(network, [1, 2])] == [[], []]
    assert replicate(network, []) == []


def test_detached_replicas_keep_gradients_to_themselves():
    network = Tied()
    replicas = replicate(network, [1, 2], detach=True)
    assert not any(r(on(i, torch.randn(4, 3))).requires_grad for i, r in enumerate(replicas, 1))


def test_a_gradient_of_the_gradient_flows_back():
    network = nn.Linear(2, 1).double()
    x = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)

    def penalty(replicas):
        chunks = x.tensor_split(len(replicas))
        parts = [r(at(r, c)).tanh() for r, c in zip(replicas, chunks, strict=True)]
        outputs = torch.cat([part.to(x.device) for part in parts])
        (gradient,) = torch.autograd.grad(outputs.sum(), network.weight, create_graph=True)
        return torch.autograd.grad(gradient.square().sum(), network.weight)[0]

    torch.testing.assert_close(penalty(replicate(network, [1, 2])), penalty([network]))


# Simulated devices have no sparse tensors.
@pytest.mark.cpus(2)
def test_sparse_gradients():
    network = nn.Embedding(5, 2, sparse=True)
    replicas = replicate(network, [1, 2])
    sum(replica(torch.tensor([1, 1, i])).sum() for i, replica in enumerate(replicas)).backward()
    assert network.weight.grad.is_sparse
    assert network.weight.grad.to_dense()[:, 0].tolist() == [1, 5, 0, 0, 0]


def test_what_is_not_there_is_not_there_in_replicas():
    network = nn.Sequential(nn.Linear(3, 2, bias=False), nn.BatchNorm1d(2, affine=False))
    network.register_module("none", None)
    for i, replica in enumerate(replicate(network, [1, 2]), 1):
        assert replica[0].bias is None and replica[1].weight is None and replica.none is None
        assert replica[0](on(i, torch.ones(4, 3))).shape == (4, 2)


def test_recurrent_layers():
    network = nn.LSTM(3, 4)
    x = torch.randn(5, 2, 3)
    for i, replica in enumerate(replicate(network, [1, 2]), 1):
        torch.testing.assert_close(replica(on(i, x))[0], network(x)[0])


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
def test_what_cannot_be_replicated():
    with pytest.raises(TypeError, match=r"network is a list; a torch\.nn\.Module"):
        replicate([], [1])
    with pytest.raises(ValueError, match="scripted modules"):
        replicate(nn.Sequential(torch.jit.script(nn.Linear(1, 1))), [1])
    with pytest.raises(ValueError, match="one that has run once"):
        replicate(nn.LazyLinear(3), [1])
    with pytest.raises(ValueError, match="GPU ids count from 1"):
        replicate(nn.Linear(1, 1), [0])
    with pytest.raises(
        ValueError, match=f"tensors is on meta; the first device, {cutorch.device(1)}"
    ):
        replicate(nn.Linear(1, 1, device="meta"), [1])


@pytest.mark.cuda
@pytest.mark.parametrize("source", ["cpu", "cuda:0"])
def test_on_one_gpu_twice(source):
    cutorch.configure(["cuda:0", "cuda:0"])
    network = Tied().double().to(source)
    x = torch.randn(6, 3, dtype=torch.float64)
    expected = copy.deepcopy(network)
    wanted = backward(expected, [expected] * 2, x.to(source))
    got = backward(network, replicate(network, [1, 2]), x.cuda())
    for name, gradient in wanted.items():
        assert got[name].device == torch.device(source)
        torch.testing.assert_close(got[name], gradient)
