# SPDX-License-Identifier: BSD-3-Clause
"""Forward order, guessed from names, for files that keep names sorted.

A name is a path: layer1.0.conv2.weight. Names are compared part by part, by
(place, number, rank, text). The place tells the first and last layers of a network
from the layers between them. The number is the number at the end of the part, so
that conv1, bn1 and conv2 are in this order. The rank orders parts with one number.
"""

import re

FIRST, MIDDLE, LAST = 0, 1, 2
LEAF = 3  # rank of a part that is not in the table below

# word -> (place, number or None to keep the part's own, rank)
WORDS = {
    # First layers of a network.
    "embeddings": (FIRST, 0, 0), "embedding": (FIRST, 0, 0),
    "patch_embed": (FIRST, 0, 0), "stem": (FIRST, 0, 0),
    "embed_tokens": (FIRST, 0, 1), "word_embeddings": (FIRST, 0, 1),
    "wte": (FIRST, 0, 1), "tok_embeddings": (FIRST, 0, 1),
    "cls_token": (FIRST, 0, 1), "position_embeddings": (FIRST, 0, 2),
    "wpe": (FIRST, 0, 2), "pos_embed": (FIRST, 0, 2),
    "embed_positions": (FIRST, 0, 2), "token_type_embeddings": (FIRST, 0, 3),
    # Last layers.
    "downsample": (LAST, 0, 0), "shortcut": (LAST, 0, 0),
    "ln_f": (LAST, 0, 1), "norm": (LAST, 0, 1), "final_layer_norm": (LAST, 0, 1),
    "pooler": (LAST, 0, 2), "classifier": (LAST, 0, 3), "fc": (LAST, 0, 3),
    "head": (LAST, 0, 4), "lm_head": (LAST, 0, 4), "cls": (LAST, 0, 4),
    "LayerNorm": (LAST, 0, 0), "layer_norm": (LAST, 0, 0),
    "layernorm": (LAST, 0, 0),
    # A block of a convolutional network.
    "conv": (MIDDLE, None, 0), "bn": (MIDDLE, None, 1),
    # A block of a transformer: norm, attention, norm, feed-forward.
    "ln": (MIDDLE, None, 0), "input_layernorm": (MIDDLE, 1, 0),
    "self_attn_layer_norm": (MIDDLE, 1, 2), "attn": (MIDDLE, 1, 1),
    "attention": (MIDDLE, 1, 1), "self_attn": (MIDDLE, 1, 1),
    "post_attention_layernorm": (MIDDLE, 2, 0), "mlp": (MIDDLE, 2, 1),
    "ffn": (MIDDLE, 2, 1), "feed_forward": (MIDDLE, 2, 1),
    "intermediate": (MIDDLE, 2, 1), "output": (MIDDLE, 3, 0),
    # Inside these.
    "self": (FIRST, 0, 0),
    "query": (FIRST, 0, 1), "q_proj": (FIRST, 0, 1), "c_attn": (FIRST, 0, 1),
    "qkv": (FIRST, 0, 1), "key": (FIRST, 0, 2), "k_proj": (FIRST, 0, 2),
    "value": (FIRST, 0, 3), "v_proj": (FIRST, 0, 3),
    "c_fc": (FIRST, 0, 4), "gate_proj": (FIRST, 0, 4), "up_proj": (FIRST, 0, 5),
    "o_proj": (FIRST, 0, 6), "c_proj": (FIRST, 0, 6), "proj": (FIRST, 0, 6),
    "out_proj": (FIRST, 0, 6), "down_proj": (FIRST, 0, 6),
    "dense": (FIRST, 0, 6),
    "weight": (MIDDLE, 0, 0), "kernel": (MIDDLE, 0, 0), "gamma": (MIDDLE, 0, 0),
    "bias": (MIDDLE, 0, 1), "beta": (MIDDLE, 0, 1),
}


def key_of_part(part):
    stem, number = re.fullmatch(r"(.*?)_?(\d*)", part, re.DOTALL).groups()
    place, known, rank = WORDS.get(part) or WORDS.get(stem) or \
        (MIDDLE, None, LEAF)
    if known is None:
        known = int(number) if 0 < len(number) < 10 else 0
    return place, known, rank, stem


def forward_key(name):
    """Sorts names in forward order, if their parts are in the table above."""
    return [key_of_part(part) for part in re.split(r"[./]", name)]


def like(names, wanted):
    """Returns three lists: the names in the order of `wanted`, the names that only
    `wanted` has, and the names that `wanted` lacks."""
    have, asked = set(names), set(wanted)
    return ([name for name in wanted if name in have],
            [name for name in wanted if name not in have],
            [name for name in names if name not in asked])
