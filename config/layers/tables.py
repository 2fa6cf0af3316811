#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the layer tables of known networks from the facts of their papers.

    tables.py NAME      one table, to standard output
    tables.py --list    the names, with the number of parameters of each

Names and shapes are those of model.named_parameters() of the PyTorch model that
the table's header names; the numbers of parameters are those published with it.
tests/e2e/t-layers.sh compares the tables beside this file with what this prints.
"""

import sys


def convolution(name, outputs, inputs, size, bias=False):
    yield name + ".weight", (outputs, inputs, size, size)
    if bias:
        yield name + ".bias", (outputs,)


def norm(name, size):
    yield name + ".weight", (size,)
    yield name + ".bias", (size,)


def linear(name, outputs, inputs):
    yield name + ".weight", (outputs, inputs)
    yield name + ".bias", (outputs,)


# --- He et al. 2016 -----------------------------------------------------------

def basic_block(name, inputs, width):
    """Two convolutions of 3x3; returns what is summed into by the shortcut."""
    yield from convolution(name + ".conv1", width, inputs, 3)
    yield from norm(name + ".bn1", width)
    yield from convolution(name + ".conv2", width, width, 3)
    yield from norm(name + ".bn2", width)


def bottleneck(name, inputs, width):
    """Convolutions of 1x1, 3x3 and 1x1; the last one has 4 times the width."""
    yield from convolution(name + ".conv1", width, inputs, 1)
    yield from norm(name + ".bn1", width)
    yield from convolution(name + ".conv2", width, width, 3)
    yield from norm(name + ".bn2", width)
    yield from convolution(name + ".conv3", 4 * width, width, 1)
    yield from norm(name + ".bn3", 4 * width)


def resnet(block, blocks):
    widen = 4 if block is bottleneck else 1
    yield from convolution("conv1", 64, 3, 7)
    yield from norm("bn1", 64)
    inputs = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for index in range(count):
            name = "layer%d.%d" % (stage + 1, index)
            yield from block(name, inputs, width)
            if index == 0 and (stage > 0 or inputs != width * widen):
                yield from convolution(name + ".downsample.0", width * widen,
                                       inputs, 1)
                yield from norm(name + ".downsample.1", width * widen)
            inputs = width * widen
    yield from linear("fc", 1000, inputs)


# --- Simonyan and Zisserman 2015 ----------------------------------------------

VGG16 = [64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0,
         512, 512, 512, 0]  # widths of convolutions; 0 is a pooling


def vgg16():
    place, inputs = 0, 3
    for width in VGG16:
        if width:
            yield from convolution("features.%d" % place, width, inputs, 3, True)
            inputs = width
        place += 2 if width else 1  # a ReLU follows a convolution
    yield from linear("classifier.0", 4096, 512 * 7 * 7)
    yield from linear("classifier.3", 4096, 4096)
    yield from linear("classifier.6", 1000, 4096)


# --- Devlin et al. 2019 -------------------------------------------------------

def bert(blocks=12, width=768, words=30522, positions=512, types=2):
    yield "embeddings.word_embeddings.weight", (words, width)
    yield "embeddings.position_embeddings.weight", (positions, width)
    yield "embeddings.token_type_embeddings.weight", (types, width)
    yield from norm("embeddings.LayerNorm", width)
    for index in range(blocks):
        name = "encoder.layer.%d." % index
        for part in ("query", "key", "value"):
            yield from linear(name + "attention.self." + part, width, width)
        yield from linear(name + "attention.output.dense", width, width)
        yield from norm(name + "attention.output.LayerNorm", width)
        yield from linear(name + "intermediate.dense", 4 * width, width)
        yield from linear(name + "output.dense", width, 4 * width)
        yield from norm(name + "output.LayerNorm", width)
    yield from linear("pooler.dense", width, width)


# --- Radford et al. 2019 ------------------------------------------------------

def transposed(name, inputs, outputs):
    """The matrices of GPT-2's code have the inputs first."""
    yield name + ".weight", (inputs, outputs)
    yield name + ".bias", (outputs,)


def gpt2(blocks=12, width=768, words=50257, positions=1024):
    yield "transformer.wte.weight", (words, width)
    yield "transformer.wpe.weight", (positions, width)
    for index in range(blocks):
        name = "transformer.h.%d." % index
        yield from norm(name + "ln_1", width)
        yield from transposed(name + "attn.c_attn", width, 3 * width)
        yield from transposed(name + "attn.c_proj", width, width)
        yield from norm(name + "ln_2", width)
        yield from transposed(name + "mlp.c_fc", width, 4 * width)
        yield from transposed(name + "mlp.c_proj", 4 * width, width)
    yield from norm("transformer.ln_f", width)


HE = "He et al., Deep Residual Learning for Image Recognition, arXiv 1512.03385"
TABLES = {
    # name: (title, layers, parameters, names as in, paper)
    "resnet18": ("ResNet-18", resnet(basic_block, (2, 2, 2, 2)), 11_689_512,
                 "torchvision.models.resnet18", HE),
    "resnet50": ("ResNet-50", resnet(bottleneck, (3, 4, 6, 3)), 25_557_032,
                 "torchvision.models.resnet50", HE),
    "resnet152": ("ResNet-152", resnet(bottleneck, (3, 8, 36, 3)), 60_192_808,
                  "torchvision.models.resnet152", HE),
    "vgg16": ("VGG-16", vgg16(), 138_357_544, "torchvision.models.vgg16",
              "Simonyan and Zisserman, Very Deep Convolutional Networks, "
              "arXiv 1409.1556"),
    "bert-base": ("BERT-base, uncased, with the pooler", bert(), 109_482_240,
                  "transformers.BertModel",
                  "Devlin et al., BERT, arXiv 1810.04805"),
    "gpt2": ("GPT-2 small; the head shares wte", gpt2(), 124_439_808,
             "transformers.GPT2LMHeadModel",
             "Radford et al., Language Models are Unsupervised Multitask "
             "Learners, 2019"),
}


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def write(name):
    title, layers, parameters, model, paper = TABLES[name]
    layers = list(layers)
    total = sum(count(shape) for _, shape in layers)
    if total != parameters:
        sys.exit("%s: %d parameters, not %d" % (name, total, parameters))
    print("# %s: %d layers, %d parameters." % (title, len(layers), total))
    print("# Source: %s." % paper)
    print("# Names and order: %s." % model)
    print("layer,name,count,shape")
    for index, (layer, shape) in enumerate(layers):
        print("%d,%s,%d,%s" % (index, layer, count(shape),
                               "x".join(map(str, shape))))


def main():
    if len(sys.argv) == 2 and sys.argv[1] == "--list":
        for name, row in TABLES.items():
            print(name, row[2])
    elif len(sys.argv) == 2 and sys.argv[1] in TABLES:
        write(sys.argv[1])
    else:
        sys.exit("usage: tables.py NAME | --list")


if __name__ == "__main__":
    main()
