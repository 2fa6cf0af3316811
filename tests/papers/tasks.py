# SPDX-License-Identifier: BSD-3-Clause
"""The tasks of train.py: a model, an optimiser and data for each. They use no MPI, and
nothing of apsmpi.

A task has `defaults` (epochs, batch, examples, rate) and the `names` of its scores, and
the functions

    model()                   a new one, from torch's random numbers
    optimizer(model, rate)
    loss(model, indices)      the mean over these examples
    count(model, rank, ranks) a vector of FP64 numbers that ranks add up, over this
                              rank's part of the test data
    scores(counts)            the values of `names`, from the sum
"""
import gzip
import os
import pydoc_data.topics

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CLOTHES = "/usr/share/datasets/fashion-mnist"   # Debian: dataset-fashion-mnist
CLASSES = 10


# --- images ---------------------------------------------------------------------

def read_clothes(kind, count):
    """Returns images (count, 14, 14) in 0..1, the means of 2 x 2 pixels, and labels."""
    def items(name, head):
        with gzip.open(os.path.join(CLOTHES, kind + name)) as file:
            return np.frombuffer(file.read(), np.uint8)[head:]
    pixels = items("-images-idx3-ubyte.gz", 16)[:count * 784].astype(np.float32)
    labels = items("-labels-idx1-ubyte.gz", 8)[:count].astype(np.int64)
    if len(labels) < count:
        raise ValueError(f"{CLOTHES}: fewer than {count} images")
    return pixels.reshape(count, 14, 2, 14, 2).mean((2, 4)) / 255, labels


def convolution(channels, more, stride=1):
    return nn.Conv2d(channels, more, 3, stride, padding=1, bias=False)


class Block(nn.Module):
    """He et al., "Deep Residual Learning for Image Recognition", Fig. 2."""

    def __init__(self, channels, more, stride):
        super().__init__()
        self.conv1 = convolution(channels, more, stride)
        self.bn1 = nn.BatchNorm2d(more)
        self.conv2 = convolution(more, more)
        self.bn2 = nn.BatchNorm2d(more)
        self.short = nn.Sequential() if stride == 1 and channels == more else \
            nn.Conv2d(channels, more, 1, stride, bias=False)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.short(x))


class Residual(nn.Module):
    """Eight layers, 8 to 32 channels."""

    def __init__(self):
        super().__init__()
        self.conv = convolution(1, 8)
        self.bn = nn.BatchNorm2d(8)
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2), Block(16, 32, 2))
        self.fc = nn.Linear(32, CLASSES)

    def forward(self, x):
        x = self.blocks(F.relu(self.bn(self.conv(x))))
        return self.fc(x.mean((2, 3)))


class Clothes:
    """A residual network with batch normalisation learns Fashion-MNIST."""
    defaults = {"epochs": 8, "batch": 128, "examples": 6400, "rate": 0.1}
    names = ["accuracy"]

    def __init__(self, options):
        def tensors(kind, count):
            images, labels = read_clothes(kind, count)
            return (torch.from_numpy((images - 0.286) / 0.32)[:, None],
                    torch.from_numpy(labels))
        self.x, self.label = tensors("train", options.examples)
        self.test_x, self.test_label = tensors("t10k", 4000)

    def model(self):
        return Residual()

    def optimizer(self, model, rate):
        return torch.optim.SGD(model.parameters(), rate, momentum=0.9,
                               weight_decay=5e-4)

    def loss(self, model, indices):
        return F.cross_entropy(model(self.x[indices]), self.label[indices])

    def count(self, model, rank, ranks):
        guess = model(self.test_x[rank::ranks]).argmax(1)
        return np.array([(guess == self.test_label[rank::ranks]).sum(), len(guess)],
                        np.float64)

    def scores(self, counts):
        return [100 * counts[0] / counts[1]]


class LARS(torch.optim.Optimizer):
    """You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks"
    (arXiv 1708.03888), Algorithm 1. Biases and batch normalisation, which have one
    dimension, take the global rate alone."""

    def __init__(self, parameters, lr, momentum=0.9, decay=5e-4, trust=0.02):
        super().__init__(parameters, {"lr": lr, "momentum": momentum,
                                      "decay": decay, "trust": trust})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                change, local = p.grad, 1.0
                if p.dim() > 1:
                    change = change + group["decay"] * p
                    norms = p.grad.norm() + group["decay"] * p.norm()
                    local = float(group["trust"] * p.norm() / norms)
                velocity = self.state[p].setdefault("velocity", torch.zeros_like(p))
                velocity.mul_(group["momentum"]).add_(change, alpha=group["lr"] * local)
                p.sub_(velocity)


class LargeBatch(Clothes):
    """The same network with LARS and few, large batches."""
    defaults = {"epochs": 20, "batch": 1600, "examples": 6400, "rate": 1.0}

    def optimizer(self, model, rate):
        return LARS(model.parameters(), rate)


# --- a class for each pixel -----------------------------------------------------

class Segmenter(nn.Module):
    """An encoder to a quarter of the resolution, and a decoder with two skips."""

    def __init__(self):
        super().__init__()
        def layer(channels, more, stride=1):
            return nn.Sequential(convolution(channels, more, stride),
                                 nn.BatchNorm2d(more), nn.ReLU())
        self.down0 = layer(1, 8)
        self.down1 = layer(8, 16, 2)
        self.down2 = nn.Sequential(layer(16, 32, 2), layer(32, 32))
        self.up1 = layer(48, 16)
        self.up0 = layer(24, 16)
        self.classify = nn.Conv2d(16, CLASSES + 1, 1)

    def forward(self, x):
        def twice(y, skip):
            return torch.cat([F.interpolate(y, scale_factor=2, mode="nearest"), skip], 1)
        full = self.down0(x)
        half = self.down1(full)
        half_up = self.up1(twice(self.down2(half), half))
        return self.classify(self.up0(twice(half_up, full)))


class Scenes(Clothes):
    """Each pixel of a scene, 32 x 32 with four clothes at random places, gets its
    class; the last class is the background."""
    defaults = {"epochs": 12, "batch": 32, "examples": 640, "rate": 0.1}
    names = ["mIoU", "mAcc"]
    PIECES, SIDE, LEAST = 4, 32, 0.15

    def __init__(self, options):
        self.x, self.label = self.compose("train", options.examples, 1)
        self.test_x, self.test_label = self.compose("t10k", 400, 2)

    def compose(self, kind, count, seed):
        clothes, labels = read_clothes(kind, self.PIECES * count)
        draw = np.random.default_rng(seed)
        scenes = draw.uniform(0, self.LEAST, (count, self.SIDE, self.SIDE))
        classes = np.full(scenes.shape, CLASSES)
        places = draw.integers(0, self.SIDE - 14 + 1, (len(clothes), 2))
        for i, (image, (y, x)) in enumerate(zip(clothes, places)):
            where = i // self.PIECES, slice(y, y + 14), slice(x, x + 14)
            seen = image > self.LEAST
            scenes[where][seen] = image[seen]
            classes[where][seen] = labels[i]
        return (torch.from_numpy(((scenes - 0.3) / 0.3).astype(np.float32))[:, None],
                torch.from_numpy(classes))

    def model(self):
        return Segmenter()

    def count(self, model, rank, ranks):
        guess = model(self.test_x[rank::ranks]).argmax(1)
        pairs = self.test_label[rank::ranks] * (CLASSES + 1) + guess
        return np.bincount(pairs.flatten(), minlength=(CLASSES + 1) ** 2).astype(
            np.float64)

    def scores(self, counts):
        table = counts.reshape(CLASSES + 1, CLASSES + 1)
        right, real, said = table.diagonal(), table.sum(1), table.sum(0)
        return [100 * (right / np.maximum(1, real + said - right)).mean(),
                100 * (right / np.maximum(1, real)).mean()]


# --- characters -----------------------------------------------------------------

class Recurrent(nn.Module):
    def __init__(self, letters, width=96):
        super().__init__()
        self.embedding = nn.Embedding(letters, 32)
        self.lstm = nn.LSTM(32, width, batch_first=True)
        self.output = nn.Linear(width, letters)

    def forward(self, x):
        return self.output(self.lstm(self.embedding(x))[0])


class Transformer(nn.Module):
    def __init__(self, letters, length, width=48):
        super().__init__()
        self.embedding = nn.Embedding(letters, width)
        self.position = nn.Embedding(length, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(
            width, 4, 2 * width, 0, "gelu", batch_first=True, norm_first=True)
            for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, letters)
        self.register_buffer("mask", torch.triu(
            torch.ones(length, length, dtype=torch.bool), 1))

    def forward(self, x):
        x = self.embedding(x) + self.position.weight
        for layer in self.layers:
            x = layer(x, self.mask)
        return self.output(self.norm(x))


class Characters:
    """An LSTM, by SGD with clipped gradients, predicts the next character of the texts
    of Python's help, which are part of every Python."""
    defaults = {"epochs": 6, "batch": 32, "examples": 1600, "rate": 2.0}
    names = ["bits"]
    LENGTH, TEST, CLIP = 48, 400, 0.5

    def __init__(self, options):
        topics = pydoc_data.topics.topics
        text = "\n".join(topics[name] for name in sorted(topics))
        self.letters = sorted(set(text))
        number = {letter: i for i, letter in enumerate(self.letters)}
        codes = torch.tensor([number[letter] for letter in text])
        pieces = codes[:len(codes) // (self.LENGTH + 1) * (self.LENGTH + 1)].reshape(
            -1, self.LENGTH + 1)
        if len(pieces) < options.examples + self.TEST:
            raise ValueError(f"Python's help has {len(pieces)} pieces of text, fewer "
                             f"than {options.examples} and {self.TEST} for the test")
        self.learn, self.test = pieces[:options.examples], pieces[-self.TEST:]

    def model(self):
        return Recurrent(len(self.letters))

    def optimizer(self, model, rate):
        clip = self.CLIP

        class Clipped(torch.optim.SGD):
            def step(self, closure=None):
                nn.utils.clip_grad_norm_(model.parameters(), clip)
                return super().step(closure)
        return Clipped(model.parameters(), rate, momentum=0.9)

    def entropy(self, model, pieces, reduction):
        return F.cross_entropy(model(pieces[:, :-1]).flatten(0, 1),
                               pieces[:, 1:].flatten(), reduction=reduction)

    def loss(self, model, indices):
        return self.entropy(model, self.learn[indices], "mean")

    def count(self, model, rank, ranks):
        mine = self.test[rank::ranks]
        return np.array([float(self.entropy(model, mine, "sum")) / np.log(2),
                         mine[:, 1:].numel()])

    def scores(self, counts):
        return [counts[0] / counts[1]]


class Attention(Characters):
    """A transformer, by Adam, on the same text."""
    defaults = {"epochs": 6, "batch": 32, "examples": 1600, "rate": 0.005}

    def model(self):
        return Transformer(len(self.letters), self.LENGTH)

    def optimizer(self, model, rate):
        return torch.optim.Adam(model.parameters(), rate, (0.9, 0.99))


TASKS = {"residual": Clothes, "lars": LargeBatch, "scenes": Scenes,
         "lstm": Characters, "transformer": Attention}
