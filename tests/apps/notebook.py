# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # From a model to a policy
#
# Plays a training on 8 ranks without MPI, looks at its gradients, chooses a number format
# for each layer, and writes a policy for the job. VS Code, Spyder and
# Jupyter with jupytext show the cells; `python3 notebook.py` runs them all. It writes
# `layers.csv`, `policy.yaml` and three pictures to the current directory.

# %%
import os

import apsmpi
import matplotlib.pyplot as plt
import numpy as np

NODES, RANKS_PER_NODE, BATCH, EPOCHS = 2, 4, 128, 12
RANKS = NODES * RANKS_PER_NODE
NAMES = [f"fc{layer}.{part}" for layer in (1, 2, 3) for part in ("weight", "bias")]

# %% [markdown]
# The model and the data are those of `digits.py`: three dense layers, and 1797 images of
# digits, of which 360 are for the test.

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
# A training in FP32 keeps some gradients of each layer. Their exponents show the range
# that a format has to cover.

# %%
seen = {name: [] for name in NAMES}
steps = dict.fromkeys(NAMES, 0)


def in_fp32(arrays, name):
    if steps[name] % 20 == 0:
        seen[name].append(arrays)
    steps[name] += 1
    return np.sum(arrays, 0)


losses, accuracy = train(in_fp32)
figure, axes = plt.subplots()
for name in NAMES:
    values = np.abs(np.concatenate([np.ravel(a) for a in seen[name]]))
    axes.hist(np.frexp(values[values > 0])[1], range(-40, 2), histtype="step", label=name,
              density=True)
axes.set(xlabel="binary exponent of a gradient's element", ylabel="share")
axes.legend()
figure.savefig("exponents.png")

# %% [markdown]
# The sums of the kept gradients in several formats, with APS and without a scale, against
# their sums in FP64. More dB are better; 20 dB are an error of a tenth.

# %%
FORMATS = ("e3m0", "e3m2", "e4m3", "e5m2", "e5m10")


def quality(name, format, scale):
    cluster = apsmpi.Cluster(NODES, RANKS_PER_NODE, f"format: {format}, scale: {scale}")
    return np.mean([apsmpi.snr(np.sum(arrays, 0, np.float64), cluster.allreduce(arrays))
                    for arrays in seen[name]])


snr = {(name, format, scale): quality(name, format, scale) for name in NAMES
       for format in FORMATS for scale in ("aps", "none")}
figure, axes = plt.subplots()
for color, name in enumerate(NAMES):
    for scale, style in (("aps", "-"), ("none", ":")):
        axes.plot(FORMATS, [snr[name, format, scale] for format in FORMATS], style,
                  color=f"C{color}", label=name if scale == "aps" else None)
axes.axhline(20, color="black", linewidth=0.5)
axes.set(ylabel="signal-to-noise ratio, dB; dotted: without a scale")
axes.legend()
figure.savefig("formats.png")

# %% [markdown]
# The policy: for each layer the narrowest format with 20 dB.

# %%
rules = ["version: 1", "table: layers.csv", "min_count: 1", "rules:"]
for name in NAMES:
    good = [format for format in FORMATS if snr[name, format, "aps"] >= 20]
    rules.append(f'  - {{layers: {name}, format: {good[0]}, scale: aps}}' if good else
                 f'  - {{layers: {name}, format: fp32}}')
rows = ["layer,name,count", *(f"{layer},{name},{seen[name][0][0].size}"
                              for layer, name in enumerate(NAMES))]
for path, lines in (("layers.csv", rows), ("policy.yaml", rules)):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
print(*rules, sep="\n")

# %% [markdown]
# The training with this policy, which has the bits of a job on 2 nodes of 4 ranks.

# %%
job = apsmpi.Cluster(NODES, RANKS_PER_NODE, apsmpi.Policy.read("policy.yaml"))
losses_by_policy, accuracy_by_policy = train(
    lambda arrays, name: job.allreduce(arrays, name=name))
figure, axes = plt.subplots()
axes.plot(losses, label=f"FP32: {accuracy:.1%} right")
axes.plot(losses_by_policy, label=f"policy.yaml: {accuracy_by_policy:.1%} right")
axes.set(xlabel="step", ylabel="loss", yscale="log")
axes.legend()
figure.savefig("losses.png")
print(f"FP32: {accuracy:.1%} right; policy.yaml: {accuracy_by_policy:.1%}")

# %% [markdown]
# The job itself, with MPI:
#
#     apsmpi-run -p policy.yaml mpiexec -n 8 python3 digits.py
