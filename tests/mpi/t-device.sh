# SPDX-License-Identifier: BSD-3-Clause
# Buffers in GPU memory, with stand-ins for CUDA's driver and the plugin
# (tests/standin): code that touches such memory by the CPU crashes.
. "$top_srcdir/tests/mpi/run.sh"

standin=$top_builddir/tests/standin/.libs
complaint="buffers in GPU memory are encoded by the host, after a copy"

# device NAME RANKS ARG...: with the stand-in driver
device()
{
    device_name=$1
    device_ranks=$2
    shift 2
    run "$device_name" "$device_ranks" -genv LD_LIBRARY_PATH "$standin" "$@"
}

progress=calls
can_be_driven || progress=thread

# The plugin or the host does what the driver cannot do.
"$mpi/device" policy >"$tmp/sums.yaml"
while read -r ranks nodes plugin; do
    device "$ranks ranks, nodes $nodes, $plugin" "$ranks" \
        -genv APSMPI_POLICY "$tmp/sums.yaml" -genv APSMPI_TEST_NODES "$nodes" \
        -genv APSMPI_CUDA "$standin/$plugin.so" "$mpi/device" sums
    if [ "$plugin" = plugin ]; then
        says "^standin: the plugin works" "$ranks" "$ranks ranks: by the plugin"
        says "$complaint" 0 "$ranks ranks: without a word"
    else
        says "^apsmpi: MPI_COMM_WORLD: $complaint: .*/none.so: cannot open" 1 \
            "$ranks ranks: it says why"
    fi
done <<END
2 1 plugin
3 2 none
4 2:cyclic plugin
5 2 none
5 1 plugin
END

# The program's cudaMemcpy returns before it ends.
while read -r ranks plugin ipc; do
    device "unsettled, $plugin, IPC $ipc" "$ranks" \
        -genv APSMPI_POLICY "$tmp/sums.yaml" -genv APSMPI_CUDA_IPC "$ipc" \
        -genv APSMPI_CUDA "$standin/$plugin.so" "$mpi/device" unsettled
done <<END
2 none on
2 plugin on
3 plugin off
END

# No call adds work to the program's captures, or ends them.
while read -r ranks plugin ipc; do
    device "captured, $plugin, IPC $ipc" "$ranks" \
        -genv APSMPI_POLICY "$tmp/sums.yaml" -genv APSMPI_CUDA_IPC "$ipc" \
        -genv APSMPI_CUDA "$standin/$plugin.so" "$mpi/device" captured
done <<END
2 none on
3 none on
2 plugin on
3 plugin off
END

# The number of waits for the GPU does not depend on the ranks.
plain=$library
while read -r ranks reduce how; do
    printf 'version: 1\nrules: [{format: e5m2, scale: aps, reduce: %s}]\n' \
        "$reduce" >"$tmp/waits.yaml"
    [ -z "$how" ] || library=$plain:$standin/libaware.so
    device "waits, $ranks ranks${how:+, $how}" "$ranks" \
        -genv APSMPI_POLICY "$tmp/waits.yaml" \
        -genv APSMPI_CUDA "$standin/plugin.so" "$mpi/device" waits $how
done <<END
2 hierarchical
8 hierarchical
2 direct aware
8 direct aware
END
library=$plain
# Nor if the blocks are in host memory: one wait for the blocks that a chunk
# encodes, one for those that it decodes, and one for the scales of its blocks
# if each has its own.
while read -r ranks nodes reduce scale how; do
    printf 'version: 1\nrules: [{format: e5m2, scale: %s, reduce: %s}]\n' \
        "$scale" "$reduce" >"$tmp/waits.yaml"
    device "waits, $ranks ranks, $reduce, $scale, nodes $nodes, by the host" \
        "$ranks" -genv APSMPI_POLICY "$tmp/waits.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" -genv APSMPI_CUDA_IPC off \
        -genv APSMPI_CUDA "$standin/plugin.so" "$mpi/device" waits "$how"
done <<END
2 1 direct aps 32768:2:2:0
4 1 direct aps-tight 65536:4:4:1
2 1 hierarchical aps-tight 131072:2:2:1
2 1 hierarchical aps 262144:2:2:0
4 1 hierarchical aps 262144:4:4:0
4 2 hierarchical aps 65536:2:4:0
END

# The ranks of a node open each other's memory, or report why not.
shared()
{
    shared_name=$1
    shared_opened=$2
    shift 2
    device "$shared_name" 3 -genv APSMPI_POLICY "$tmp/sums.yaml" \
        -genv STANDIN_TELL 1 -genv APSMPI_CUDA "$standin/plugin.so" "$@"
    says "^standin: .* opened $shared_opened, encoded" 3 \
        "$shared_name: opened $shared_opened"
}
# The sums do not depend on the encoder, nor on the memory of the blocks.
sums_of()
{
    grep '^# sum' "$tmp/stdout"
}
while read -r long_name rule; do
    printf 'version: 1\nrules: [{%s}]\n' "$rule" >"$tmp/long.yaml"
    run "$long_name, no GPU" 2 -genv APSMPI_POLICY "$tmp/long.yaml" \
        "$mpi/device" plain
    sums_of >"$tmp/sums.plain"
    # Random bits depend on the number of a call.
    mode=long
    case $rule in
    *rounding*) mode=alone ;;
    esac
    plain=$library
    for how in "" aware host; do
        ipc=on
        case $how in
        aware) library=$library:$standin/libaware.so ;;
        host) # direct has blocks in host memory in any case
            library=$plain ipc=off
            case $long_name in direct*) continue ;; esac
            ;;
        esac
        device "$long_name, GPU${how:+, $how}" 2 -genv APSMPI_CUDA_IPC $ipc \
            -genv APSMPI_POLICY "$tmp/long.yaml" \
            -genv APSMPI_CUDA "$standin/plugin.so" "$mpi/device" $mode
        [ -s "$tmp/sums.plain" ] && sums_of | cmp - "$tmp/sums.plain" >&2
        check $? "$long_name, GPU${how:+, $how}: the sums are those without"
    done
    library=$plain
done <<END
hierarchical-tight format: e4m3, scale: aps-tight, reduce: hierarchical
hierarchical-aps format: e5m2, scale: aps, reduce: hierarchical
hierarchical-marked format: e3m0, scale: aps, reduce: hierarchical
direct-tight format: e4m3, scale: aps-tight, reduce: direct
direct-marked format: e3m0, scale: none, reduce: direct
hierarchical-history format: e4m3, scale: {backoff: {max: 2^7, min: 2^7}}, reduce: hierarchical
direct-history format: e4m3, scale: {backoff: {max: 2^7, min: 2^7}}, reduce: direct
hierarchical-blocks format: bfp7/576, reduce: hierarchical
direct-blocks format: mx-e4m3fn, reduce: direct
direct-nvfp4 format: nvfp4, reduce: direct
hierarchical-nvfp4 format: nvfp4, reduce: hierarchical
hierarchical-longest format: bfp4/4096, reduce: hierarchical
direct-longest format: bfp4/4096, reduce: direct
hierarchical-correlated format: mx-e2m1fn, rounding: correlated, reduce: hierarchical
direct-stochastic format: bfp3/64, rounding: stochastic, reduce: direct
hierarchical-integers format: flex16, scale: aps, reduce: hierarchical
direct-integers format: flex8, scale: aps, rounding: correlated, reduce: direct
direct-correlated format: e4m3, scale: aps, rounding: correlated, reduce: direct
END

cannot="^apsmpi: GPUs cannot share memory: "
shared "long" 2 "$mpi/device" long more
says "$cannot" 0 "long: without a word"
says "^apsmpi: .* of it from GPU memory" 1 "long: in the summary"
shared "long, two nodes" "[01]" -genv APSMPI_TEST_NODES 2 "$mpi/device" long more
shared "not shared" 0 -genv APSMPI_CUDA_IPC off "$mpi/device" long
says "$cannot" 0 "not shared: without a word"
says "^apsmpi: .* of it from GPU memory" 0 "not shared: nor a summary of it"
shared "no rank can offer" 0 -genv STANDIN_IPC fail "$mpi/device" long
says "${cannot}the stand-in was told not to offer" 1 "no rank can offer: why"
shared "rank 1 cannot open" "[012]" -genv STANDIN_IPC fail:1 "$mpi/device" long
says "${cannot}the stand-in was told not to open" 1 "rank 1 cannot open: why"
shared "rank 1 opens garbage" "[012]" -genv STANDIN_IPC garbage:1 \
    "$mpi/device" long
says "${cannot}memory of another rank's GPU opens, but does not have what" 1 \
    "rank 1 opens garbage: why"
shared "rank 1 resets its device" 2 -genv STANDIN_DEVICE reset:1 \
    "$mpi/device" long
shared "rank 2 has no room" 0 -genv STANDIN_DEVICE full:2 "$mpi/device" long
says "${cannot}out of memory" 1 "rank 2 has no room: why"
sed "s/^rules:/progress: $progress\nrules:/" "$tmp/sums.yaml" \
    >"$tmp/failing.yaml"
device "failing, shared" 3 -genv APSMPI_POLICY "$tmp/failing.yaml" \
    -genv APSMPI_CUDA "$standin/plugin.so" "$mpi/device" failing shared

# MPI that is CUDA-aware gets wire bytes in the device's memory.
plain=$library
library=$library:$standin/libaware.so
for nodes in 1 2 3:cyclic; do
    device "aware, nodes $nodes" 3 -genv APSMPI_POLICY "$tmp/sums.yaml" \
        -genv APSMPI_TEST_NODES "$nodes" -genv STANDIN_TELL 1 \
        -genv APSMPI_CUDA "$standin/plugin.so" "$mpi/device" sums
    says "^standin: [1-9][0-9]* messages from or to the device" 3 \
        "aware, nodes $nodes: messages in its memory"
done
device "failing, aware" 3 -genv APSMPI_POLICY "$tmp/failing.yaml" \
    -genv APSMPI_CUDA "$standin/plugin.so" "$mpi/device" failing aware
device "aware, no room" 2 -genv APSMPI_POLICY "$tmp/sums.yaml" \
    -genv STANDIN_TELL 1 -genv STANDIN_DEVICE full:1 \
    -genv APSMPI_CUDA "$standin/plugin.so" "$mpi/device" sums
told='encoded bytes cannot lie in GPU memory: out of memory: MPI gets'
says "^apsmpi: rank 1: $told" 1 \
    "aware, no memory: it is reported"
library=$plain

cat >"$tmp/others.yaml" <<END
version: 1
min_count: 1
rules: [{calls: [reduce_scatter, allgather, reduce, bcast], format: e4m3, scale: aps}]
END
device "others, plugin" 3 -genv APSMPI_POLICY "$tmp/others.yaml" \
    -genv APSMPI_CUDA "$standin/plugin.so" "$mpi/device" others
says "^apsmpi: .* none rewritten" 0 "others: all kinds were rewritten"
device "others, no plugin" 4 -genv APSMPI_POLICY "$tmp/others.yaml" \
    -genv APSMPI_CUDA_AWARE yes "$mpi/device" others
says "$complaint" 1 "others: it says that there is no plugin"

for fuse in off 64KiB 4MiB; do
    for plugin in plugin none; do
        cat >"$tmp/nonblocking.yaml" <<END
version: 1
progress: $progress
fuse: $fuse
rules: [{format: e4m3, scale: aps, reduce: direct}]
END
        device "nonblocking, fuse $fuse, $plugin" 3 \
            -genv APSMPI_POLICY "$tmp/nonblocking.yaml" \
            -genv APSMPI_CUDA "$standin/$plugin.so" "$mpi/device" nonblocking
    done
done
sed 's/^progress: .*/progress: thread/' "$tmp/nonblocking.yaml" \
    >"$tmp/thread.yaml"
device "nonblocking, by a thread" 2 -genv APSMPI_POLICY "$tmp/thread.yaml" \
    -genv APSMPI_CUDA "$standin/plugin.so" "$mpi/device" nonblocking

# The log's rows equal those of the same calls on host memory, except times and
# the name of the run.
{
    cat "$tmp/sums.yaml"
    cat <<END
  - calls: [reduce_scatter, allgather, reduce]
    format: e4m3
log: {file: unused, every: 1}
END
} >"$tmp/log.yaml"
for where in host device; do
    device "log, $where" 3 -genv APSMPI_POLICY "$tmp/log.yaml" \
        -genv APSMPI_LOG "$tmp/$where.csv" \
        -genv APSMPI_CUDA "$standin/plugin.so" "$mpi/device" log $where
    grep -v '^#' "$tmp/$where.csv" | cut -d, -f2-21,24-39 >"$tmp/$where.rows"
    [ $where = device ] ||
        says "^standin: the plugin works" 0 "host memory asks for no plugin"
done
[ "$(grep -c . "$tmp/host.rows")" -eq 73 ]
check $? "the log has every call"
cmp "$tmp/host.rows" "$tmp/device.rows" >&2
check $? "the log of calls on device memory is that of calls on host memory"

# MPI is not aware: calls that pass through are staged, with a policy and without.
device "passed" 2 "$mpi/device" passed
device "passed, by a switch" 3 -genv APSMPI_CUDA_AWARE no "$mpi/device" passed
# Host memory that replaces GPU buffers is locked, and kept.
device "passed, plugin" 2 -genv APSMPI_CUDA "$standin/plugin.so" \
    -genv STANDIN_TELL 1 "$mpi/device" passed
says "^standin: .* pinned [1-9][0-9]*, kept [1-9][0-9]*$" 2 "passed: by locked memory"
device "passed, not locked" 2 -genv APSMPI_CUDA "$standin/plugin.so" \
    -genv STANDIN_TELL 1 -genv STANDIN_PIN fail "$mpi/device" passed
says "^standin: .* pinned 0, kept 0$" 2 "passed: by memory that is not locked"
cat >"$tmp/none.yaml" <<END
version: 1
progress: $progress
rules: [{format: fp32}]
END
device "passed, by rule" 3 -genv APSMPI_POLICY "$tmp/none.yaml" \
    "$mpi/device" passed
# MPI is aware: it gets the program's buffers.
# shellcheck disable=SC2086 # two words
timeout "$seconds" $launch -genv LD_PRELOAD "$library" \
    -genv LD_LIBRARY_PATH "$standin" -genv APSMPI_CUDA_AWARE yes \
    -n 1 "$mpi/device" aware </dev/null >"$tmp/stdout" 2>"$tmp/stderr"
grep -q '^# MPI touches the buffer itself' "$tmp/stdout"
check $? "an MPI that is aware gets the buffer as it is"
ours=$library
library=$library:$standin/libaware.so
device "passed to an MPI that is aware" 2 -genv APSMPI_CUDA "$standin/plugin.so" \
    -genv STANDIN_TELL 1 "$mpi/device" passed
says "^standin: 0 messages .* device, [1-9][0-9]* buffers" 2 "it has got them"
says "^standin: the plugin works" 0 "nothing is staged for it"
library=$ours

# Causes that disable the plugin.
why()
{
    why_name=$1
    why_pattern=$2
    shift 2
    device "$why_name" 2 -genv APSMPI_POLICY "$tmp/none8.yaml" \
        -genv APSMPI_LOG "$tmp/why.csv" "$@" "$mpi/device" log device
    says "^apsmpi: MPI_COMM_WORLD: $complaint: $why_pattern" 1 \
        "$why_name: it is reported once"
    grep -q "^# .*: $complaint: $why_pattern" "$tmp/why.csv"
    check $? "$why_name: in the log, too"
    rm -f "$tmp/why.csv"
}
cat >"$tmp/none8.yaml" <<END
version: 1
log: {file: unused, every: 100}
rules: [{format: e5m2}]
END
why "another interface" ".*plugin-interface.so has interface 0000000000000063" \
    -genv APSMPI_CUDA "$standin/plugin-interface.so"
why "another compiler" ".*plugin-sizes.so has other sizes of structs" \
    -genv APSMPI_CUDA "$standin/plugin-sizes.so"
why "another version" ".*plugin-version.so is of version 0.0.1" \
    -genv APSMPI_CUDA "$standin/plugin-version.so"
why "no plugin at all" ".*libcuda.so.1 is not a plugin of apsmpi" \
    -genv APSMPI_CUDA "$standin/libcuda.so.1"
why "it does not open" "the driver is too old" -genv STANDIN_OPEN fail \
    -genv APSMPI_CUDA "$standin/plugin.so"

# Elements of other types: encoded where they are, or after a copy.
while read -r ranks reduce plugin; do
    cat >"$tmp/types.yaml" <<YAML
version: 1
rules: [{types: [bf16, fp16, double], format: e4m3, scale: aps, reduce: $reduce}]
YAML
    device "types, $ranks ranks, $reduce, $plugin" "$ranks" \
        -genv APSMPI_POLICY "$tmp/types.yaml" -genv STANDIN_TELL 1 \
        -genv APSMPI_CUDA "$standin/$plugin.so" "$mpi/device" types
    if [ "$plugin" = plugin ]; then
        says "^standin: .* and [1-9][0-9]* to the host" "$ranks" \
            "types, $ranks ranks, $reduce: by the plugin"
        says "$complaint" 0 "types, $ranks ranks, $reduce: without a word"
    else
        says "^apsmpi: MPI_COMM_WORLD: $complaint: .*/none.so: cannot open" 1 \
            "types, $ranks ranks, $reduce: it says why"
    fi
done <<END
2 hierarchical plugin
3 direct plugin
4 ring none
END

# Doubles of a wide format pass through the host, and never through FP32.
while read -r ranks reduce plugin; do
    cat >"$tmp/types.yaml" <<YAML
version: 1
rules:
  - {types: double, format: e11m44, reduce: $reduce}
  - {types: [bf16, fp16], format: e4m3, scale: aps}
YAML
    device "e11m44, $ranks ranks, $reduce, $plugin" "$ranks" \
        -genv APSMPI_POLICY "$tmp/types.yaml" \
        -genv APSMPI_CUDA "$standin/$plugin.so" "$mpi/device" types
    says 'rewritten (100\.0 %' 1 "e11m44, $ranks ranks, $reduce: all calls"
done <<END
2 hierarchical plugin
3 gather plugin
4 ring none
END

# Copies fail: that rank gets an error, and no rank hangs.
for plugin in plugin none; do
    device "failing, $plugin" 3 -genv APSMPI_POLICY "$tmp/failing.yaml" \
        -genv APSMPI_CUDA "$standin/$plugin.so" "$mpi/device" failing
    said=$(grep -c "^apsmpi: rank 1: .*GPU memory cannot be" "$tmp/stderr")
    [ "$said" -ge 10 ]
    check $? "failing, $plugin: rank 1 reports it"
    says "^apsmpi: rank [02]: .*GPU memory cannot be" 0 \
        "failing, $plugin: no other rank does"
done
finish
