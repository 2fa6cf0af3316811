# SPDX-License-Identifier: BSD-3-Clause
# Buffers in the memory of a real GPU, through the plugin, if it was built, and
# through the host; t-device.sh runs the same tests without a GPU.
. "$top_srcdir/tests/mpi/run.sh"

plugin=$top_builddir/.libs/libapsmpi-cuda.so
complaint="buffers in GPU memory are encoded by the host, after a copy"
if [ ! -e /dev/nvidiactl ]; then
    echo "1..0 # SKIP no GPU here"
    exit 0
fi
[ -e "$plugin" ] || skip "by the plugin" "$plugin was not built"

"$mpi/device" policy >"$tmp/sums.yaml"
cat >"$tmp/others.yaml" <<END
version: 1
min_count: 1
rules: [{calls: [reduce_scatter, allgather, reduce, bcast], format: e4m3, scale: aps}]
END
progress=calls
can_be_driven || progress=thread
cat >"$tmp/types.yaml" <<END
version: 1
rules: [{types: [bf16, fp16, double], format: e4m3, scale: aps}]
END
cat >"$tmp/nonblocking.yaml" <<END
version: 1
progress: $progress
fuse: 4MiB
rules: [{format: e4m3, scale: aps, reduce: direct}]
END
for ranks in 2 4; do
    for where in "$plugin" none; do
        for mode in sums unsettled captured others types nonblocking; do
            { [ "$where" = none ] || [ -e "$where" ]; } || continue
            policy=$tmp/$mode.yaml
            [ -e "$policy" ] || policy=$tmp/sums.yaml
            run "$ranks ranks, $mode, ${where##*/}" "$ranks" \
                -genv APSMPI_CUDA "$where" \
                -genv APSMPI_POLICY "$policy" "$mpi/device" $mode
            times=1
            [ "$where" = none ] || times=0
            says "$complaint" "$times" \
                "$ranks ranks, $mode: it says who encodes"
        done
    done
    # Ranks that share the GPUs' memory, if they may, and ranks that do not.
    [ -e "$plugin" ] || continue
    for shared in on off; do
        run "$ranks ranks, long, memory shared: $shared" "$ranks" \
            -genv APSMPI_CUDA_IPC $shared -genv APSMPI_CUDA "$plugin" \
            -genv APSMPI_POLICY "$tmp/sums.yaml" "$mpi/device" long
        grep -h "^apsmpi: .*\(from GPU memory\|cannot share\)" "$tmp/stderr" |
            sed 's/^/# /'
    done
    run "$ranks ranks, passed" "$ranks" -genv APSMPI_CUDA_AWARE no \
        "$mpi/device" passed
done
finish
