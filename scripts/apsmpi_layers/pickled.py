# SPDX-License-Identifier: BSD-3-Clause
"""Reads a pickle without running anything that it says.

Python's own unpickler imports what a pickle names and calls it. Here a name
stays a name: a call makes an object of the class Opaque, which remembers what
was called, with which arguments, and what state it was given. The opcodes are
read by pickletools, which executes nothing either. Dictionaries of any class
(OrderedDict) become plain ones.
"""

import pickletools

from .tensor import LayersError

MARK = object()
OPCODES_MAX = 20_000_000
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
EMPTY = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple,
         "EMPTY_SET": list}
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
VALUES = {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "INT", "LONG",
          "BINFLOAT", "FLOAT", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
          "UNICODE", "BINSTRING", "SHORT_BINSTRING", "STRING", "BINBYTES",
          "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"}
DICTIONARIES = ("collections OrderedDict", "builtins dict", "__builtin__ dict",
                "collections defaultdict")


class Opaque:
    """What a pickle would have called: its name ("module class"), the arguments
    and the state; or, with the name "persistent", what stands outside."""

    def __init__(self, name, arguments=()):
        self.name = name
        self.arguments = arguments
        self.state = None


class Machine:
    """The stack and the memo of a pickle."""

    def __init__(self):
        self.stack = []
        self.memo = {}

    def pop_mark(self):
        """What lies above the last mark, which goes, too."""
        for at in range(len(self.stack) - 1, -1, -1):
            if self.stack[at] is MARK:
                items = self.stack[at + 1:]
                del self.stack[at:]
                return items
        raise IndexError

    def call(self, function, arguments):
        name = function.name if isinstance(function, Opaque) else "?"
        if name in DICTIONARIES:
            pairs = arguments[-1] if arguments and \
                isinstance(arguments[-1], list) else []
            return {pair[0]: pair[1] for pair in pairs
                    if isinstance(pair[0], (str, int))}
        return Opaque(name, arguments)

    def set_items(self, items):
        target = self.stack[-1]
        if isinstance(target, Opaque):  # a dictionary of an unknown class
            if target.state is None:
                target.state = {}
            target = target.state
        if not isinstance(target, dict):
            raise TypeError
        for key, value in zip(items[::2], items[1::2]):
            if isinstance(key, (str, int, float, bytes, type(None))):
                target[key] = value

    def add_items(self, items):
        if isinstance(self.stack[-1], list):
            self.stack[-1].extend(items)

    def build(self):
        state = self.stack.pop()
        if isinstance(self.stack[-1], Opaque):
            self.stack[-1].state = state

    def step(self, name, argument):
        stack = self.stack
        if name in CONSTANTS:
            stack.append(CONSTANTS[name])
        elif name in EMPTY:
            stack.append(EMPTY[name]())
        elif name in VALUES:
            stack.append(argument)
        elif name in TUPLES:
            items = tuple(stack[-TUPLES[name]:])
            if len(items) < TUPLES[name]:
                raise IndexError
            del stack[-TUPLES[name]:]
            stack.append(items)
        elif name == "MARK":
            stack.append(MARK)
        elif name == "TUPLE":
            stack.append(tuple(self.pop_mark()))
        elif name in ("LIST", "FROZENSET"):
            stack.append(self.pop_mark())
        elif name == "DICT":
            items = self.pop_mark()
            stack.append({})
            self.set_items(items)
        elif name in ("SETITEMS", "APPENDS", "ADDITEMS"):
            items = self.pop_mark()
            (self.set_items if name == "SETITEMS" else self.add_items)(items)
        elif name == "SETITEM":
            value, key = stack.pop(), stack.pop()
            self.set_items([key, value])
        elif name == "APPEND":
            self.add_items([stack.pop()])
        elif name in ("GLOBAL", "INST"):
            function = Opaque(argument)
            stack.append(function if name == "GLOBAL" else
                         self.call(function, tuple(self.pop_mark())))
        elif name == "STACK_GLOBAL":
            last, first = stack.pop(), stack.pop()
            stack.append(Opaque("%s %s" % (first, last)))
        elif name in ("REDUCE", "NEWOBJ"):
            arguments, function = stack.pop(), stack.pop()
            stack.append(self.call(function, arguments))
        elif name == "NEWOBJ_EX":
            del stack[-1]
            self.step("NEWOBJ", None)
        elif name == "OBJ":
            items = self.pop_mark()
            stack.append(self.call(items[0], tuple(items[1:])))
        elif name == "BUILD":
            self.build()
        elif name in ("BINPERSID", "PERSID"):
            outside = stack.pop() if name == "BINPERSID" else argument
            stack.append(Opaque("persistent", outside))
        elif name in ("BINPUT", "LONG_BINPUT", "PUT"):
            self.memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            self.memo[len(self.memo)] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET", "GET"):
            stack.append(self.memo[argument])
        elif name == "POP":
            del stack[-1]
        elif name == "POP_MARK":
            self.pop_mark()
        elif name == "DUP":
            stack.append(stack[-1])
        elif name not in ("PROTO", "FRAME"):
            raise LayersError("its pickle has the opcode %s, which no file of "
                              "weights needs" % name)


def load(stream):
    """The object of the pickle that begins at the stream's place; the stream
    stands behind it then."""
    machine = Machine()
    try:
        for number, (opcode, argument, _) in enumerate(
                pickletools.genops(stream)):
            if opcode.name == "STOP":
                return machine.stack.pop()
            if number > OPCODES_MAX:
                raise LayersError("its pickle is too long")
            machine.step(opcode.name, argument)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError,
            OverflowError, MemoryError):
        pass
    raise LayersError("its pickle is cut short or wrong")
