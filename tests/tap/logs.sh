# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests/mpi/run.sh and tests/e2e/lib.sh: the logs that a test leaves.
#
#   logs_left FOLDER    their names, a line each; nothing where pandas is missing
#   logs_read NAMES     pandas reads them all, with the results of the csv module
#
# shellcheck shell=sh disable=SC2154 # of those who source it

logs_left()
{
    names=$(find "$1" -name '*.csv' -size -20480k \
        -exec grep -l '^time,comm,step,' {} +)
    [ -z "$names" ] || ! "${PYTHON3:-python3}" -c 'import pandas' 2>/dev/null ||
        printf '%s\n' "$names"
}

logs_read()
(
    IFS='
' # names may have blanks
    # shellcheck disable=SC2086 # a list of names
    "${PYTHON3:-python3}" -W ignore "$top_srcdir/tests/tap/logs.py" $1
)
