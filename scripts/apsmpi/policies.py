# SPDX-License-Identifier: BSD-3-Clause
"""Policies and the plans of layers."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref
from typing import Optional, Union

from .formats import Format
from .library import LIB, ApsError, Handle, LayerRequest

PLAN_MAX = 1024


class Plan(Handle):
    """The treatment of a layer at a time."""

    def __init__(self, policy: "Policy", request: LayerRequest) -> None:
        super().__init__(LIB.aps_layer_plan_destroy)
        self.policy = policy  # must live as long as the plan
        LIB.aps_layer_plan_create(policy.pointer, byref(request), byref(self.pointer))

    @property
    def rule(self) -> int:
        """Index of the rule that matches, from 0; -1: none does."""
        return int(LIB.aps_layer_plan_rule(self.pointer))

    @property
    def is_reduced(self) -> bool:
        """True if the library reduces the layer; otherwise MPI does, in FP32."""
        return bool(LIB.aps_layer_plan_is_reduced(self.pointer))

    @property
    def format(self) -> Format:
        """The format in which values travel."""
        pointer = LIB.aps_layer_plan_format(self.pointer)
        return Format(LIB.aps_format_name(pointer).decode())

    @property
    def bytes(self) -> int:
        """Bytes that a rank sends: the mean of the way to the sum and back."""
        return int(LIB.aps_layer_plan_bytes(self.pointer))

    def __str__(self) -> str:
        text = ctypes.create_string_buffer(PLAN_MAX)
        LIB.aps_layer_plan_describe(self.pointer, text, PLAN_MAX)
        return text.value.decode()


def whole_text(rule: str, table: bool) -> str:
    """The policy of one rule. State of a compressor needs steps, or a table."""
    inside = rule if rule.startswith("{") else "{%s}" % rule
    needs_steps = "compress" in rule or "feedback" in rule or "model" in rule
    return "version: 1\nmin_count: 1\n%srules:\n  - %s\n" % (
        "table: given\n" if table else "steps: auto\n" if needs_steps else "", inside)


class Policy(Handle):
    """A policy of apsmpi-policy(5): a whole text, or the inside of one rule.

    >>> policy = Policy("format: e4m3, scale: aps")
    >>> plan = policy.plan(1 << 20)
    >>> print(plan, plan.bytes)
    {format: e4m3, scale: aps} 1048576

    A rule matches layers of any length; a whole text has min_count.
    """

    def __init__(self, text: str, table: Optional[str] = None) -> None:
        """table: the text of the layer table that the policy names."""
        super().__init__(LIB.aps_policy_close)
        if not isinstance(text, str):
            raise TypeError("a policy is %s; pass its text, or Policy.read(path)"
                            % type(text).__name__)
        if "\n" not in text and ":" not in text:
            raise ApsError("%r is not a rule; pass one such as 'format: e4m3', or "
                           "Policy.read(path)" % text)
        if "\n" not in text and "version:" not in text:
            text = whole_text(text.strip(), table is not None)
        self.text = text
        LIB.aps_policy_open(text.encode(), table.encode() if table else None,
                            byref(self.pointer))

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"]) -> "Policy":
        """Reads a policy's file, and the layer table that it names."""
        policy = cls.__new__(cls)
        Handle.__init__(policy, LIB.aps_policy_close)
        policy.text = ""
        LIB.aps_policy_read(os.fsencode(path), byref(policy.pointer))
        return policy

    def plan(self, count: int = 0, *, name: Optional[str] = None, layer: int = -1,
             epoch: int = 0, step: int = 0, ranks: int = 0) -> Plan:
        """The plan of a layer of `count` elements, or of the layer `name`."""
        return Plan(self, request_of(count, name, layer, epoch, step, ranks))


def request_of(count: int, name: Optional[str] = None, layer: int = -1, epoch: int = 0,
               step: int = 0, ranks: int = 0) -> LayerRequest:
    return LayerRequest(count=count, name=name.encode() if name else None, layer=layer,
                        epoch=epoch, step=step, ranks=ranks)


def policy_of(given: Union[str, Policy]) -> Policy:
    """The Policy of a text."""
    return given if isinstance(given, Policy) else Policy(given)
