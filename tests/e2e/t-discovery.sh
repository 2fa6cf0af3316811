#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Without a policy the library watches, and writes an initial policy.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

# Tensors of 8192, 128, 16384, 128, 1280 and 10 elements: three large ones, all
# different.
wide="$digits --hidden 128"

native 2 $wide --epochs 1
cp out native

job 2 $wide --epochs 1
check 'discovery leaves the results alone' cmp native out
check '... and names the files' lines 1 err apsmpi-discovered.yaml
check '... which exist' test -s apsmpi-discovered.yaml
check '... the table' test -s apsmpi-discovered-layers.csv
check '... the same reversed' test -s apsmpi-discovered-layers-reversed.csv
check '... and nothing else does' equal "$(find . -name 'apsmpi-*' | wc -l)" 3
check '... in which order the layers come' lines 1 err 'the first layer first'
check '... with the layers of a step' equal \
    "$(grep -v '^#' apsmpi-discovered-layers.csv | cut -d, -f1,3 | tr '\n' ' ')" \
    'layer,count 0,8192 1,128 2,16384 3,128 4,1280 5,10 '
"$apsmpi" check apsmpi-discovered.yaml >out 2>err
status=$?
check 'apsmpi check accepts the policy' status_is 0
check '... without warnings' empty err
timed "$apsmpi" explain apsmpi-discovered.yaml
check 'apsmpi explain explains it' status_is 0

cp apsmpi-discovered.yaml policy.copy
cp apsmpi-discovered-layers.csv layers.copy
job 2 APSMPI_POLICY=apsmpi-discovered.yaml $wide --epochs 1
check 'a job under this policy' trained
check '... rewrites the large layers but the last one' rewritten 22
check '... without desync' not has err desync
check '... and keeps a log' equal "$(distinct layer roundoff.csv)" '0 2'

job 2 $wide --epochs 1
check 'existing files are not overwritten' cmp policy.copy apsmpi-discovered.yaml
check '... nor the table' cmp layers.copy apsmpi-discovered-layers.csv
check '... the new ones have a number' lines 1 err apsmpi-discovered-1.yaml
timed "$apsmpi" check apsmpi-discovered-1.yaml
check '... and find their own table' status_is 0

job 2 APSMPI_DISCOVERY=mine $wide --epochs 1
check 'APSMPI_DISCOVERY names the files' test -s mine.yaml
check '... both' test -s mine-layers.csv
mkdir folder
job 2 APSMPI_DISCOVERY="$tmp/folder/net" $wide --epochs 1
timed "$apsmpi" check folder/net.yaml
check '... also in a folder' status_is 0

mkdir quiet
cd quiet || exit 1
job 2 APSMPI_DISCOVERY=off $wide --epochs 1
check 'APSMPI_DISCOVERY=off writes nothing' equal \
    "$(find . -name '*.yaml' -o -name '*.csv')" ''
check '... and says nothing but the summary' equal "$(wc -l <err)" 1
cd .. || exit 1

job 2 APSMPI_DISCOVERY=none/net $wide --epochs 1
check 'where the files cannot be written, the job goes on' cmp native out
check '... with one message' lines 1 err 'discovery cannot write none/net'
check '... with the cause' has err 'No such file or directory'
check '... besides the summary' equal "$(wc -l <err)" 2

mkdir locked
chmod a-w locked
if [ -w locked ]; then
    skip 'a folder without write permission' 'this user writes everywhere'
else
    job 2 sh -c 'cd locked && exec "$@"' sh $wide --epochs 1
    check 'a folder without write permission' lines 1 err \
        'Permission denied'
fi

job 3 APSMPI_DISCOVERY=short "$probe" sums 2
check 'a job without a step writes nothing' equal "$(find . -name 'short*')" ''
check '... and reports it' lines 1 err 'but no step repeats'

# --- the last layer first -----------------------------------------------------

job 2 APSMPI_DISCOVERY=back $wide --epochs 1 --order backward
check 'calls in backward order: it is seen' lines 1 err 'the last layer first'
check '... the policy says so' lines 1 back.yaml 'steps: {order: backward}'
check '... the table has the first layer first' equal \
    "$(grep -v '^#' back-layers.csv | cut -d, -f3 | tr '\n' ' ')" \
    'count 128 8192 128 16384 10 1280 '
check '... the other one the last' equal \
    "$(grep -v '^#' back-layers-reversed.csv | cut -d, -f3 | tr '\n' ' ')" \
    'count 1280 10 16384 128 8192 128 '
check '... and the classifier stays in FP32, with its share' has back.yaml \
    '  - layers: 5  # the last large layer of the network stays FP32: 4.9 %'
rm -f roundoff.csv
job 2 APSMPI_POLICY=back.yaml $wide --epochs 1 --order backward
check '... which a job does' equal "$(distinct layer roundoff.csv)" '1 3'
check '... without desync' not has err desync

# The lines for the other order make a policy, too. The last layer is then one of
# 8192 elements, a third of all.
sed -e '/^table:/d' -e '/^steps:/d' -e 's/^#   \(table:\)/\1/' \
    -e 's/^#   steps: {order: forward}/steps: {order: forward}/' \
    -e '/- layers: 5 /,+1d' back.yaml >swapped.yaml
timed "$apsmpi" check swapped.yaml
check '... with the lines for the other order it is right, too' status_is 0
check '... and its last large layer is too large for FP32' has back.yaml \
    '# and no layer stays FP32.'

# A single large layer is not the classifier, at any place.
cat >single.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    static float x[4096];
    MPI_Init(&argc, &argv);
    for (int call = 0; call < 40; call++)
        MPI_Allreduce(MPI_IN_PLACE, x, call % 2 ? 4096 : 100, MPI_FLOAT,
                      MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -o single single.c || exit 1
job 2 APSMPI_DISCOVERY=single ./single
check 'one large layer: no line keeps it in FP32' not has single.yaml '- layers:'
job 2 APSMPI_POLICY=single.yaml ./single
check '... and the policy rewrites it' rewritten 20

# A last layer of a fifth of the elements is not left in FP32.
sed 's/x\[4096\]/x[16000]/; s/4096 : 100/16000 : 4000/' single.c >most.c
"$MPICC" -o most most.c || exit 1
job 2 APSMPI_DISCOVERY=most ./most
check 'a last layer of 20.0 %: a comment has its share' has most.yaml \
    '# Layer 1, the last large one of the network, has 20.0 % of all elements,'
check '... and its rule' has most.yaml '#   - {layers: 1, format: fp32}'
job 2 APSMPI_POLICY=most.yaml ./most
check '... and the policy rewrites it' rewritten 40

# Two layers of one size look like a step of one call: the library reports that
# when discovery finds the step and when layers are measured.
cat >alike.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    static float x[2][4096];
    MPI_Init(&argc, &argv);
    for (int call = 0; call < 40; call++) {
        x[call % 2][call] = 1;
        MPI_Allreduce(MPI_IN_PLACE, x[call % 2], 4096, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -o alike alike.c || exit 1
job 2 APSMPI_DISCOVERY=alike ./alike
check 'layers of one size are a step of one call' lines 1 err \
    'repeats a step of 1 call: the layers are in'
check '... of which the line says what it may be' lines 1 err \
    'several calls of equal size in a step would look the same, and be one layer'
check '... and the skeleton' has alike.yaml '#   steps: {calls: 2}'
check '... which says nothing of an order' not has alike.yaml 'first layer'
sed -e '/^table:/d' -e 's/^steps:.*/steps: {calls: 2}/' alike.yaml >told.yaml
timed "$apsmpi" check told.yaml
check '... whose line makes a policy' status_is 0
check 'one that tells layers apart says nothing of it' not has \
    apsmpi-discovered.yaml 'look like this'
# measured NAME STEPS TOP...: checks the layers in the log, and whether the
# summary reports that they may be several
measured()
{
    name=$1 steps=$2
    shift 2
    printf 'version: 1\nlog: {file: measured.csv, every: 2}\n' >measured.yaml
    [ -z "$steps" ] || echo "steps: $steps" >>measured.yaml
    printf '%s\n' "$@" >>measured.yaml
    rm -f measured*.csv
    timed "$apsmpi" explain measured.yaml
    notes=$(tr '\n' ' ' <out | grep -c 'count as one layer')
    job 2 APSMPI_POLICY=measured.yaml ./alike
    equal "$(distinct layer measured.csv), summary \
$(grep -c 'layers: calls of equal size were measured as one layer' err), explain \
$notes" "$name"
}
shadow='shadow: [e5m2]'
auto='rules: [{format: {auto: [e4m3, e5m10], target: snr 20dB, every: 4}}]'
for top in "$shadow" "$auto"; do
    check "${top%%:*}: steps: auto finds one layer, which the summary and explain say" \
        measured '0, summary 1, explain 1' '' "$top"
    check '... steps: none knows one by its size' \
        measured '-1, summary 1, explain 1' none "$top"
    check '... steps: {calls: 2} knows both' \
        measured '0 1, summary 0, explain 0' '{calls: 2}' "$top"
done

# --- sizes that vary ----------------------------------------------------------

# Steps of 5 layers, in calls of one or more of them: at random, or (`odd`) with
# a loss among them.
cat >fusing.c <<'END'
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv)
{
    static const int layers[] = {4096, 64, 8192, 2048, 10};
    static float x[16384];
    unsigned state = 1;
    MPI_Init(&argc, &argv);
    for (int step = 0; step < 40; step++) {
        int run = 0;
        for (int i = 0; i < 5; i++) {
            run += layers[i];
            state = state * 1664525u + 1013904223u;
            if (i < 4 && state >> 30 != 0)
                continue;
            MPI_Allreduce(MPI_IN_PLACE, x, run, MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
            run = 0;
        }
        if (argc > 1 && state >> 31)
            MPI_Allreduce(MPI_IN_PLACE, x, 9 + step % 7, MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -o fusing fusing.c || exit 1
job 2 APSMPI_DISCOVERY=vary ./fusing
check 'sizes that vary are reported' lines 1 err \
    'makes calls whose sizes vary, and repeats a step of 5 layers'
check '... and what they are made of' equal \
    "$(grep -v '^#' vary-layers.csv | cut -d, -f3 | tr '\n' ' ')" \
    'count 4096 64 8192 2048 10 '
rm -f roundoff.csv
job 2 APSMPI_POLICY=vary.yaml ./fusing
check '... a job uses it, without desync' not has err desync
check '... all large layers are rewritten: the last one has a third of all' equal \
    "$(distinct layer roundoff.csv)" '0 2 3'
job 2 APSMPI_DISCOVERY=odd ./fusing odd
check 'sizes that nothing explains: a line lists them' lines 1 err \
    'no step repeats, and no row of layers explains the sizes'
check '... no file is written' equal "$(find . -name 'odd*')" ''

finish
