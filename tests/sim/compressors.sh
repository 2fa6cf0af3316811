# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by scripts of tests/sim after simulate.sh: the policies under which
# compressors are simulated.
#
#   policies TABLE     prints their paths; a rule that this version does not know is
#                      left out, with a line on standard error
#   step NODES RANKS GBIT [--ports] [--model] POLICY...

rules()
{
    cat <<'RULES'
e8m23-ring format: e8m23, reduce: ring
e5m2-ring format: e5m2, scale: aps, reduce: ring
e5m2-direct format: e5m2, scale: aps, reduce: direct
e5m2-hierarchical format: e5m2, scale: aps, reduce: hierarchical
powersgd-1 feedback: on, compress: {powersgd: {rank: 1}}
powersgd-4 feedback: on, compress: {powersgd: {rank: 4}}
mstopk-gather feedback: on, reduce: gather, compress: {mstopk: 0.01}
mstopk-direct feedback: on, reduce: direct, compress: {mstopk: 0.01}
mstopk-hierarchical feedback: on, reduce: hierarchical, compress: {mstopk: 0.01}
ternary-direct feedback: on, reduce: direct, compress: ternary
ternary-hierarchical feedback: on, reduce: hierarchical, compress: ternary
RULES
}

policies()
{
    rules | while read -r name rule; do
        printf 'version: 1\nmin_count: 1\ntable: %s\nrules: [{%s}]\n' "$1" \
            "$rule" >"$tmp/$name.yaml"
        if "$top_builddir/apsmpi" check "$tmp/$name.yaml" >/dev/null \
            2>"$tmp/err"; then
            echo "$tmp/$name.yaml"
        else
            echo "# $name is not in this version: $(head -n 1 "$tmp/err")" >&2
        fi
    done
}

# Policies whose messages have a length that depends only on lengths and ranks:
# only these can be simulated without computing.
of_known_length()
{
    printf '%s\n' "$@" | grep -v '/mstopk-[dh][^/]*$'
}

# step NODES RANKS GBIT [--ports] [--model] POLICY...: native MPI uses a ring.
# With --ports messages use the network of ports.h, not SimGrid's; with --model
# SimGrid gives all arrays of a megabyte the same memory.
step()
{
    nodes=$1 ranks=$2 gbit=$3 ports=
    shift 3
    if [ "$1" = --ports ]; then
        ports="--ports $gbit"
        shift
    fi
    fold=0
    [ "$1" != --model ] || fold=1048576
    # shellcheck disable=SC2086 # $ports is two words, or none
    simulate "$nodes" "$ranks" "$gbit" \
        --cfg=smpi/auto-shared-malloc-thresh:$fold \
        --cfg=smpi/shared-malloc-blocksize:4194304 \
        --cfg=smpi/allreduce:lr \
        "$sim/compressors" "$gradients" $ports "$@"
}
