# SPDX-License-Identifier: BSD-3-Clause
# Random bits of roundings: each communicator draws other bits, and every run of
# a program the same ones, whatever calls are reduced together.
. "$top_srcdir/tests/mpi/run.sh"

# rounded SEED, ternary SEED: a rule that draws random bits
rounded()
{
    echo "format: e4m3, reduce: $reduce, rounding: {stochastic: $1}"
}
ternary()
{
    echo "reduce: $reduce, compress: {ternary: {clip: 0, seed: $1}}"
}

# bits NAME RANKS FUSE WAY: sets $results
bits()
{
    progress=calls
    can_be_driven || progress=thread
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
progress: $progress
fuse: $3
rules:
  - {max_count: 1000, $($rule 1)}
  - {max_count: 2000, $($rule 2)}
  - {max_count: 3000, format: e4m3, reduce: $reduce}
  - {max_count: 4000, format: e4m3, reduce: $reduce, rounding: {correlated: 1}}
END
    run "$1" "$2" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES 1 "$mpi/random_bits" "$4"
    results=$(sed -n 's/^# results //p' "$tmp/stdout" "$tmp/stderr")
}

while read -r ranks reduce rule; do
    bits "$rule, $reduce, $ranks ranks, blocking" "$ranks" off blocking
    first=$results
    [ "$(echo "$first" | wc -w)" -eq 2 ]
    check $? "$rule, $reduce: there are results"
    bits "$rule, $reduce, $ranks ranks, again" "$ranks" off blocking
    [ "$results" = "$first" ]
    check $? "$rule, $reduce: the same program twice draws the same bits"
    bits "$rule, $reduce, $ranks ranks, nonblocking" "$ranks" 64KiB nonblocking
    [ "$results" = "$first" ]
    check $? "$rule, $reduce: calls that go together draw the same bits"
done <<END
2 direct rounded
3 hierarchical rounded
3 ring rounded
3 direct ternary
2 gather ternary
END
finish
