# SPDX-License-Identifier: BSD-3-Clause
# The programs that the figures train: gradients by hand equal finite
# differences, both programs learn, and `heads` loses a head when it must.
. "$top_srcdir/tests/mpi/run.sh"
apps=$top_srcdir/tests/apps

# heads WEIGHT ARG...: runs two ranks; the output is left in $tmp/stdout.
heads()
{
    weight=$1
    shift
    # shellcheck disable=SC2086 # two words
    timeout "$seconds" $launch -n 2 "$@" "$top_builddir/tests/apps/heads" \
        "$apps/digits.csv" 1 4 32 "$weight" \
        </dev/null >"$tmp/stdout" 2>"$tmp/stderr"
    status=$?
    [ $status -eq 0 ] || show_errors
}

# learns DIGIT ODD: the accuracies are at least DIGIT and ODD per cent.
learns()
{
    awk -v digit="$1" -v odd="$2" \
        '{ exit !($2 >= digit && $4 >= odd) }' "$tmp/stdout"
}

if "$PYTHON3" -c 'import numpy, mpi4py' 2>/dev/null; then
    "$PYTHON3" "$apps/characters.py" --check "$apps/README.md" \
        "$apps/characters.py" >"$tmp/stdout" 2>"$tmp/stderr"
    check $? 'characters: gradients are those of finite differences'
    # shellcheck disable=SC2086 # two words
    timeout "$seconds" $launch -n 2 "$PYTHON3" "$apps/characters.py" \
        --steps 20 --width 32 "$apps/characters.py" \
        </dev/null >"$tmp/stdout" 2>"$tmp/stderr"
    check $? 'characters: two ranks train'
    awk '/^step/ { loss[n++] = $4 }
         END { exit !(n == 2 && loss[1] < loss[0] && loss[1] < 3.6) }' \
        "$tmp/stdout"
    check $? '... and the loss falls'
else
    skip 'characters: gradients' 'numpy or mpi4py is missing'
fi

heads 0
learns 80 80
check $? 'heads: both heads learn'
heads -12
learns 80 70
check $? 'heads: so they do with the second loss times 2^-12'

printf 'version: 1\nmin_count: 1\nrules: [{format: e3m2, scale: %s}]\n' none \
    >"$tmp/none.yaml"
sed 's/none/aps-tight/' "$tmp/none.yaml" >"$tmp/tight.yaml"
heads -12 -genv LD_PRELOAD "$library" -genv APSMPI_POLICY "$tmp/none.yaml"
[ $status -eq 0 ] && ! learns 80 70
check $? 'heads: e3m2 without a scale loses a head'
heads -12 -genv LD_PRELOAD "$library" -genv APSMPI_POLICY "$tmp/tight.yaml"
[ $status -eq 0 ] && learns 80 70
check $? 'heads: e3m2 with aps-tight keeps both'
finish
