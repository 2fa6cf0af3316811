# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # From a model to a policy
#
# Plays a training on 8 ranks without MPI, looks at its gradients, chooses a number format
# for each layer, and writes a policy for the job. VS Code, Spyder and Jupyter with
# jupytext show the cells; `python3 notebook.py` runs them all. It writes `layers.csv`,
# `policy.yaml` and three pictures to the current directory.

# %%
import os

import apsmpi
import matplotlib.pyplot as plt
import numpy as np

NODES, RANKS_PER_NODE = 1, 8    # those of the job: errors depend on them
RANKS = NODES * RANKS_PER_NODE
BATCH, EPOCHS = 16 * RANKS, 12
NAMES = [f"fc{layer}.{part}" for layer in (1, 2, 3) for part in ("weight", "bias")]

# %% [markdown]
# The layers and the images are those of `digits.py`: three dense layers, and 1797 images
# of digits, of which 360 are for the test.

# %%
folder = os.path.dirname(os.path.abspath(globals().get("__file__", "notebook.py")))
table = np.loadtxt(os.path.join(folder, "digits.csv"), int, delimiter=",")
np.random.default_rng(1).shuffle(table)
images, labels = (table[:, :-1] / 16).astype(np.float32), table[:, -1]


def initial():
    random, weights = np.random.default_rng(2), []
    for inputs, outputs in ((64, 64), (64, 64), (64, 10)):
        bound = np.sqrt(6 / inputs)
        weights.append(random.uniform(-bound, bound, (inputs, outputs)).astype("f"))
        weights.append(np.zeros(outputs, "f"))
    return weights


def outputs(weights, x):
    layers = [x]
    for i in (0, 2, 4):
        x = layers[-1] @ weights[i] + weights[i + 1]
        layers.append(np.maximum(x, 0) if i < 4 else x)
    return layers


def gradients(weights, x, label):
    """One array for each of NAMES, and the loss."""
    layers = outputs(weights, x)
    p = np.exp(layers[3] - layers[3].max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = -np.log(p[np.arange(len(x)), label]).mean()
    p[np.arange(len(x)), label] -= 1
    delta, result = p / len(x), []
    for i in (4, 2, 0):
        result[:0] = [layers[i // 2].T @ delta, delta.sum(0)]
        delta = delta @ weights[i].T * (layers[i // 2] > 0)
    return result, loss


def train(allreduce):
    """allreduce(arrays of all ranks, name) returns their sum. Returns the loss of each
    step, and the share of right answers."""
    weights, random, losses = initial(), np.random.default_rng(3), []
    momentum = [np.zeros_like(w) for w in weights]
    for _ in range(EPOCHS):
        order = random.permutation(len(images) - 360)
        for first in range(0, len(order) - BATCH + 1, BATCH):
            shares = order[first:first + BATCH].reshape(RANKS, -1)
            ranks = [gradients(weights, images[s], labels[s]) for s in shares]
            losses.append(np.mean([loss for _, loss in ranks]))
            for i, name in enumerate(NAMES):
                mean = allreduce([g[i] for g, _ in ranks], name) / RANKS
                momentum[i] = np.float32(0.9) * momentum[i] + mean
                weights[i] = weights[i] - np.float32(0.1) * momentum[i]
    answers = outputs(weights, images[-360:])[3].argmax(1)
    return losses, np.mean(answers == labels[-360:])


# %% [markdown]
# A training in FP32 keeps some gradients of each layer. The width of their exponents is
# the range that a format has to cover; APS moves the greatest of them to its top. A bar
# shows how wide the range of each format is. Zeros are left out.

# %%
seen = {name: [] for name in NAMES}
steps = dict.fromkeys(NAMES, 0)


def in_fp32(arrays, name):
    if steps[name] % 20 == 0:
        seen[name].append(arrays)
    steps[name] += 1
    return np.sum(arrays, 0)


losses, accuracy = train(in_fp32)
FORMATS = ("e3m0", "e3m2", "e4m3", "e5m2", "e5m10")     # the narrowest first
figure, axes = plt.subplots()
for name in NAMES:
    values = np.abs(np.concatenate([np.ravel(a) for a in seen[name]]))
    axes.hist(np.frexp(values[values > 0])[1] - 1, range(-45, 2), histtype="step",
              label=name, density=True)
for i, name in enumerate(FORMATS):
    form = apsmpi.Format(name)
    axes.barh(-0.01 * (i + 1), np.log2(form.max / form.min_positive), 0.008,
              -np.log2(form.max / form.min_positive), color="gray")
    axes.text(1, -0.01 * (i + 1), name, verticalalignment="center")
axes.set(xlabel="binary exponent of an element of a gradient", ylabel="share")
axes.legend()
figure.savefig("exponents.png")

# %% [markdown]
# The sums of the kept gradients in these formats, with APS and without a scale, against
# their sums in FP64. More dB are better; 20 dB are an error of a tenth of the sum's norm.

# %%
LIMIT = 20


def quality(name, format, scale):
    cluster = apsmpi.Cluster(NODES, RANKS_PER_NODE, f"format: {format}, scale: {scale}")
    return np.min([apsmpi.snr(np.sum(arrays, 0, np.float64), cluster.allreduce(arrays))
                   for arrays in seen[name]])


snr = {(name, format, scale): quality(name, format, scale) for name in NAMES
       for format in FORMATS for scale in ("aps", "none")}
figure, axes = plt.subplots()
for color, name in enumerate(NAMES):
    for scale, style in (("aps", "o-"), ("none", "x:")):
        axes.plot(FORMATS, [snr[name, format, scale] for format in FORMATS], style,
                  color=f"C{color}", label=name if scale == "aps" else None)
axes.axhline(LIMIT, color="black", linewidth=0.5, label=f"{LIMIT} dB")
axes.set(ylabel="least signal-to-noise ratio, dB; dotted: without a scale")
axes.legend()
figure.savefig("formats.png")

# %% [markdown]
# The policy: for each layer the first of the formats that has 20 dB in all kept steps;
# e8m23, FP32, if none has.

# %%
rules = ["version: 1", "table: layers.csv", "min_count: 1", "rules:"]
for name in NAMES:
    good = [format for format in FORMATS if snr[name, format, "aps"] >= LIMIT]
    rules.append("  - {layers: %s, format: %s, scale: aps}" % (name, [*good, "e8m23"][0]))
rows = ["layer,name,count", *(f"{layer},{name},{seen[name][0][0].size}"
                              for layer, name in enumerate(NAMES))]
for path, lines in (("layers.csv", rows), ("policy.yaml", rules)):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
print(*rules, sep="\n")

# %% [markdown]
# The training with this policy. The sums have the bits of a job of these nodes and ranks;
# another placement of the ranks has other bits, and other errors.

# %%
job = apsmpi.Cluster(NODES, RANKS_PER_NODE, apsmpi.Policy.read("policy.yaml"))
losses_by_policy, accuracy_by_policy = train(
    lambda arrays, name: job.allreduce(arrays, name=name))
figure, axes = plt.subplots()
axes.plot(losses, label=f"FP32: {accuracy:.1%} of the test right")
axes.plot(losses_by_policy, label=f"policy.yaml: {accuracy_by_policy:.1%} right")
axes.set(xlabel="step", ylabel="loss", yscale="log")
axes.legend()
figure.savefig("losses.png")
print(f"FP32: {accuracy:.1%} right; policy.yaml: {accuracy_by_policy:.1%}")

# %% [markdown]
# `apsmpi explain policy.yaml` shows what it does. A job with MPI, by `digits.py` in the folder of
# this notebook, which has other initial weights and another learning rate:
#
#     apsmpi-run -p policy.yaml mpiexec -n 8 python3 digits.py
