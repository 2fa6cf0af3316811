#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The output of `apsmpi check` for each policy of data/policies.txt. A section
# there begins with "=== NAME", continues with the policy, and ends with the
# output, each line after "> ". After an intended change of the output,
#
# RENEW=yes make -C build check TESTS=tests/e2e/t-policies.sh
#
# writes the new output into the file, and `git diff` shows the change.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

policies=$top_srcdir/tests/e2e/data/policies.txt
printf 'layer,name,count\n0,conv.weight,9408\n1,conv.bias,64\n2,fc.weight,20480\n' \
    >table.csv

awk '/^=== / { n++; print substr($0, 5) >(n ".name"); next }
     n == 0 { print >"head"; next }
     /^> / { print substr($0, 3) >(n ".wanted"); next }
     { print >(n ".yaml") }' "$policies"

cat head >renewed
n=1
while [ -e $n.name ]; do
    cp $n.yaml policy.yaml
    timed "$apsmpi" check policy.yaml
    cat err out | sed "s/$PACKAGE_VERSION/VERSION/g" >$n.said
    { printf '=== ' && cat $n.name $n.yaml && sed 's/^/> /' $n.said; } >>renewed
    if [ "${RENEW:-no}" = yes ]; then
        cp $n.said $n.wanted
    fi
    check "$(cat $n.name)" diff $n.wanted $n.said
    case $(cat $n.said) in
    *': ok: '*) check '... and it is accepted' status_is 0 ;;
    *) check '... and it is refused' status_is 1 ;;
    esac
    n=$((n + 1))
done
check 'there are fifty policies at least' [ $n -gt 50 ]
if [ "${RENEW:-no}" = yes ]; then
    cp renewed "$policies"
elif [ "$failures" -gt 0 ]; then
    diag 'on purpose? RENEW=yes make check TESTS=tests/e2e/t-policies.sh'
fi
finish
