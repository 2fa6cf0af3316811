# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts that build: leaves the tree's path in $top.
#
# configure, make and libtool refuse some paths, and autoreconf writes beside the
# sources. In a tree whose path has anything but letters, digits and _./+@-, or
# that cannot be written to, the script names a copy and goes on there; each run
# brings the copy up to date and keeps what was built in it.
#
# shellcheck shell=sh

# is_safe PATH: true if all tools of the build accept it
is_safe()
{
    [ -z "$(printf %s "$1" | LC_ALL=C tr -d '0-9A-Za-z_./+@\200-\377-')" ]
}

# go_on_in_copy ARG...: runs the same script in a copy of the tree.
go_on_in_copy()
{
    copies=${TMPDIR:-/tmp}
    is_safe "$copies" || copies=/tmp
    copies=$copies/apsmpi-$(id -u)
    mkdir -p -m 700 "$copies"
    [ -O "$copies" ] || { echo "$copies is another user's" >&2; exit 1; }
    copy=$copies/$(printf %s "$top" | cksum | tr ' ' -)
    echo "==> nothing can be built in '$top': building in a copy, $copy"
    mkdir -p "$copy"
    tar -C "$top" --exclude=./build --exclude='./build-*' --mode=u+w -cf - . |
        tar -C "$copy" --no-same-owner -xvf - | grep -v '/$' |
        LC_ALL=C sort >"$copy.new"
    if [ -f "$copy.files" ]; then # those that the tree has no longer
        LC_ALL=C comm -23 "$copy.files" "$copy.new" |
            (cd "$copy" && tr '\n' '\0' | xargs -0 rm -f)
    fi
    mv "$copy.new" "$copy.files"
    exec "$copy/scripts/${0##*/}" "$@"
}

top=$(cd "$(dirname "$0")/.." && pwd -P)
{ [ -w "$top" ] && is_safe "$top"; } || go_on_in_copy "$@"
