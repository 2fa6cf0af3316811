#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Without a policy the library watches, and writes a policy to begin with.
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
check '... both' test -s apsmpi-discovered-layers.csv
check '... and nothing else does' equal "$(find . -name 'apsmpi-*' | wc -l)" 2
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

finish
