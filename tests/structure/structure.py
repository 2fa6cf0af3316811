# SPDX-License-Identifier: BSD-3-Clause
"""Checks the rules of the house that a machine can check (DESIGN.md, section 2).

    structure.py TOP RULE

prints a line for each place that breaks the rule:

    arrows    a file of pmpi/ or src/ that includes a header of a room above its own,
              or a file of src/ that includes one of pmpi/
    circles   files of pmpi/ or src/ that include each other in a circle, X.c and
              X.h taken as one
    lengths   a .c of pmpi/, src/ or cuda/ of more than 500 lines
    tests     a .c of tests/ or scripts/ of more than 500 lines
    columns   a line of more than 88 columns; what programs are expected to print
              is excepted
    rooms     a directory of pmpi/ or src/ that is not a room, or has more than 45
              files; a test of tests/unit/ that is not in a room
    readmes   a room of pmpi/ without a README.md of one paragraph, which a table may
              follow; a room of src/ without a row in src/README.md
    twins     a function that a header of pmpi/ or src/ declares, and that the .c of the same name
              does not define; tables of rows are excepted
    numbers   a floating-point conversion in a call of printf or its like, which would
              print the program's decimal point: base/print.h has the one way
    locks     a mutex of pmpi/, src/ or cuda/ without a row in pmpi/LOCKS.md
    list      every include of pmpi/ and src/ (breaks no rule)
"""

import os
import re
import sys

# From the top down: a file may include headers of its own room and of the rooms below.
# All of src/ lies below pmpi/.
ROOMS = {
    "pmpi": ["audit", "offline", "bench", "measure", "entry", "waiting", "collective", "call", "trial", "comm",
             "layer", "compressed", "reduce", "gather", "group", "cut", "block",
             "device", "world", "summary", "job", "queue", "message", "native"],
    "src": ["verbs", "explain", "predictions", "cli", "predict", "blas", "source",
            "rules", "grammar", "yaml", "steps", "policy", "compress", "scale", "codec",
            "float", "blockwise", "simd", "wire", "roundoff", "kernel", "number",
            "text", "base"],
}
FILES = 45  # the most in a room
LINES = 500
COLUMNS = 88
LONG_STRING = re.compile(r"'[^']{60,}'")  # text that a program prints
MUTEX = re.compile(r"\s*(?:static )?pthread_mutex_t (\w+)(?:;| =)")
# A floating-point conversion of printf; the tokens of C, as far as needed.
CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[lL]?[aAeEfFgG]"
                        r"(?![a-z])")
PRINTS = re.compile(r"v?[a-z]*printf")
TOKEN = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\S|\s",
                   re.S)
# Headers whose functions are rows of a table, or the interface of a whole room.
TABLES = ["src/aps.h", "src/aps_policy.h", "src/policy/policy.h", "pmpi/entry/blocking_table.h",
          "pmpi/device/gpu_functions.h"]
FUNCTION = re.compile(r"\b(aps_\w+)\s*\(")
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]*)[">]')


def files(top, places, endings):
    """Yields the files of the places, as paths below top, in order."""
    for place in places:
        for folder, folders, names in os.walk(os.path.join(top, place)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(folder, name), top)


def lines(top, path):
    with open(os.path.join(top, path), encoding="utf-8") as stream:
        return stream.read().split("\n")


def includes(top, path):
    """Yields (line, name, path of the file or None) of each include of a file."""
    for number, line in enumerate(lines(top, path), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, name = found.groups()
        target = None
        for folder in [os.path.dirname(path), "pmpi", "src", "."]:
            candidate = os.path.normpath(os.path.join(folder, name))
            if quote == '"' and os.path.exists(os.path.join(top, candidate)):
                target = candidate
                break
        yield number, name, target


def room(path):
    """Returns the room of pmpi/ or src/ that a file is in, or None."""
    parts = path.split(os.sep)
    return parts[1] if len(parts) > 2 else None


def room_is_wrong(place, path, target):
    """Returns why a file of pmpi/ or src/ must not include a file of the same place."""
    here, there = room(path), room(target)
    if None in (here, there):  # aps.h, version.c
        return None
    for name in (here, there):
        if name not in ROOMS[place]:
            return f"{name} is not a room of {place}/"
    if ROOMS[place].index(there) < ROOMS[place].index(here):
        return f"{here} lies below {there}"
    return None


def arrow_is_wrong(path, name, target):
    """Returns why a file must not have this include, or None."""
    place = path.split(os.sep)[0]
    goal = target.split(os.sep)[0] if target else None
    if place == "src":
        if name == "mpi.h":
            return "src/ knows no MPI"
        if goal not in (None, "src"):
            return f"src/ includes nothing of {goal}/"
        if goal:
            return room_is_wrong("src", path, target)
    elif place == "cuda":
        if goal == "pmpi" or name == "mpi.h":
            return "cuda/ knows no MPI"
    elif goal == "pmpi":
        return room_is_wrong("pmpi", path, target)
    elif goal == "cuda" and target != os.path.join("cuda", "plugin.h"):
        return "of cuda/, pmpi/ includes plugin.h alone"
    elif goal not in (None, "src", "cuda"):
        return f"pmpi/ includes nothing of {goal}/"
    return None


def arrows(top):
    for path in files(top, ["pmpi", "src", "cuda"], (".c", ".h", ".cu")):
        for number, name, target in includes(top, path):
            why = arrow_is_wrong(path, name, target)
            if why:
                yield f"{path}:{number}: includes {name}: {why}"


def graph(top):
    """node -> the nodes that it includes; a node is a path without .c or .h."""
    edges = {}
    for path in files(top, ["pmpi", "src"], (".c", ".h")):
        node = os.path.splitext(path)[0]
        goals = edges.setdefault(node, set())
        for _, _, target in includes(top, path):
            if target and os.path.splitext(target)[0] != node:
                goals.add(os.path.splitext(target)[0])
    return edges


def reachable(edges, start):
    """Returns the nodes that can be reached from start by one step or more."""
    seen, left = set(), list(edges.get(start, ()))
    while left:
        node = left.pop()
        if node not in seen:
            seen.add(node)
            left.extend(edges.get(node, ()))
    return seen


def shortest_circle(edges, start):
    """Returns the nodes of one of the shortest circles through start."""
    left, before = [start], {}
    while left:
        node = left.pop(0)
        for goal in sorted(edges.get(node, ())):
            if goal == start:
                circle = [start]
                while node != start:
                    circle.insert(1, node)
                    node = before[node]
                return circle + [start]
            if goal not in before:
                before[goal] = node
                left.append(goal)
    return []


def circles(top):
    """Yields one line for each set of files that all reach each other."""
    edges = graph(top)
    reached = {node: reachable(edges, node) for node in edges}
    told = set()
    for node in sorted(edges):
        if node in told or node not in reached[node]:
            continue
        together = {goal for goal in reached[node] if node in reached.get(goal, ())}
        told |= together
        shortest = min((shortest_circle(edges, goal)
                        for goal in sorted(together)), key=len)
        others = sorted(together - set(shortest))
        yield " -> ".join(shortest) + "".join(
            f"\n    in circles with these: {goal}" for goal in others)


def too_long(top, places):
    for path in files(top, places, (".c",)):
        count = len(lines(top, path)) - 1
        if count > LINES:
            yield f"{path}: {count} lines"


def lengths(top):
    return too_long(top, ["pmpi", "src", "cuda"])


def tests(top):
    return too_long(top, ["tests", "scripts"])


def own_lines(top, path):
    """Yields (number, line) of the lines outside a shell's here-documents."""
    ends = None
    for number, line in enumerate(lines(top, path), 1):
        if ends is not None:
            if line.strip() == ends:
                ends = None
            continue
        yield number, line
        found = re.search(r"<<-?\s*['\"\\]?(\w+)", line)
        if path.endswith(".sh") and found:
            ends = found.group(1)


def columns(top):
    places = ["pmpi", "src", "cuda", "tests", "scripts"]
    for path in files(top, places, (".c", ".h", ".cu", ".sh")):
        for number, line in own_lines(top, path):
            if len(line) > COLUMNS and not LONG_STRING.search(line):
                yield f"{path}:{number}: {len(line)} columns"


def rooms(top):
    for place, known in ROOMS.items():
        root = os.path.join(top, place)
        entries = os.scandir(root) if os.path.isdir(root) else []
        for name in sorted(entry.name for entry in entries if entry.is_dir()):
            if name not in known:
                yield f"{place}/{name}: not a room of {place}/"
            count = len([1 for _ in files(top, [f"{place}/{name}"], (".c", ".h"))])
            if count > FILES:
                yield f"{place}/{name}: {count} files"
    for path in files(top, ["tests/unit"], (".c",)):
        if room(os.path.relpath(path, "tests")) is None:
            yield f"{path}: not in a room of tests/unit/"


def readmes(top):
    """A room of pmpi/ has a README.md of one paragraph; src/README.md has a row for
    each room of src/."""
    for name in sorted(entry.name for entry in os.scandir(os.path.join(top, "pmpi"))
                       if entry.is_dir()):
        path = os.path.join("pmpi", name, "README.md")
        if not os.path.exists(os.path.join(top, path)):
            yield f"{path}: missing"
            continue
        text = "\n".join(lines(top, path)).strip()
        body = [part for part in text.split("\n\n") if not part.startswith(("#", "|"))]
        if len(body) != 1:
            yield f"{path}: {len(body)} paragraphs, not one"
    path = os.path.join("src", "README.md")
    text = lines(top, path) if os.path.exists(os.path.join(top, path)) else []
    for name in ROOMS["src"]:
        if not any(line.startswith(f"| {name} |") for line in text):
            yield f"{path}: no row for {name}"


def locks(top):
    """The table has a row "| level | `name` ..., path ..." for each mutex."""
    rows = [line for line in lines(top, "pmpi/LOCKS.md") if line[:1] == "|"]
    for path in files(top, ["pmpi", "src", "cuda"], (".c", ".h")):
        stem = path[:-1].removeprefix("pmpi/")
        for number, line in enumerate(lines(top, path), 1):
            found = MUTEX.match(line)
            if found and not any(f"`{found[1]}`" in row and stem in row
                                 for row in rows):
                yield f"{path}:{number}: `{found[1]}` is not in pmpi/LOCKS.md"


def numbers(top):
    """The innermost call around a format must not be a function of stdio.h."""
    for path in files(top, ["pmpi", "src", "cuda"], (".c", ".h", ".cu")):
        text = "\n".join(lines(top, path))
        calls, before = [], ""
        for found in TOKEN.finditer(text):
            token = found.group()
            if token == "(":
                calls.append(before)
            elif token == ")" and calls:
                calls.pop()
            elif token[0] == '"' and CONVERSION.search(token):
                around = [name for name in calls if name[:1].isalpha()]
                if around and PRINTS.fullmatch(around[-1]):
                    number = text.count("\n", 0, found.start()) + 1
                    yield f"{path}:{number}: a number is printed by {around[-1]}"
            if not token.isspace() and token[:2] != "/*":
                before = token


def declared(text):
    """The functions that a header declares and does not define."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"(?m)^#(?:.*\\\n)*.*", "", text)
    while "{" in text:  # the innermost braces first
        text, count = re.subn(r"\{[^{}]*\}", "@", text)
        if count == 0:
            break
    for statement in re.split(r";|\)\s*@", text):
        statement = statement.split("@")[-1].strip()
        found = FUNCTION.search(statement)
        if found and not re.match(r"static|typedef|APS_INLINE", statement) \
                and statement.endswith(")"):
            yield found[1]


def twins(top):
    for path in files(top, ["pmpi", "src"], (".h",)):
        if path in TABLES:
            continue
        twin = os.path.join(top, path[:-1] + "c")
        text = "\n".join(lines(top, path[:-1] + "c")) if os.path.exists(twin) else ""
        for name in declared("\n".join(lines(top, path))):
            if not re.search(rf"(?m)^[\w *(),]*\b{name}\(", text):
                yield f"{path}: {name} is not defined in {path[:-1]}c"


def list_of_includes(top):
    for path in files(top, ["pmpi", "src"], (".c", ".h")):
        for _, _, target in includes(top, path):
            if target:
                yield f"{path} -> {target}"


RULES = {"arrows": arrows, "circles": circles, "lengths": lengths,
         "tests": tests, "columns": columns, "rooms": rooms, "readmes": readmes,
         "twins": twins, "locks": locks, "numbers": numbers,
         "list": list_of_includes}


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in RULES:
        sys.exit(f"usage: structure.py TOP {'|'.join(RULES)}")
    for line in RULES[sys.argv[2]](sys.argv[1]):
        print(line)


if __name__ == "__main__":
    main()
