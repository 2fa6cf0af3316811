#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi-run: the commands that it starts, and those that it refuses to start.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

script=$top_builddir/scripts/apsmpi-run
# Under names that need no quotes in what the script prints.
built=$library library=$tmp/libapsmpi.so counter=$tmp/counter.so
ln -s "$built" "$library"
ln -s "$top_builddir/tests/e2e/.libs/counter.so" "$counter"

# run ARGUMENTS...: runs apsmpi-run of the build tree
run()
{
    timed "$script" --library "$library" "$@"
}

# variable NAME VALUE: mpiexec's option for one
variable()
{
    case $MPI in
    openmpi) echo "-x $1=$2" ;;
    *) echo "-genv $1 $2" ;;
    esac
}

policy good.yaml 'format: e4m3, scale: aps'
policy bad.yaml 'format: e9m9'

# --- options ------------------------------------------------------------------

timed "$script" --help
check '--help' status_is 0
check '... shows the usage' has out 'usage: apsmpi-run'
timed "$script" --version
check '--version' equal "$(cat out)" "apsmpi-run $PACKAGE_VERSION"

run
check 'without a command it shows the usage' has err 'usage: apsmpi-run'
check '... and fails' status_is 125
run $MPIEXEC
check 'without a program, too' status_is 125
run --polcy good.yaml $MPIEXEC -n 1 true
check 'an unknown option is named' has err 'unknown option --polcy'
check '... and fails' status_is 125
for option in -policy -log=x.csv -shadow -quiet; do
    run $option good.yaml $MPIEXEC -n 1 true
    check "$option: which option may be meant" has err \
        "unknown option $option; did you mean -$option?"
    check '... fails' status_is 125
done
run --log none/x.csv $MPIEXEC -n 1 true
check 'a log in no folder: a warning' lines 1 err \
    'warning: --log none/x.csv: there is no directory none here'
check '... the command runs' status_is 0
printf 'version: 1\nlog: none/x.csv\nrules: [{format: e4m3}]\n' >nowhere.yaml
run -p nowhere.yaml $MPIEXEC -n 1 true
check '... of the policy, too' lines 1 err \
    "nowhere.yaml: warning: log: there is no directory 'none' here"
run -p
check 'an option without its value' has err '-p needs a value'
check '... fails' status_is 125
for option in -p --log --library; do
    run $option '' $MPIEXEC -n 1 true
    check "an empty value of $option" has err "$option needs a value"
    check '... fails' status_is 125
done
timed "$script" --library ./none.so $MPIEXEC -n 1 true
check 'a library that does not exist' has err 'cannot read ./none.so'
check '... fails' status_is 125
timed "$script" --library "$apsmpi" $MPIEXEC -n 1 true
check 'a program is not a library' has err "$apsmpi is not libapsmpi.so"
check '... and starts nothing' status_is 125
timed "$script" --library . $MPIEXEC -n 1 true
check 'a directory, neither' status_is 125
mkdir 'a place'
for place in 'a place' a:place; do
    mkdir -p "$place"
    ln -s "$library" "$place/libapsmpi.so"
    timed "$script" --library "$place/libapsmpi.so" $MPIEXEC -n 1 true
    check "a library that the loader would part in two: $place" has err \
        "$place/libapsmpi.so: the loader parts LD_PRELOAD at blanks and colons"
    check '... starts nothing' status_is 125
done
echo PMPI_Isend APSMPI_POLICY >text.so
timed "$script" --library text.so $MPIEXEC -n 1 true
check 'a file that the loader refuses' has err 'cannot preload the file'
check '... starts nothing' status_is 125
ln -s "$library" ours.so
timed "$script" --library ours.so -n $MPIEXEC -n 1 true
check 'the path of a library becomes absolute' has out "$tmp/ours.so"
run true
check 'a command without a launcher' has err 'the command has no mpiexec'
check '... fails' status_is 125
run -n 4 $MPIEXEC ./train
check 'a number of ranks in the wrong place' \
    has err '4: no such command; -n is --dry-run here'
check '... starts nothing' status_is 127
run --shadow mpiexec -n 2 true
check 'a launcher in the place of formats' \
    has err "apsmpi-run: --shadow took 'mpiexec' as its value, which is not a format"
check '... starts nothing' status_is 125
run -s/usr/bin/mpiexec -n 2 true
check '... with its folder, behind -s' has err "-s took '/usr/bin/mpiexec' as its"
run "$top_srcdir/scripts/apsmpi-lab" --hosts 2 ./train
check 'apsmpi-lab without --' has err '-- is missing between the options of'
check '... starts nothing' failed
timed "$script" -qx
check 'an unknown letter is named' has err 'unknown option -x'
timed "$script" -h
check '-h is --help' has out 'usage: apsmpi-run'

# The status is that of env and timeout.
run no-such-mpiexec -n 1 true
check 'an mpiexec that does not exist' \
    has err 'apsmpi-run: no-such-mpiexec: no such command'
check '... has the status 127' status_is 127
run ./no/mpiexec -n 1 true
check '... with its folder, too' status_is 127
: >mpiexec
run ./mpiexec -n 1 true
check 'an mpiexec that cannot be executed' \
    has err 'apsmpi-run: ./mpiexec: the file cannot be executed'
check '... has the status 126' status_is 126
rm mpiexec

# --- the command that it starts -----------------------------------------------

run --dry-run mpiexec.none -n 2 ./train
check 'a dry run needs a command that exists' status_is 127
run --dry-run $MPIEXEC -n 2 ./train --epochs 3
check 'a dry run prints the command' equal "$(cat out)" \
    "$MPIEXEC $(variable LD_PRELOAD "$library") -n 2 ./train --epochs 3"
run -n -p good.yaml -l log.csv -q --on-error pass $MPIEXEC -n 2 ./train
check '... with all options' equal "$(cat out)" \
    "$MPIEXEC $(variable LD_PRELOAD "$library") \
$(variable APSMPI_POLICY "$tmp/good.yaml") $(variable APSMPI_LOG log.csv) \
$(variable APSMPI_SUMMARY off) $(variable APSMPI_ON_ERROR pass) -n 2 ./train"
mv out separate
run -nqpgood.yaml -llog.csv --on-error pass $MPIEXEC -n 2 ./train
check '... with letters together and values behind them' cmp separate out
LD_PRELOAD=$counter
export LD_PRELOAD
run -n $MPIEXEC -n 1 ./train
unset LD_PRELOAD
check 'another library stays preloaded, after this one' has out \
    "$(variable LD_PRELOAD "$library:$counter") -n 1"

# Words of the command that would keep the library from the ranks.
for words in '-genv LD_PRELOAD a.so ./train' '-x LD_PRELOAD=a.so ./train' \
    '-x LD_PRELOAD ./train' 'env LD_PRELOAD=a.so ./train' \
    'env -u LD_PRELOAD ./train' '--env=LD_PRELOAD=a.so ./train'; do
    run -n $MPIEXEC $words
    check "$words" has err 'takes the place of the LD_PRELOAD of apsmpi-run: set'
    check '... starts nothing' status_is 125
done
for words in -i -iv '-u FOO -i' '--ignore-env A=B' 'A=B -i'; do
    run -n $MPIEXEC -n 2 env $words ./train
    check "env $words" has err 'in the command takes LD_PRELOAD from the program'
    check '... starts nothing' status_is 125
done
run -n $MPIEXEC -n 2 env -u i -u -i A=-i ./train -i
check 'other words of env and of the program' status_is 0
for option in --app -app; do
    [ "$MPI" = openmpi ] || break
    run -n $MPIEXEC $option file
    check "$option of Open MPI" has err 'does not give variables to the parts'
done
run -n $MPIEXEC -n 2 ./train "$library"
check 'a library as an argument' status_is 0
run -n $MPIEXEC -n 2 sh -c 'LD_PRELOAD= ls; ./train'
check 'words of a shell are left to the shell' status_is 0

# A program that contains MPI has the names of the settings of its all-reduce.
case $MPI in
openmpi) setting=allreduce_algorithm_segmentsize ;;
*) setting=MPIR_CVAR_ALLREDUCE ;;
esac
printf '\177ELF %s_DEVICE_COLLECTIVE' $setting >static
chmod +x static
run $MPIEXEC -n 2 ./static
check 'a program that is linked statically with MPI' has err \
    './static is linked statically with MPI'
check '... starts nothing' status_is 125
echo "export $setting=1" >static
run -n $MPIEXEC -n 2 ./static
check '... not a script that names the setting' status_is 0
found=
for file in $(ldd "$probe" | sed -n 's|.*=> \(/.*libmp.*\) (.*|\1|p'); do
    for part in "$file" "${file%/*}"/openmpi*/mca_coll_tuned.so \
        "${file%/*}"/openmpi*/*/mca_coll_tuned.so \
        "${file%/*}"/openmpi*/lib/openmpi*/mca_coll_tuned.so; do
        ! grep -a -q $setting "$part" 2>/dev/null || found=$part
    done
done
check '... by a setting that this MPI has' test -n "$found"

# A launcher that prints its words, each on a line of its own, and a version of
# that MPI.
mkdir -p mpich openmpi
for mpi in mpich openmpi; do
    cat >$mpi/mpiexec <<END
#!/bin/sh
[ "\$1" != --version ] || { cat '$tmp/$mpi/version'; exit; }
for word; do printf '[%s]\n' "\$word"; done
END
    chmod +x $mpi/mpiexec
done
echo 'HYDRA build details:' >mpich/version
echo 'mpiexec (OpenRTE) 4.1.4' >openmpi/version
run mpich/mpiexec ./train
check "MPICH's mpiexec gets -genv" equal "$(paste -s -d ' ' out)" \
    "[-genv] [LD_PRELOAD] [$library] [./train]"
run openmpi/mpiexec ./train
check "Open MPI's gets -x" equal "$(paste -s -d ' ' out)" \
    "[-x] [LD_PRELOAD=$library] [./train]"
echo nonsense >mpich/version
run mpich/mpiexec ./train
check 'any other gets what the MPI of the build takes' \
    equal "$(paste -s -d ' ' out)" \
    "$(variable LD_PRELOAD "$library" | sed 's/[^ ][^ ]*/[&]/g') [./train]"
printf '\177ELF libmpich.so.12' >for_mpich
printf '\177ELF libmpi.so.40' >for_openmpi
echo '# not linked with libmpich.so.12 or libmpi.so.40' >for_none
chmod +x for_*
run mpich/mpiexec ./for_none -n 2 ./for_mpich
check '... or what the program is linked with: MPICH' \
    equal "$(sed -n 1p out)" '[-genv]'
run mpich/mpiexec ./for_none -n 2 ./for_openmpi
check '... or Open MPI' equal "$(sed -n 1p out)" '[-x]'
run mpich/mpiexec -n 2 "$probe"
check '... the programs of the build, for example' equal "$(sed -n 1p out)" \
    "$(variable | sed 's/ .*//; s/.*/[&]/')"
run --policy=good.yaml --log=a=b.csv --on-error=pass openmpi/mpiexec ./train
check 'values behind =' equal "$(sed -n 4,8p out | paste -s -d ' ')" \
    "[APSMPI_POLICY=$tmp/good.yaml] [-x] [APSMPI_LOG=a=b.csv] [-x] \
[APSMPI_ON_ERROR=pass]"

# --- other launchers ----------------------------------------------------------

# Launchers that print their words, too.
mkdir others
for launcher in srun flux horovodrun mpirun mpiexec.hydra; do
    cp openmpi/mpiexec others/$launcher
done
before=$PATH
PATH=$tmp/others:$PATH
printf '\177ELF libmpich.so.12' >for_mpich
run -p good.yaml -q srun -N 1 ./train
check 'srun gets --export' equal "$(paste -s -d ' ' out)" \
    "[--export=ALL,LD_PRELOAD=$library,APSMPI_POLICY=$tmp/good.yaml,\
APSMPI_SUMMARY=off] [-N] [1] [./train]"
for words in --export=ALL,A=1 '-n 2 --export A'; do
    run srun $words ./train
    check "... not twice: $words" has err 'srun takes --export once'
    check '... and starts nothing' status_is 125
done
run srun -n 2 sh --export=A
check '... a program may have such an option' status_is 0
run -l a,b.csv srun ./train
check '... in which a comma would part a value' has err \
    'srun parts variables at commas'
check '... and starts nothing' status_is 125
run -p good.yaml flux run -n 2 ./train
check 'flux run gets --env' equal "$(paste -s -d ' ' out)" \
    "[run] [--env=LD_PRELOAD=$library] [--env=APSMPI_POLICY=$tmp/good.yaml] \
[-n] [2] [./train]"
run flux jobs
check '... only after run' has err 'run is missing after flux'
check '... and starts nothing' status_is 125
run -p good.yaml horovodrun -np 2 python3 train.py
check 'horovodrun gets the arguments of its mpirun' equal \
    "$(paste -s -d ' ' out)" \
    "[--mpi] [--mpi-args=-x LD_PRELOAD=$library \
-x APSMPI_POLICY=$tmp/good.yaml] [-np] [2] [python3] [train.py]"
run horovodrun --mpi-args='-x A' -np 2 ./train
check '... unless it has some' has err 'horovodrun takes --mpi-args once'
check '... and starts nothing' status_is 125
run mpirun -n 2 ./train
check "Open MPI's mpirun gets -x" equal "$(paste -s -d ' ' out)" \
    "[-x] [LD_PRELOAD=$library] [-n] [2] [./train]"
cp mpich/mpiexec others/mpiexec.hydra
echo 'HYDRA build details:' >mpich/version
run mpiexec.hydra -n 2 ./train
check 'mpiexec.hydra gets -genv' equal "$(paste -s -d ' ' out)" \
    "[-genv] [LD_PRELOAD] [$library] [-n] [2] [./train]"
PATH=$before
for launcher in srun flux horovodrun; do
    if command -v $launcher >/dev/null; then
        skip "$launcher, not installed" 'it is'
        continue
    fi
    run $launcher ./train
    check "$launcher, which is not installed" has err \
        "$launcher: this launcher is not installed"
    check '... has the status 127' status_is 127
done
run mpiexc -n 2 ./train
check 'a wrong name' has err 'mpiexc: no such command; did you mean mpiexec?'
run srunn -n 2 ./train
check '... of another launcher' has err 'did you mean srun?'
run --print-env -p good.yaml -l "it's.csv"
check '--print-env prints the variables, for any other launcher' equal \
    "$(cat out)" "LD_PRELOAD=$library
APSMPI_POLICY=$tmp/good.yaml
'APSMPI_LOG=it'\\''s.csv'"
check '... and starts nothing' status_is 0
run --print-env ./for_mpich
check '... also with a command' has out "LD_PRELOAD=$library"
run --print-env=slurm -p good.yaml -q
check '--print-env=slurm: one word' equal "$(cat out)" \
    "--export=ALL,LD_PRELOAD=$library,APSMPI_POLICY=$tmp/good.yaml,APSMPI_SUMMARY=off"
run --print-env=slurm -l a,b.csv
check '... refuses a comma' has err 'srun parts variables at commas, and one has a'
check '... fails' status_is 125
APPTAINER_BIND=/data timed "$script" --library "$library" --print-env=apptainer \
    -p good.yaml
check '--print-env=apptainer: variables and folders' equal "$(cat out)" \
    "APPTAINERENV_LD_PRELOAD=$library
APPTAINERENV_APSMPI_POLICY=$tmp/good.yaml
APPTAINER_BIND=/data,$tmp:$tmp:ro"
LD_PRELOAD="$top_builddir/tests/e2e/.libs/counter.so" timed "$script" \
    --library "$library" --print-env=docker -p good.yaml
check '--print-env=docker: options' equal "$(cat out)" \
    "--env=LD_PRELOAD=$library:$top_builddir/tests/e2e/.libs/counter.so
--env=APSMPI_POLICY=$tmp/good.yaml
--volume=$tmp:$tmp:ro
--volume=$top_builddir/tests/e2e/.libs:$top_builddir/tests/e2e/.libs:ro"
run --print-env=docker -p a:b.yaml --on-error pass
check '... refuses a colon' has err "and a name has one: $tmp/a:b.yaml"
check '... before it prints anything' empty out
check '... fails' status_is 125
run --print-env docker
check 'a form without =' has err "takes its form after '=': --print-env=docker"
run --print-env=podman
check 'a form that does not exist' has err \
    "--print-env must be sh|slurm|apptainer|docker, not 'podman'"
check '... fails' status_is 125

# Apptainer sets the variables like this, in a container without hwloc.
cat >apptainer <<END
#!/bin/sh
shift 2
for name in \$(env | sed -n 's/^APPTAINERENV_\([A-Z_]*\)=.*/\1/p'); do
    eval "export \$name=\"\\\$APPTAINERENV_\$name\""
done
LD_PRELOAD=\$LD_PRELOAD:$top_builddir/tests/e2e/.libs/no_hwloc.so exec "\$@"
END
chmod +x apptainer
policy groups.yaml 'format: e4m3, group: package'
for rule in good groups; do
    run --print-env=apptainer -p $rule.yaml
    # shellcheck disable=SC2046 # a list of words
    timed env $(cat out) $launch -n 2 ./apptainer exec image.sif "$probe" sums 2
    check "a job in a container, $rule.yaml" lines 1 out '2 sums right'
    mv err err.$rule
done
cp err.good err
check '... is rewritten' rewritten 2
cp err.groups err
check '... passes through if the policy needs hwloc' rewritten 0
check '... and says so, once' lines 1 err 'this host lacks libhwloc.so.15'
run true
check 'the error of a command without a launcher names --print-env' has err \
    'apsmpi-run --print-env'

# A dry run prints a line that a shell reads as the same words.
newline='
'
mkdir "$tmp/it's a dir"
set -- openmpi/mpiexec -n 2 ./train '' 'a b' "it's" '"$HOME"' '*' "a${newline}b" \
    "end$newline" '\n' '~' ';' '#x' '$(false)' 'a=b,c:d@e%f+g.h/i-j_k'
run -l 'my log.csv' "$@"
mv out words
run --dry-run -l 'my log.csv' "$@"
mv out line
timed sh -c "$(cat line)"
check 'a dry run can be pasted into a shell' cmp words out
check '... and has no quotes where none are needed' has line \
    ' a=b,c:d@e%f+g.h/i-j_k'

# --- running ------------------------------------------------------------------

run -p good.yaml -l log.csv $MPIEXEC -n 2 $digits --epochs 1
check 'a job' trained
check '... is rewritten' rewritten 66
check '... by this policy' equal "$(distinct format log.csv)" e4m3
run -q -p good.yaml $MPIEXEC -n 2 $digits --epochs 1
check '--quiet' empty err
check '... runs the same job' trained
run -- $MPIEXEC -n 2 $digits --epochs 1
check 'without a policy: discovery' lines 1 err 'none rewritten (no policy)'

run -p good.yaml $MPIEXEC -n 1 $digits --epochs 1 : -n 1 $digits --epochs 1
check 'a job of two parts' trained
check '... is rewritten, too' rewritten 66

mkdir 'a folder'
cp good.yaml 'a folder/our policy.yaml'
run -p 'a folder/our policy.yaml' -l 'a folder/log.csv' $MPIEXEC -n 2 \
    $digits --epochs 1
check 'names with blanks' rewritten 66
check '... of the log, too' whole_log 'a folder/log.csv'

run $MPIEXEC -n 2 $digits --nonsense
check "the program's exit status, 2, is its own" status_is 2
check '... with its message' has err "unknown argument '--nonsense'"

# --- in the tree that was built -----------------------------------------------

timed "$script" -n $MPIEXEC -n 2 ./train
check 'in the tree where it was built it takes the library of that tree' has out \
    "$built"
other=openmpi
[ "$MPI" = mpich ] || other=mpich
timed "$script" -n $other/mpiexec ./train
check '... not for the other MPI' not has out "$built"

# The program chooses the library. One that is missing is named with the reason.
# chosen WORD MPI REASON [LAUNCHER]
chosen()
{
    timed env -u LD_LIBRARY_PATH lone/apsmpi-run -n "${4:-mpich/mpiexec}" -n 2 "$1"
    check "$1 chooses the library for $2" has err "/apsmpi/$2/libapsmpi.so"
    check '... as the message explains' has err ": $3"
}
mkdir lone
cp "$script" lone
for name in libmpi_abi.so.1,abi libmpifort_abi.so.1,abi libmpi.so.12,mpich \
    libmpich.so.12,mpich libmpi_gnu_112.so.12,mpich libmpi_cray.so.12,mpich \
    libmpifort.so.12,mpich libmpi.so.40,openmpi libmpi_mpifh.so.40,openmpi; do
    printf '\177ELF %s ' "${name%,*}" >needs
    chmod +x needs
    chosen ./needs "${name#*,}" "./needs is linked with ${name%,*}" openmpi/mpiexec
done
chosen ./for_none mpich 'mpich/mpiexec belongs to MPICH'
chosen ./for_none openmpi 'openmpi/mpiexec belongs to Open MPI' openmpi/mpiexec
chosen "$probe" "$MPI" "$probe is linked with libmpi"

# A Python whose mpi4py maps a library of MPI, and a script that it runs.
cat >python3.99 <<'END'
#!/bin/sh
[ "$1" = -c ] && echo "7f00-7f01 r-xp /opt/lib/libmpi_abi.so.1.0.0"
END
printf '#!/usr/bin/env -S %s/python3.99 -u\n' "$tmp" >train.py
chmod +x python3.99 train.py
chosen ./python3.99 abi './python3.99 loads libmpi_abi.so.1'
chosen ./train.py abi './train.py loads libmpi_abi.so.1'
printf '\177ELF libmpi.so.12 ' >python3.98
chmod +x python3.98
PATH=$tmp:$PATH
chosen python3.98 mpich 'python3.98 loads libmpi.so.12'
printf '\177ELF libmpi.so.40 ' >needs
timed lone/apsmpi-run -n --library "$library" mpich/mpiexec -n 2 ./needs
check 'a launcher of another MPI than the program: a warning' has err \
    'mpich/mpiexec belongs to MPICH, but ./needs is linked with libmpi.so.40'
check '... and the job starts' status_is 0
LD_PRELOAD=/nowhere/libapsmpi.so:$library timed lone/apsmpi-run -n \
    --library "$library" mpich/mpiexec -n 2 ./for_none
check 'another libapsmpi.so in LD_PRELOAD' has err \
    'LD_PRELOAD names /nowhere/libapsmpi.so, another libapsmpi.so: it is left out'
check '... is left out' has out "LD_PRELOAD $library -n"

timed "$script" -p good.yaml $MPIEXEC -n 2 $digits --epochs 1
check '... with which a job trains' trained
check '... and is rewritten' rewritten 66
timed "$script" -p bad.yaml $MPIEXEC -n 2 $digits --epochs 1
check '... a bad policy is found before the job starts' status_is 125
check '... is reported once' lines 1 err bad.yaml:4:
check '... and nothing runs' empty out
timed "$script" -p none.yaml $MPIEXEC -n 2 $digits --epochs 1
check '... no such policy: apsmpi-run reports it' equal "$(cat err)" \
    "apsmpi-run: $PWD/none.yaml: No such file or directory"
timed "$script" --shadow e4m3,e4m33 $MPIEXEC -n 2 $digits --epochs 1
check '... a bad candidate is an error' status_is 125
check '... is reported with its place' equal "$(cat err)" \
    "--shadow:1:6: format 'e4m33': wider than FP32, for rules with types: double"
check '... and nothing runs' empty out

# --- bad policies -------------------------------------------------------------

# lone ARGUMENTS...: runs apsmpi-run without apsmpi: the job finds the error
lone()
{
    timed lone/apsmpi-run --library "$library" "$@"
}
lone -p bad.yaml $MPIEXEC -n 2 $digits --epochs 1
check 'a bad policy stops the job' status_is 2
check '... and said once' lines 1 err bad.yaml:4:
check '... nothing trained' empty out
lone -p none.yaml $MPIEXEC -n 2 $digits --epochs 1
check 'a missing policy, too' status_is 2
check '... and said once' lines 1 err 'none.yaml: No such file or directory'
run -p bad.yaml --on-error pass $MPIEXEC -n 2 $digits --epochs 1
check '--on-error pass starts it all the same' trained
check '... with the errors' lines 1 err bad.yaml:4:
check '... and no rewritten call' rewritten 0
run --on-error never -p good.yaml $MPIEXEC -n 2 $digits --epochs 1
check 'a wrong --on-error starts nothing' status_is 125
check '... and says what was expected' equal "$(cat err)" \
    "apsmpi-run: --on-error must be stop|pass, not 'never'"
run -n --on-error PASS $MPIEXEC -n 1 true
check '... capital letters are not wrong' has out \
    "$(variable APSMPI_ON_ERROR pass)"

finish
