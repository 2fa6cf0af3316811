# SPDX-License-Identifier: BSD-3-Clause
"""Makes the manual as a site: make_site.py SOURCES FOLDER VERSION PAGE... (make html).

FOLDER gets a page for each manual page, by mandoc, an index, the tutorial and pictures
of config/site and tests/bench, and an index of sections for the search. It needs no
server: a browser opens index.html.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys

FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<header>
<strong><a href="index.html">apsmpi {version}</a></strong>
<a href="tutorial.html">Tutorial</a>
<a href="apsmpi.7.html">Library</a>
<a href="apsmpi-policy.5.html">Policy</a>
<a href="apsmpi-recipes.7.html">Recipes</a>
<input id="search" type="search" placeholder="Search the manual" aria-label="Search">
</header>
<div id="found"></div>
<main>
{body}
</main>
<script src="index.js"></script>
<script src="search.js"></script>
</body>
</html>
"""
INDEX = """<h1 id="apsmpi">apsmpi</h1>
<p>A library that an unmodified MPI training program preloads. It carries out
<code>MPI_Allreduce</code> of float gradients (and other collectives, if a policy names
them) in few bits, and leaves all other calls to MPI.</p>
<p><a href="tutorial.html">Tutorial: ten minutes from nothing to a trained model with a
report</a></p>
<p><img src="speed.svg" alt="Times faster than native FP32, by network and format"></p>
<h1 id="manual">Manual</h1>
<table>
{rows}
</table>
"""
HEADING = re.compile(r'<h[12][^>]*\bid="([^"]+)"[^>]*>(.*?)</h[12]>', re.S)
PICTURE = re.compile(r'<(\w+) class="Pa">(tests/[^<]+\.(?:png|svg))</\1>')
XR = re.compile(r'<a class="Xr" href="([^"]+)">(.*?)</a>', re.S)


def plain(text):
    """Returns the text of HTML, its blanks as one."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def sections(page, body):
    """Returns the rows [page, anchor, title, text] of a page."""
    parts = HEADING.split(body)
    return [[page, anchor, plain(title), plain(text).lower()]
            for anchor, title, text in zip(parts[1::3], parts[2::3], parts[3::3])]


def render(path, names):
    """Returns the body of a manual page; links to pages of others become text."""
    body = subprocess.run(
        ["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", path],
        check=True, capture_output=True, text=True, encoding="utf-8").stdout
    return XR.sub(lambda link: link[0] if link[1][:-len(".html")] in names else link[2],
                  body)


def resolve(bodies):
    """Lets links to sections lead to them: a section may be on another page, and mandoc
    writes a hyphen of its name as another letter."""
    ids = {name: {anchor.replace("-", "_"): anchor
                  for anchor in re.findall(r'\bid="([^"]+)"', body)}
           for name, body in bodies.items()}
    for name, body in bodies.items():
        def link(found):
            key = found[1].replace("-", "_")
            for page in [name, *ids]:
                if key in ids[page]:
                    return f'href="{page}.html#{ids[page][key]}"'
            return found[0]
        bodies[name] = re.sub(r'href="#([^"]+)"', link, body)


def show(picture):
    """The name of a picture becomes the picture."""
    path = picture[2]
    return '<img src="%s" alt="%s">' % (os.path.basename(path), path)


def main(sources, folder, version, *paths):
    bodies = {}
    names = [os.path.basename(path) for path in paths]
    for path, name in zip(paths, names):
        bodies[name] = render(path, names)
    resolve(bodies)
    rows = []
    for name in sorted(names, key=lambda name: (name[-1], name)):
        about = re.search(r'<span class="Nd">(.*?)</span>', bodies[name], re.S)[1]
        rows.append(f'<tr><td><a href="{name}.html">{name[:-2]}({name[-1]})</a></td>'
                    f"<td>{about}</td></tr>")
    bodies["index"] = INDEX.format(rows="\n".join(rows))
    site = os.path.join(sources, "config/site")
    with open(os.path.join(site, "tutorial.html"), encoding="utf-8") as stream:
        bodies["tutorial"] = stream.read()
    os.makedirs(folder, exist_ok=True)
    found, pictures = [], []
    for name, body in bodies.items():
        pictures += [path for _, path in PICTURE.findall(body)]
        body = PICTURE.sub(show, body)
        found += sections(name, body)
        title = "apsmpi" if name == "index" else f"{name} - apsmpi"
        path = os.path.join(folder, name + ".html")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(FRAME.format(title=title, version=version, body=body))
    with open(os.path.join(folder, "index.js"), "w", encoding="utf-8") as stream:
        stream.write("const SECTIONS = " + json.dumps(found) + ";\n")
    for name in ["config/site/style.css", "config/site/search.js",
                 "tests/bench/speed.svg", *pictures]:
        shutil.copy(os.path.join(sources, name), folder)
    print(os.path.join(folder, "index.html"))


if __name__ == "__main__":
    main(*sys.argv[1:])
