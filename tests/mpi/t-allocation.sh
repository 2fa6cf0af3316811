# SPDX-License-Identifier: BSD-3-Clause
# Steps allocate nothing, and nothing is lost over time.
. "$top_srcdir/tests/mpi/run.sh"

# policy REDUCE EVERY: sampled every so many steps, 0: never
policy()
{
    {
        printf 'version: 1\nmin_count: 1\n'
        [ "$2" -eq 0 ] || printf 'log: {file: "%s", every: %s}\n' \
            "$tmp/log.csv" "$2"
        printf 'rules: [{format: e4m3, reduce: %s, scale: aps}]\n' "$1"
    } >"$tmp/policy.yaml"
    rm -f "$tmp/log.csv"
}

while read -r ranks nodes reduce every; do
    policy "$reduce" "$every"
    run "$ranks ranks, nodes $nodes, $reduce, sampled every $every" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/allocation"
done <<END
2 1 direct 0
2 1 direct 1
2 1 hierarchical 0
2 1 hierarchical 1
4 2 hierarchical 0
4 2 hierarchical 1
END

for reduce in direct hierarchical; do
    policy "$reduce" 0
    run "100000 calls, $reduce" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/allocation" 100000
done

# What valgrind has to say of the library; MPI itself is noisy.
# records FILE...: each record of valgrind with a frame of ours, which shows a
# path of the source tree or, without debugging information, the library's. What
# MPI makes once when it begins, and for a key, it may keep to the end.
records()
{
    sed 's/^==[0-9]*== *//' "$@" |
        awk '/^$/ { print record; record = "" }
             { record = record " | " $0 }
             END { print record }' |
        grep -E '/libapsmpi|/pmpi/[a-z]+\.c|/src/[a-z]+/[a-z]+\.[ch]:' |
        grep -v -E 'definitely lost.* PMPI_(Init|Init_thread|Comm_create_keyval) ' |
        grep -E 'Invalid|uninitialised|overlap|indirectly|definitely'
}

if ! command -v valgrind >/dev/null; then
    skip "valgrind" "valgrind is not installed"
    finish
fi
for reduce in direct hierarchical; do
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
steps: {calls: 2}
rules: [{layers: 0, format: e3m0, scale: none, reduce: $reduce}]
END
    rm -f "$tmp"/valgrind.*
    run "valgrind, $reduce" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_LOG "$tmp/log.csv" \
        valgrind --leak-check=full --fullpath-after= \
        --log-file="$tmp/valgrind.%p" "$mpi/communicators"
    [ "$(cat "$tmp"/valgrind.* | grep -c 'LEAK SUMMARY\|no leaks are')" -eq 2 ]
    check $? "valgrind, $reduce: it came to its end on both ranks"
    records "$tmp"/valgrind.* >"$tmp/records"
    [ ! -s "$tmp/records" ]
    check $? "valgrind, $reduce: no leak, no bad access in libapsmpi.so"
    sed 's/^/# /' "$tmp/records" >&2
done
finish
