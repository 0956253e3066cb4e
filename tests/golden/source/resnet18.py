"""The net of resnet18.t7 as PyTorch source."""

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

WEIGHTS = __file__.removesuffix(".py") + ".safetensors"


def conv_bn(
    in_channels: int,
    out_channels: int,
    kernel_size: int,
    stride: int = 1,
    padding: int = 0,
) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding
        ),
        nn.BatchNorm2d(out_channels),
    )


class ResidualBlock(nn.Module):
    def __init__(self, in_channels: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            conv_bn(in_channels, in_channels, 3, padding=1),
            nn.ReLU(inplace=True),
            conv_bn(in_channels, in_channels, 3, padding=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.residual(x) + x)


class DownsamplingBlock(nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            conv_bn(in_channels, out_channels, 3, stride=2, padding=1),
            nn.ReLU(inplace=True),
            conv_bn(out_channels, out_channels, 3, padding=1),
        )
        self.shortcut = conv_bn(in_channels, out_channels, 1, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.residual(x) + self.shortcut(x))


class Resnet18(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            conv_bn(3, 64, 7, stride=2, padding=3),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2, padding=1),
            ResidualBlock(64),
            ResidualBlock(64),
            DownsamplingBlock(64, 128),
            ResidualBlock(128),
            DownsamplingBlock(128, 256),
            ResidualBlock(256),
            DownsamplingBlock(256, 512),
            ResidualBlock(512),
            nn.AvgPool2d(7, stride=1),
        )
        self.fc = nn.Linear(512, 1000)

    def forward(self, x: Tensor) -> Tensor:
        """From N x 3 x 224 x 224 to N x 1000."""
        return self.fc(self.features(x).flatten(1))


def load() -> Resnet18:
    net, tensors = Resnet18(), load_file(WEIGHTS)
    net.load_state_dict({name: tensors[name] for name in net.state_dict()})
    return net.eval()


if __name__ == "__main__":
    tensors = load_file(WEIGHTS)
    output = load()(tensors["example.input"])
    torch.testing.assert_close(output, tensors["example.output"], rtol=1e-4, atol=7e-07)
