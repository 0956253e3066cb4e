"""The net of char_lstm.t7 as PyTorch source."""

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

WEIGHTS = __file__.removesuffix(".py") + ".safetensors"


class LSTMStep(nn.Module):
    def __init__(self, in_features: int) -> None:
        super().__init__()
        self.i2h = nn.Linear(in_features, 512)
        self.h2h = nn.Linear(128, 512)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        total = self.i2h(x) + self.h2h(h)
        new, forget, out, candidate = total.reshape(total.size(0), 4, 128).unbind(1)
        next_c = torch.sigmoid(forget) * c + torch.sigmoid(new) * torch.tanh(candidate)
        next_h = torch.sigmoid(out) * torch.tanh(next_c)
        return next_c, next_h


class CharLstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = LSTMStep(65)
        self.dropout = nn.Dropout(0.5)
        self.lstm2 = LSTMStep(128)
        self.dropout2 = nn.Dropout(0.5)
        self.decoder = nn.Linear(128, 65)

    def forward(
        self, indices: Tensor, c1: Tensor, h1: Tensor, c2: Tensor, h2: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """From N of indices from 0, 4 of N x 128 to 4 of N x 128, N x 65."""
        y = functional.one_hot(indices, 65).to(torch.float32)
        next_c, next_h = self.lstm(y, h1, c1)
        next_c2, next_h2 = self.lstm2(self.dropout(next_h), h2, c2)
        y2 = functional.log_softmax(self.decoder(self.dropout2(next_h2)), 1)
        return next_c, next_h, next_c2, next_h2, y2


def load() -> CharLstm:
    net, tensors = CharLstm(), load_file(WEIGHTS)
    net.load_state_dict({name: tensors[name] for name in net.state_dict()})
    return net.eval()


if __name__ == "__main__":
    tensors = load_file(WEIGHTS)
    output = load()(*(tensors[f"example.input{i}"] for i in range(1, 6)))
    wanted = tuple(tensors[f"example.output{i}"] for i in range(1, 6))
    torch.testing.assert_close(output, wanted, rtol=1e-4, atol=4e-05)
