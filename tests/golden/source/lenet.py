"""The net of lenet.t7 as PyTorch source."""

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

WEIGHTS = __file__.removesuffix(".py") + ".safetensors"


class Lenet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, 5),
            nn.Tanh(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.Tanh(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Linear(400, 120),
            nn.Tanh(),
            nn.Linear(120, 84),
            nn.Tanh(),
            nn.Linear(84, 10),
            nn.LogSoftmax(dim=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """From N x 1 x 32 x 32 to N x 10."""
        return self.classifier(self.features(x).flatten(1))


def load() -> Lenet:
    net, tensors = Lenet(), load_file(WEIGHTS)
    net.load_state_dict({name: tensors[name] for name in net.state_dict()})
    return net.eval()


if __name__ == "__main__":
    tensors = load_file(WEIGHTS)
    output = load()(tensors["example.input"])
    torch.testing.assert_close(output, tensors["example.output"], rtol=1e-4, atol=2e-05)
