"""Package loadcaffe of Torch7: nets of Caffe.

::

    from compat import loadcaffe

    net = loadcaffe.load("deploy.prototxt", "VGG_ILSVRC_19_layers.caffemodel", "nn")

The files are read by protobuf, the extra ``dptable[caffe]``.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from compat import nn
from compat.checks import check_choice
from compat.loadcaffe.layers import BACKENDS, build
from compat.loadcaffe.schema import Net

__all__ = ["load", "load_binary"]


def load_binary(binary: str | os.PathLike[str]) -> Net:
    """Read a ``.caffemodel``: Caffe's description of the net, with its weights.

    Raises:
        OSError: the file cannot be read.
        google.protobuf.message.DecodeError: it is no message of Caffe.
    """
    with open(binary, "rb") as file:
        return Net.FromString(file.read())


def load(
    prototxt: str | os.PathLike[str],
    binary: str | os.PathLike[str] | Net,
    backend: str = "nn",
    say: Callable[[str], object] = print,
) -> nn.Sequential:
    """Build the net of a ``.caffemodel`` (``loadcaffe.load``).

    Args:
        prototxt: not read, as in Torch7: the binary file says what the net is.
        binary: the file, or what ``load_binary`` gave for it.
        backend: ``"nn"``, or ``"cudnn"``, whose net is moved to the current device.
        say: gets a line for each layer that has weights, or that is left out.

    Returns:
        The layers in the file's order, one after the other, each with Caffe's name in its field
        ``name``. Layers that only Caffe needs (data, accuracy) are left out. So is, where the file
        has layers of the newer kind, the ``Softmax``, with what follows it.

    Raises:
        ValueError: the backend is another, or weights do not have the layer's size.
        NotImplementedError: a layer has no class here (stochastic pooling).

    Differs from Torch7: a layer without bias in the file gets one of 0; Torch7 crashes.
    """
    check_choice(backend, "backend", BACKENDS)
    net = build(binary if isinstance(binary, Net) else load_binary(binary), backend, say)
    return net.cuda() if backend == "cudnn" else net
