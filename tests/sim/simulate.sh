# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by the scripts of tests/sim: runs a program on a simulated cluster.
#
#   . "${top_srcdir:-.}/tests/sim/simulate.sh"
#   simulate 32 8 10 "$sim/times" "$gradients" 65536
#
# $sim is the directory of the programs, $gradients the stored file, $tmp a
# directory of the script's own, removed at its end.

sim=$top_builddir/tests/sim
gradients=$top_srcdir/tests/sim/gradients.bin
tmp=$(mktemp -d "${TMPDIR:-/tmp}/apsmpi-sim.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM

# Skips all tests without the simulator.
skip_without_simgrid()
{
    [ -n "$SIMGRID_SKIP" ] || return 0
    echo "1..0 # SKIP $SIMGRID_SKIP"
    exit 0
}

# platform NODES RANKS GBIT: hosts with RANKS cores at one switch that never is
# the bottleneck. A message crosses two links of 1 us, which carry GBIT in each
# direction; inside a host it has one of 0.2 us and 10 GB/s for itself.
platform()
{
    cat <<END
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="host" suffix="" radical="0-$(($1 - 1))"
           speed="1Gf" core="$2" bw="$3Gbps" lat="1us"
           loopback_bw="10GBps" loopback_lat="200ns"/>
</platform>
END
}

# hosts NODES RANKS: ranks fill one host after the other.
hosts()
{
    host=0
    while [ "$host" -lt "$1" ]; do
        echo "host$host:$2"
        host=$((host + 1))
    done
}

# simulate NODES RANKS GBIT PROGRAM ARG...: RANKS ranks on every host.
#
# Nothing depends on the machine that simulates: model.h gives the time of
# computing. Bandwidth and latency are the platform's (no correction factors of
# some old cluster), and the directions of a link are independent. Events within
# 10 ns are one. Collectives work like MPICH's; its bcast, which only sets up
# communicators here, would take the simulator minutes.
simulate()
{
    nodes=$1 ranks=$2 gbit=$3
    shift 3
    platform "$nodes" "$ranks" "$gbit" >"$tmp/platform.xml"
    hosts "$nodes" "$ranks" >"$tmp/hosts"
    (cd "$tmp" && TMPDIR=$tmp exec "$SMPIRUN" -np $((nodes * ranks)) \
        -platform platform.xml -hostfile hosts \
        --log=root.thres:warning \
        --cfg=smpi/privatization:dlopen \
        --cfg=smpi/simulate-computation:no \
        --cfg=smpi/bw-factor:0:1 \
        --cfg=smpi/lat-factor:0:1 \
        --cfg=network/crosstraffic:0 \
        --cfg=network/optim:Full \
        --cfg=surf/precision:1e-8 \
        --cfg=smpi/coll-selector:mpich \
        --cfg=smpi/bcast:binomial_tree \
        "$@") </dev/null
}

# over_size NODES RANKS GBIT [--model] COUNT...: time over size, on the network
# of ports.h. The collective calls of agreements take log2 p rounds; with
# --model SimGrid gives all arrays of some megabytes the same memory.
over_size()
{
    nodes=$1 ranks=$2 gbit=$3
    shift 3
    fold=0
    [ "$1" != --model ] || fold=4194304
    simulate "$nodes" "$ranks" "$gbit" \
        --cfg=smpi/auto-shared-malloc-thresh:$fold \
        --cfg=smpi/shared-malloc-blocksize:4194304 \
        --cfg=smpi/allreduce:rdb \
        "$sim/scale" "$gradients" "$gbit" "$@"
}
