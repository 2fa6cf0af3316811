#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program in a locale with decimal commas gets decimal points from the library: in
# lines, the log and the final policy.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

mkdir locales
for name in de_DE tr_TR; do
    localedef -c -i $name -f UTF-8 locales/$name.UTF-8 >reason 2>&1
    [ -d locales/$name.UTF-8 ] || skip_all "no locale $name: $(tail -n 1 reason)"
done
cat >program.c <<'END'
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    static float x[4096];
    const char *name = argv[1];
    int late = argc > 2;
    if (!late && !setlocale(LC_ALL, name))
        return 3;
    MPI_Init(&argc, &argv);
    if (late && !setlocale(LC_ALL, name))
        return 3;
    for (int i = 0; i < 40; i++) {
        MPI_Request request;
        for (int k = 0; k < 4096; k++)
            x[k] = (k * k % 1000 + 1) * 1e-3f;
        MPI_Iallreduce(MPI_IN_PLACE, x, 4096, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(MPI_IN_PLACE, x, 2048, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    }
    printf("%.1f\n", 0.5);
    MPI_Finalize();
    return 0;
}
END
"$MPICC" -w -o program program.c || exit 1

# no_comma FILE: no number has a decimal comma
no_comma()
{
    ! grep -E '[0-9],[0-9]+( |%|$)' "$1"
}
policy mstopk.yaml -t 'log: {file: mstopk.csv, every: 1}' -t 'steps: auto' \
    'format: e4m3, compress: {mstopk: 0.015}'
job 2 APSMPI_POLICY=mstopk.yaml LOCPATH="$tmp/locales" LC_ALL= \
    ./program de_DE.UTF-8
check 'the program has decimal commas' equal "$(sort -u out)" 0,5
check 'a summary has decimal points' no_comma err
check '... in its percentages' grep -q 'rewritten (92\.5 %, ' err
check 'the log has decimal points' grep -q 'mstopk 0\.015' mstopk.csv
policy auto.yaml -t 'log: {file: auto.csv, every: 1}' -t 'steps: none' \
    'format: {auto: [e3m0, e6m9], target: snr 20.5dB}'
job 2 APSMPI_POLICY=auto.yaml LOCPATH="$tmp/locales" ./program de_DE.UTF-8
check 'the lines about formats have decimal points' no_comma err
check 'the final policy has decimal points' no_comma auto-policy.yaml
check '... and is a policy' "$apsmpi" check auto-policy.yaml

# tolower('I') is not i in Turkish, in which some MPIs cannot begin.
rm -f mstopk.csv
job 2 APSMPI_POLICY=mstopk.yaml LOCPATH="$tmp/locales" ./program tr_TR.UTF-8 late
check 'the log has the usual names of calls in Turkish, too' equal \
    "$(distinct call mstopk.csv | sort | tr '\n' ' ')" 'allreduce iallreduce '
finish
