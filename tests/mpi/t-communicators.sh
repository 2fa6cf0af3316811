# SPDX-License-Identifier: BSD-3-Clause
# Every communicator has its own state, which is freed with it.
. "$top_srcdir/tests/mpi/run.sh"

seconds=${APS_TEST_TIMEOUT:-180}

while read -r ranks nodes reduce arguments; do
    case $MPI,$arguments in
    openmpi,nonblocking*)
        skip "$arguments" "Open MPI (4.1) does not survive communicators that \
are freed before their calls are complete"
        continue
        ;;
    esac
    cat >"$tmp/policy.yaml" <<END
version: 1
min_count: 1
steps: {calls: 2}
rules:
  - {layers: 0, format: e3m0, scale: none, reduce: $reduce}
END
    # shellcheck disable=SC2086 # none or one argument
    run "$ranks ranks, nodes $nodes, $reduce $arguments" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" "$mpi/communicators" $arguments
done <<END
2 1 hierarchical
3 1 direct
4 1 direct
4 2 hierarchical
2 1 hierarchical recreated 500
2 2 hierarchical recreated 500
2 1 direct recreated 2500
2 1 direct nonblocking 2500
3 1 direct nonblocking 500
END
finish
