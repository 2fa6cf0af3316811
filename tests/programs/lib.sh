# SPDX-License-Identifier: BSD-3-Clause
# Functions of the tests of `make check-programs`, which run frameworks as they are
# published. A test installs its framework, or is skipped with the reason.
#
# shellcheck shell=sh disable=SC2034,SC2154 # of tests/e2e/lib.sh, and of the tests
. "${top_srcdir:-.}/tests/e2e/lib.sh"

[ "$MPI" = mpich ] || skip_all 'the frameworks are built for MPICH'
here=$top_srcdir/tests/programs
limit=${limit:-600}
images=/usr/share/datasets/fashion-mnist
OMP_NUM_THREADS=1
OPENBLAS_NUM_THREADS=1
export OMP_NUM_THREADS OPENBLAS_NUM_THREADS

# debian PACKAGE...: installs those that are missing, as root or with sudo
debian()
{
    missing=
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
            grep -q 'install ok installed' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    sudo=sudo
    [ "$(id -u)" -ne 0 ] || sudo=
    # shellcheck disable=SC2086 # lists of words
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
        --no-install-recommends $missing >installed 2>&1 </dev/null ||
        skip_all "cannot install$missing: $(tail -n 1 installed)"
}

# environment NAME FUNCTION [OPTION of venv]: makes a virtual environment in
# programs/NAME of the build directory, once; FUNCTION installs there. Sets $python;
# skips the test if that fails.
environment()
{
    venv=$top_builddir/programs/$1
    python=$venv/bin/python3
    [ ! -e "$venv/ready" ] || return 0
    mkdir -p "$venv"
    if /usr/bin/python3 -m venv ${3:+"$3"} "$venv" >"$venv/log" 2>&1 &&
        "$2" >>"$venv/log" 2>&1
    then
        touch "$venv/ready"
    else
        skip_all "cannot install $1: $(tail -n 1 "$venv/log") ($venv/log)"
    fi
}

# pip ARGUMENT...: into the environment, with what uses MPI built for MPICH
pip()
{
    MPICC=mpicc.mpich nice "$venv/bin/pip" install --disable-pip-version-check "$@"
}

# pip_mpi4py: that of scripts/setup, which another Python of the same version can load,
# since it takes minutes to compile; or PyPI's
pip_mpi4py()
{
    folder=$top_builddir/venv/mpi4py-3
    if PYTHONPATH=$folder "$python" -c 'import mpi4py.MPI' 2>/dev/null; then
        realpath "$folder" >"$("$python" -c \
            'import sysconfig; print(sysconfig.get_path("purelib"))')/mpi4py.pth"
    else
        pip --no-binary=mpi4py mpi4py
    fi
}

# version PACKAGE: of the environment
version()
{
    "$python" -c 'import sys, importlib.metadata as m; print(m.version(sys.argv[1]))' \
        "$1"
}

# --- checks ---------------------------------------------------------------------

# accuracy: prints that of the last job, in per cent
accuracy()
{
    sed -n 's/^accuracy //p' out
}

# learned LEAST [RANKS]: the last job ended well, with the same weights on all ranks
learned()
{
    accuracy
    status_is 0 && [ "$(grep -c '^weights ' out)" -eq "${2:-2}" ] &&
        [ "$(grep '^weights ' out | sort -u | wc -l)" -eq 1 ] &&
        awk -v least="$1" '/^accuracy / { good = $2 >= least } END { exit !good }' out
}

# names LOG: the layers in the log that were rewritten
names()
{
    column name "$1" 'v["format"] != "fp32"' | sort -u | paste -s -d ' '
}

# share LEAST: the last job's summary reports LEAST per cent of the eligible calls
# rewritten, or more
share()
{
    awk -v least="$1" '
        / calls of MPI_Allreduce, / { match($0, /rewritten \([0-9.]+ %/)
            good = substr($0, RSTART + 11, RLENGTH - 13) + 0 >= least }
        END { exit !good }' err
}

# by_layers NAMES PROGRAM...: two ranks train under policies of layers.csv, whose last
# layers, NAMES in a rule, stay in FP32
by_layers()
{
    last=$1
    shift
    for kind in e4m3 powersgd; do
        case $kind in
        e4m3) rule='format: e4m3, scale: aps' ;;
        powersgd) rule='compress: {powersgd: {rank: 4}}' ;;
        esac
        policy $kind.yaml -t 'table: layers.csv' \
            -t "log: {file: $kind.csv, every: 10}" "layers: $last, format: fp32" \
            "$rule"
        job 2 APSMPI_POLICY=$kind.yaml "$@"
        check "$kind: learns" learned 70
        diag "$kind: $(accuracy) %"
        check '... without desync' not has err desync
        check '... all calls but those of one layer are rewritten' share 74
        check '... under the names of the program' equal "$(names $kind.csv)" \
            "$(grep '^[0-5],' layers.csv | cut -d, -f2 | sort | paste -s -d ' ')"
    done
}
