/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds sections that have all words of the field; index.js has the sections as
 * [page, anchor, title, text in small letters]. */
const field = document.getElementById("search");
const found = document.getElementById("found");
field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word);
    const title = (row) => `${row[0]} ${row[2]}`.toLowerCase();
    const score = (row) => words.filter((word) => title(row).includes(word)).length;
    const rows = words.length === 0 ? [] : SECTIONS.filter((row) =>
        words.every((word) => row[3].includes(word) || title(row).includes(word)));
    rows.sort((a, b) => score(b) - score(a));
    found.replaceChildren(...rows.slice(0, 20).map((row) => {
        const line = document.createElement("p");
        const link = document.createElement("a");
        link.href = `${row[0]}.html#${row[1]}`;
        link.textContent = `${row[0]}: ${row[2]}`;
        line.append(link);
        return line;
    }));
    if (words.length > 0 && rows.length === 0)
        found.textContent = "No section has all these words.";
});
