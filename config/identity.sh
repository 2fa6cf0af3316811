#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# identity.sh TOP NAME FILE...: prints a C header that defines NAME as a number
# that stands for the bytes of these files of the tree at TOP, the same on every
# machine. The length is in its low 32 bits, a checksum above. Files that are
# named twice count once; those of pmpi/entry/ and pmpi/native/ do not count,
# because they differ from MPI to MPI and say nothing to other ranks.
set -e
LC_ALL=C
export LC_ALL
top=$1
name=$2
shift 2
files=$(for file; do printf '%s\n' "${file#"$top"/}"; done |
    grep -v -e '^pmpi/entry/' -e '^pmpi/native/' | sort -u)
cd "$top"
# shellcheck disable=SC2086 # names of files, one a word
cat $files | cksum | {
    read -r sum length
    printf '/* Made by config/identity.sh from these files:\n'
    printf '%s\n' "$files" | sed 's/^/ * /'
    printf ' */\n#define %s 0x%08x%08xu\n' "$name" "$sum" "$length"
}
