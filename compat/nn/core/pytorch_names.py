"""Hints for users who type PyTorch's name of a class, field or method."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn

import torch

_AUTOGRAD = "net.as_autograd(), a torch.nn.Module over the same parameters, has it"
_FREEZE = "m.gradWeight = None freezes a parameter; m.accGradParameters = lambda *arg: None a layer"
_HOOK = "nothing of a net is recorded; set a method of the object: m.updateOutput = …"
_TYPE = "use type('torch.FloatTensor'), float(), double() or cuda()"

# Methods of torch.nn.Module that nets and criterions lack.
METHODS = {
    "add_module": "use add(module)",
    "append": "use add(module)",
    "device": "a parameter has it: net.parameters()[0][0].device; cuda() and float() move a net",
    "grad": "the gradients are gradWeight and gradBias, or the second list of parameters()",
    "layers": "the list is net.modules; net.get(1) is the first",
    "load": "use t7.load(path)",
    "save": "use t7.save(path, net)",
    "summary": "print a net: print(net); dptable inspect shows a file",
    "bfloat16": _TYPE,
    "buffers": _AUTOGRAD,
    "eval": "use evaluate()",
    "load_state_dict": _AUTOGRAD,
    "named_buffers": _AUTOGRAD,
    "named_children": "use children(), or the list modules",
    "named_parameters": _AUTOGRAD,
    "pop": "use remove(index), which counts from 1",
    "register_backward_hook": _HOOK,
    "register_buffer": "set the field: m.name = tensor",
    "register_forward_hook": _HOOK,
    "register_forward_pre_hook": _HOOK,
    "register_full_backward_hook": _HOOK,
    "register_module": "use add(module)",
    "register_parameter": "declare it in the class: name = nn.Parameter()",
    "requires_grad": _FREEZE,
    "requires_grad_": _FREEZE,
    "state_dict": "net.to_torch().state_dict() has PyTorch's names; t7.save writes the net",
    "to": _TYPE,
    "to_empty": _TYPE,
    "zero_grad": "use zeroGradParameters()",
    "extra_repr": "define __repr__",
    "in_channels": "m.weight.size() has it",
    "in_features": "m.weight.size(1) has it",
    "is_cuda": "a parameter has it: net.parameters()[0][0].is_cuda",
    "module": "a container's list is modules; net.get(1) is the first",
    "named_modules": "use listModules(), or net.apply(function)",
    "num_features": "m.weight.size() has it",
    "out_channels": "m.weight.size() has it",
    "out_features": "m.weight.size(0) has it",
    "share_memory": "threads share a net; net.share(other, 'weight', 'bias') ties two nets",
}

# The same of its losses.
OF_CRITERIONS = {
    **dict.fromkeys(("to", "to_empty", "bfloat16"), _TYPE),
    **dict.fromkeys(("eval", "train", "training", "evaluate"), "a criterion has no modes"),
    **dict.fromkeys(
        ("parameters", "state_dict", "zero_grad", "zeroGradParameters"),
        "a criterion has no parameters; net.zeroGradParameters() zeroes gradients",
    ),
    "reduction": "sizeAverage is True for the mean, False for the sum",
    "item": "the loss is a number: criterion.output",
    "load": "use t7.load(path)",
    "save": "use t7.save(path, criterion)",
}

# Names of torch.nn that are no modules, or whose docstrings here name another class.
_OTHERS = {
    "Flatten": "use nn.View(n).setNumInputDims(3), where n is the elements of a sample",
    "ModuleDict": "a module's list modules holds its children",
    "ParameterList": "declare each in the class: name = nn.Parameter()",
    "init": "use torch.nn.init.kaiming_normal_(m.weight), or reset(stdv) of a module",
    "parallel": "import dptable makes nn.DataParallelTable",
    "DataParallel": "import dptable makes nn.DataParallelTable",
}


def class_hint(name: str, classes: Mapping[str, Any]) -> str | None:
    """Return what a class of ``torch.nn`` is called in ``compat.nn``, or None.

    The answer comes from the docstrings, whose line ``PyTorch: …`` names the counterpart.

    Args:
        name: the name that was not found in ``compat.nn``.
        classes: the names and classes of ``compat.nn``.
    """
    if name in _OTHERS:
        return _OTHERS[name]
    spelt = {each.lower(): each for each in dir(torch.nn)}
    name = spelt.get(name.lower(), name)
    counterpart = getattr(torch.nn, name, None)
    if not isinstance(counterpart, type) or not issubclass(counterpart, torch.nn.Module):
        return None
    named = re.compile(rf"^\s*PyTorch: ``torch\.nn\.{name}``", re.M)
    found = [f"nn.{each}" for each, c in classes.items() if named.search(_doc(c))]
    if found:
        return f"PyTorch's {name} is {' or '.join(found)} here"
    return f"a torch.nn.{name}(…) may stand in a net as it is"


def _doc(value: Any) -> str:
    return (value.__doc__ or "") if isinstance(value, type) else ""


class NotIndexed:
    """Explains ``net[0]``, which Torch7 does not have.

    A descriptor that raises AttributeError, so that ``hasattr(net, "__getitem__")`` is False: lupa
    reads fields of an object that has it by index.
    """

    def __get__(self, net: Any, owner: Any = None) -> NoReturn:
        raise AttributeError(
            "a net has no index: net.get(1) is its first module, net.modules the list of all"
        )
