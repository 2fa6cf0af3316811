# SPDX-License-Identifier: BSD-3-Clause
# Sourced by stubs t-*.sh whose policies have one rule each, and which read the
# log of a call.

. "$top_srcdir/tests/mpi/run.sh"

# policy RULE SETTING
policy()
{
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
$2
rules: [{$1}]
END
}

# logged_policy RULE: a policy whose calls each leave a row in a new log
logged_policy()
{
    policy "$1" "log: {file: $tmp/log.csv, every: 1}"
    rm -f "$tmp/log.csv"
}

# logged COLUMN: the column of all rows of the log
logged()
{
    awk -F, -v column="$1" '
        /^time,/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        !/^#/ { print $at[column] }' "$tmp/log.csv"
}

# check_sent NAME BYTES: in the log's one call rank 0 has sent BYTES
check_sent()
{
    sent=$(logged wire_bytes)
    [ "$sent" = "$2" ]
    check $? "$1: rank 0 sends $2 bytes"
    [ "$sent" = "$2" ] || echo "# sent: $sent" >&2
}
