# SPDX-License-Identifier: BSD-3-Clause
# Calls that block while a nonblocking reduction is under way let it progress.
. "$top_srcdir/tests/mpi/run.sh"
cd "$tmp" || exit 99

for progress in calls thread; do
    can_be_driven || [ $progress = thread ] || continue
    cat >"$tmp/policy.yaml" <<END
version: 1
progress: $progress
rules: [{format: e5m10, reduce: direct}]
END
    for mode in calls threads; do
        run "progress $progress, $mode" 2 \
            -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/meanwhile" $mode
    done
    run "progress $progress, 4 MiB of thread-local variables" 2 \
        -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/meanwhile_locals" calls
    cat >"$tmp/gather.yaml" <<END
version: 1
progress: $progress
rules: [{format: e5m10}, {format: e5m10, calls: allgather}]
END
    run "progress $progress, a message before its call" 3 \
        -genv APSMPI_POLICY "$tmp/gather.yaml" "$mpi/early_message"
done

# The library starts its thread, which progresses meanwhile, at the second try.
if can_be_driven; then
    sed -i 's/^progress:.*/progress: calls/' "$tmp/policy.yaml"
    library=$mpi/.libs/inject.so:$library
    run "no thread at first" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -genv INJECT fail:pthread_create:0:1 "$mpi/meanwhile" threads again
    grep -q 'a progress thread could not be started' "$tmp/stderr"
    check $? "... which is reported"
fi
finish
