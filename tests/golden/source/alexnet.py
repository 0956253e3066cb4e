"""The net of alexnet.t7 as PyTorch source."""

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

WEIGHTS = __file__.removesuffix(".py") + ".safetensors"


class Alexnet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
            nn.Conv2d(64, 192, 5, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
            nn.Conv2d(192, 384, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(0.5),
            nn.Linear(9216, 4096),
            nn.Threshold(0, 1e-06),
            nn.Dropout(0.5),
            nn.Linear(4096, 4096),
            nn.Threshold(0, 1e-06),
            nn.Linear(4096, 1000),
            nn.LogSoftmax(dim=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """From N x 3 x 224 x 224 to N x 1000."""
        return self.classifier(self.features(x).flatten(1))


def load() -> Alexnet:
    net, tensors = Alexnet(), load_file(WEIGHTS)
    net.load_state_dict({name: tensors[name] for name in net.state_dict()})
    return net.eval()


if __name__ == "__main__":
    tensors = load_file(WEIGHTS)
    output = load()(tensors["example.input"])
    torch.testing.assert_close(output, tensors["example.output"], rtol=1e-4, atol=7e-05)
