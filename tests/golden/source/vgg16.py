"""The net of vgg16.t7 as PyTorch source."""

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

WEIGHTS = __file__.removesuffix(".py") + ".safetensors"


def conv_relu(in_channels: int, out_channels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, 3, padding=1), nn.ReLU(inplace=True)
    )


def stage(in_channels: int, out_channels: int, depth: int) -> nn.Sequential:
    return nn.Sequential(
        conv_relu(in_channels, out_channels),
        *[conv_relu(out_channels, out_channels) for _ in range(depth - 1)],
        nn.MaxPool2d(2),
    )


class Vgg16(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            stage(3, 64, 2),
            stage(64, 128, 2),
            stage(128, 256, 3),
            stage(256, 512, 3),
            stage(512, 512, 3),
        )
        self.classifier = nn.Sequential(
            nn.Linear(25088, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(0.5),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(0.5),
            nn.Linear(4096, 1000),
            nn.LogSoftmax(dim=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """From N x 3 x 224 x 224 to N x 1000."""
        return self.classifier(self.features(x).flatten(1))


def load() -> Vgg16:
    net, tensors = Vgg16(), load_file(WEIGHTS)
    net.load_state_dict({name: tensors[name] for name in net.state_dict()})
    return net.eval()


if __name__ == "__main__":
    tensors = load_file(WEIGHTS)
    output = load()(tensors["example.input"])
    torch.testing.assert_close(output, tensors["example.output"], rtol=1e-4, atol=7e-05)
