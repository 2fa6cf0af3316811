#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Completion in the shells offers the words that the commands know.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

command -v bash >/dev/null || skip_all 'there is no bash'
bash_file=$top_srcdir/scripts/completion/apsmpi
zsh_file=$top_srcdir/scripts/completion/_apsmpi

mkdir bin
ln -s "$apsmpi" "$top_builddir/scripts/apsmpi-run" \
    "$top_srcdir/scripts/apsmpi-lab" bin
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$PYTHON3" "$report" >bin/apsmpi-report
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$PYTHON3" "$layers_command" >bin/apsmpi-layers
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$PYTHON3" "$suggest" >bin/apsmpi-suggest
chmod +x bin/apsmpi-report bin/apsmpi-layers bin/apsmpi-suggest
PATH=$tmp/bin:$PATH
export PATH
: >policy.yaml
: >roundoff.csv

# complete WORD...: bash's offers for the last word, one a line, in `out`
complete()
{
    # shellcheck disable=SC2016 # for bash
    timed bash -c '. "$1" && shift && COMP_WORDS=("$@") &&
        COMP_CWORD=$(($# - 1)) && _apsmpi "$1" "${COMP_WORDS[COMP_CWORD]}" \
            "${COMP_WORDS[COMP_CWORD - 1]}" &&
        { [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"; }' \
        bash "$bash_file" "$@"
}

# offers WORDS: exactly these are offered, in any order
offers()
{
    empty err && equal "$(sort out | paste -s -d ' ')" "$1"
}

# known COMMAND...: prints the command's long options, by its help
known()
{
    "$@" --help | sed -n 's/^  *\(-[a-z][ A-Z]*, \)\{0,1\}\(--[a-z-]*\).*/\2/p' |
        sort -u | paste -s -d ' '
}

for command in 'apsmpi check' 'apsmpi explain' 'apsmpi formats' 'apsmpi cast' \
    'apsmpi info' 'apsmpi bench' apsmpi-run apsmpi-lab; do
    # shellcheck disable=SC2086 # words
    { complete $command --; words=$(known $command); }
    check "$command: its options" offers "$words"
    check '... are some' has out --help
    check '... and --version' has out --version
done
if "$PYTHON3" -c '' 2>/dev/null; then
    complete apsmpi-report --
    check 'apsmpi-report: its options' offers "$(known apsmpi-report)"
    complete apsmpi-report ro
    check '... its logs' offers roundoff.csv
    complete apsmpi-report --by ''
    words=$(sort out | paste -s -d ' ')
    apsmpi-report --help >help
    check '... the values of --by' equal "$words" "$(sed -n \
        's/^  --by {\(.*\)}$/\1/p' help | tr , '\n' | sort | paste -s -d ' ')"
fi

if "$PYTHON3" -c '' 2>/dev/null; then
    complete apsmpi-suggest --
    check 'apsmpi-suggest: its options' offers "$(known apsmpi-suggest)"
    complete apsmpi-suggest ro
    check '... its logs' offers roundoff.csv
    complete apsmpi-suggest --order ''
    check '... the values of --order' offers 'any backward ddp forward'
    complete apsmpi suggest ro
    check 'apsmpi suggest: a log' offers roundoff.csv
fi

if "$PYTHON3" -c '' 2>/dev/null; then
    complete apsmpi-layers --
    check 'apsmpi-layers: its options' offers "$(known apsmpi-layers)"
    complete apsmpi-layers po
    check '... its model' offers policy.yaml
    complete apsmpi-layers --order ''
    check '... the values of --order' offers 'any backward ddp forward'
fi

complete apsmpi ''
subcommands=$("$apsmpi" help |
    sed -n '/^subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
# shellcheck disable=SC2086 # words
check 'apsmpi: its subcommands' offers \
    "$(printf '%s\n' --help --version $subcommands | sort | paste -s -d ' ')"
complete apsmpi help ex
check 'apsmpi help: a subcommand' offers explain
complete apsmpi check po
check 'apsmpi check: a file' offers policy.yaml
complete apsmpi explain --epochs ''
check 'apsmpi explain: an option takes what follows it' offers ''
complete apsmpi bench --json po
check 'apsmpi bench: a file for --json' offers policy.yaml
complete apsmpi explain --json --cou
check '... which has no value elsewhere' offers --counts
complete apsmpi formats e4m3
check 'apsmpi formats: a format' offers 'e4m3 e4m3fn'
complete apsmpi cast --rounding s
check 'apsmpi cast: a rounding' offers stochastic
complete apsmpi cast --seed 3 e4m3
check '... and after options a format' offers 'e4m3 e4m3fn'
complete apsmpi cast --seed = 3 --rounding zero e4m3
check '... with values behind =, too' offers 'e4m3 e4m3fn'
complete apsmpi cast e4m3 e4
check '... but one alone' offers ''

complete apsmpi-run --policy po
check 'apsmpi-run: a policy' offers policy.yaml
complete apsmpi-run --policy = po
check '... behind =, which bash makes a word' offers policy.yaml
complete apsmpi-run --on-error ''
check '... the values of --on-error' offers 'pass stop'
complete apsmpi-run -q -p policy.yaml apsmpi-rep
check '... the command' offers apsmpi-report
complete apsmpi-run -p policy.yaml mpiexec -n 2 po
check '... its words' offers policy.yaml
complete apsmpi-lab --hosts 2 -- po
check 'apsmpi-lab: the program' has out policy

# zsh_offers NAME WORDS WORD...: exactly WORDS are offered for the last WORD.
# zsh's own completion needs a terminal, so stand-ins replace its functions.
zsh_offers()
{
    name=$1 words=$2
    shift 2
    if ! command -v zsh >/dev/null; then
        skip "zsh: $name" 'there is no zsh'
        return
    fi
    # shellcheck disable=SC2016 # for zsh
    timed zsh -f -c 'fpath=($1 $fpath) && shift
        compadd() { [[ $1 != -- ]] || shift; print -rl -- "$@" }
        compset() { : }
        _files() { print -rl -- *(N) }
        _message() { : }
        _normal() { print -rl -- *(N) "$words[1]" }
        autoload -Uz _apsmpi && words=("$@") CURRENT=$# service=$1
        for word in ${(f)"$(_apsmpi)"}; do
            [[ $word != "${words[CURRENT]#--*=}"* ]] || print -r -- "$word"
        done' zsh "${zsh_file%/*}" "$@"
    check "zsh: $name" offers "$words"
}

# shellcheck disable=SC2086 # words
zsh_offers 'apsmpi: its subcommands' \
    "$(printf '%s\n' --help --version $subcommands | sort | paste -s -d ' ')" \
    apsmpi ''
zsh_offers 'apsmpi help: a subcommand' explain apsmpi help ex
zsh_offers 'apsmpi check: a file' policy.yaml apsmpi check po
zsh_offers 'apsmpi check: its options' "$(known apsmpi check)" apsmpi check --
zsh_offers 'apsmpi explain: an option takes what follows it' '' \
    apsmpi explain --epochs ''
zsh_offers 'apsmpi bench: a file for --json' policy.yaml apsmpi bench --json po
zsh_offers 'apsmpi formats: a format' 'e4m3 e4m3fn' apsmpi formats e4m3
zsh_offers 'apsmpi cast: a rounding' stochastic apsmpi cast --rounding s
zsh_offers 'apsmpi cast: a rounding behind =' stochastic \
    apsmpi cast --rounding=s
zsh_offers 'apsmpi cast: after options a format' 'e4m3 e4m3fn' \
    apsmpi cast --seed 3 --rounding=zero e4m3
zsh_offers 'apsmpi cast: one format alone' '' apsmpi cast e4m3 e4
zsh_offers 'apsmpi-run: its options' "$(known apsmpi-run)" apsmpi-run --
zsh_offers 'apsmpi-run: a policy' policy.yaml apsmpi-run --policy po
zsh_offers 'apsmpi-run: a policy behind =' policy.yaml apsmpi-run --policy=po
zsh_offers 'apsmpi-run: the values of --on-error' 'pass stop' \
    apsmpi-run --on-error ''
zsh_offers 'apsmpi-run: words of the command' policy.yaml \
    apsmpi-run -p policy.yaml mpiexec -n 2 po
zsh_offers 'apsmpi-run: options of the command are not its own' mpiexec \
    apsmpi-run -p policy.yaml mpiexec --by m
zsh_offers 'apsmpi-lab: its options' "$(known apsmpi-lab)" apsmpi-lab --
zsh_offers 'apsmpi-lab: words of the program' policy.yaml \
    apsmpi-lab --hosts 2 -- mpiexec po
zsh_offers 'apsmpi-report: a log' roundoff.csv apsmpi-report ro
zsh_offers 'apsmpi-suggest: a log' roundoff.csv apsmpi-suggest ro
zsh_offers 'apsmpi-layers: the values of --order' 'any backward ddp forward' \
    apsmpi-layers --order ''
zsh_offers 'apsmpi-layers: its model' roundoff.csv apsmpi-layers ro
zsh_offers 'apsmpi-report: the values of --by' 'epoch format layer step' \
    apsmpi-report --by ''

# values FILE: prints the names of the values that options take
values()
{
    sed -n '/^_apsmpi_value/,/^}/p' "$1" | grep -oE -e '--?[a-z][a-z-]*' | sort -u
}
check 'zsh and bash know the same options with values' equal \
    "$(values "$zsh_file")" "$(values "$bash_file")"
# The options of the help that have an argument.
for command in 'apsmpi cast' 'apsmpi explain' 'apsmpi bench' apsmpi-run apsmpi-lab; do
    # shellcheck disable=SC2086 # words
    for option in $($command --help | sed -n \
        's/^  *\(-[a-z], \)\{0,1\}\(--[a-z-]*\) [A-Z].*/\2/p'); do
        check "$command: $option takes a value" \
            grep -q -E -e "$option( |\)|\$)" "$bash_file"
    done
done

finish
