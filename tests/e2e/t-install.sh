#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make install: every file is in its place, and a program uses the installed libaps.
# shellcheck disable=SC2046,SC2086 # flags are lists of words
. "${top_srcdir:-.}/tests/e2e/lib.sh"

prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
dest=$tmp/dest
# Without the options of the make that runs the tests.
limit=300
timed env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
    ${MAKE:-make} -C "$top_builddir" install DESTDIR="$dest"
check 'make install' status_is 0
[ "$status" -eq 0 ] || finish

# where NAME: prints the path of the only installed file of that name
where()
{
    found=$(cd "$dest$prefix" &&
        find . -name "$1" ! -type d ! -path '*/completions/*' \
        ! -path '*/modulefiles/*' | head -n 1)
    [ -z "$found" ] || printf '%s\n' "$dest$prefix/${found#./}"
}

# in_place NAME FOLDER: the file is in a directory whose name ends in FOLDER
in_place()
{
    found=$(where "$1")
    echo "$1 is '$found', not in $2"
    case $found in
    *"$2/$1") test -s "$found" ;;
    *) false ;;
    esac
}

check 'libapsmpi.so has the folder of its MPI' in_place libapsmpi.so "apsmpi/$MPI"
for name in libaps.so libapsgemm.so; do
    check "$name" test -s "$(where $name)"
done
if [ -e "$top_builddir/libapsmpi-cuda.la" ]; then
    check 'libapsmpi-cuda.so is beside libapsmpi.so' equal \
        "$(dirname "$(where libapsmpi-cuda.so)")" \
        "$(dirname "$(where libapsmpi.so)")"
    check 'libaps-cuda.so' test -s "$(where libaps-cuda.so)"
    check 'aps_cuda.h' in_place aps_cuda.h include
fi
check 'aps.h' in_place aps.h include
check 'aps_policy.h' in_place aps_policy.h include
check 'aps_version.h' in_place aps_version.h include
check 'the module file' grep -x "prepend-path PATH {$prefix/bin}" \
    "$dest$prefix/share/modulefiles/apsmpi"
check 'digits.py' in_place digits.py examples
check 'notebook.py' in_place notebook.py examples
check 'libaps.pc' in_place libaps.pc pkgconfig
for name in apsmpi apsmpi-run apsmpi-report apsmpi-lab apsmpi-layers \
    apsmpi-suggest; do
    check "$name" in_place $name bin
    check '... can be executed' test -x "$(where $name)"
done
for file in "$top_srcdir"/config/policies/*.yaml; do
    check "policy $(basename "$file")" in_place "$(basename "$file")" policies
done
for file in "$top_srcdir"/config/layers/*.csv; do
    check "table $(basename "$file")" in_place "$(basename "$file")" layers
done
for page in apsmpi.1 apsmpi-lab.1 apsmpi-layers.1 apsmpi-report.1 apsmpi-suggest.1 \
    apsmpi-run.1 libaps.3 apsmpi-log.5 apsmpi-policy.5 apsmpi.7 apsmpi-gpu.7 \
    apsmpi-python.7 apsmpi-recipes.7 apsmpi-results.7; do
    check "the manual page $page" in_place $page "man${page##*.}"
done
for name in LICENSE NOTICE README.md; do
    check "$name" in_place $name doc/apsmpi
done
check 'NOTICE has the terms of every archive that is linked' has "$(where NOTICE)" \
    'Copyright: 2006-2020, Kirill Simonov'
for archive in $(sed -n 's/^[A-Z]*_ARCHIVE = \(.*\)/\1/p' "$top_builddir/Makefile"); do
    name=$(basename "$archive" .a)
    name=${name#lib}
    check "... of $name" grep -i "^.*${name%_static}" "$(where NOTICE)"
done
for name in apsmpi apsmpi-run apsmpi-lab apsmpi-layers apsmpi-report \
    apsmpi-suggest; do
    check "bash completes $name" test -s \
        "$(find "$dest$prefix" -path "*/completions/$name" ! -type d | head -n 1)"
done
check 'zsh completes them' in_place _apsmpi site-functions
check 'no test program is installed' equal \
    "$(where probe)$(where digits)$(where 'counter.*')$(where 'libtap*')" ''
check 'no internal library is installed' equal \
    "$(where 'libcore*')$(where 'libpolicy*')" ''

# --- the installed commands work ----------------------------------------------

bin=$(dirname "$(where apsmpi)")
policies=$(dirname "$(where resnet50.yaml)")
timed "$bin/apsmpi" check "$policies"/*.yaml
check 'the installed policies are right' status_is 0
check '... without warnings' empty err
timed "$bin/apsmpi" explain "$policies/resnet50.yaml"
check '... and find the installed layer tables' has out layer4
timed "$PYTHON3" "$bin/apsmpi-report" --help
check 'the installed apsmpi-report starts' status_is 0
check 'its package' in_place tables.py apsmpi_report
timed "$PYTHON3" "$bin/apsmpi-report" --version
check '... has the version of configure' equal "$(cat out)" \
    "apsmpi-report $PACKAGE_VERSION"
timed "$PYTHON3" "$bin/apsmpi-report" "$top_srcdir/tests/e2e/data/report.csv"
check '... and reads what the library of this version writes' has out conv1.weight
timed "$bin/apsmpi" suggest --version
check 'apsmpi suggest starts the installed apsmpi-suggest' equal "$(cat out)" \
    "apsmpi-suggest $PACKAGE_VERSION"
for name in apsmpi apsmpi-run apsmpi-lab; do
    timed "$bin/$name" --version
    check "$name --version" equal "$(cat out)" "$name $PACKAGE_VERSION"
done
timed "$bin/apsmpi" info
check 'apsmpi info finds the installed library' \
    has out "library    $(where libapsmpi.so)"
check '... and which MPI it is for' has out "version $PACKAGE_VERSION, for "
check 'the installed apsmpi-run names the installed library' \
    grep -x "libdir='$(dirname "$(where libaps.so)" | sed "s,^$dest,,")'" \
    "$(where apsmpi-run)"
policy good.yaml 'format: e4m3'
timed "$bin/apsmpi-run" -p good.yaml $MPIEXEC -n 2 "$probe" sums 2
check '... and starts a job with it' rewritten 2
check '... without a word, because there is no choice' lines 0 err 'apsmpi-run: '
policy bad.yaml 'format: e9m9'
timed "$bin/apsmpi-run" -p bad.yaml $MPIEXEC -n 2 "$probe" sums 2
check '... after a check of the policy' status_is 125
cp -R "$dest$prefix" "$tmp/moved"
moved=$tmp/moved$(where libapsmpi.so | sed "s,^$dest$prefix,,")
timed "$tmp/moved/bin/apsmpi" info
check 'apsmpi info finds the library of a prefix that was moved' \
    has out "library    $moved"
timed "$tmp/moved/bin/apsmpi-run" -p good.yaml $MPIEXEC -n 2 "$probe" sums 2
check '... and apsmpi-run starts a job with it' rewritten 2
timed "$tmp/moved/bin/apsmpi-run" --dry-run -q $MPIEXEC -n 1 true
check '... under its path' has out "$moved"
timed $MPIEXEC -n 2 "$tmp/moved/bin/apsmpi" bench --sizes 16Ki --formats e4m3 \
    --rows none --seconds 0
check '... and apsmpi bench finds its program and the library' \
    grep '^  e4m3 hierarchical .*[0-9]$' out
rm "$(where libapsmpi.so)"
timed "$bin/apsmpi" bench
check 'apsmpi bench without the library' has err 'no libapsmpi.so is installed'
check '... fails' status_is 1
timed "$bin/apsmpi-run" -p good.yaml $MPIEXEC -n 2 "$probe" sums 2
check '... and says which library is missing' \
    has err "cannot read $dest"
check '... for which MPI' has err "$probe is linked with libmpi"
check '... and what to do' has err "build apsmpi with configure --with-mpi=$MPI"

# --- a program that uses libaps -----------------------------------------------

PKG_CONFIG_PATH=$(dirname "$(where libaps.pc)")
PKG_CONFIG_SYSROOT_DIR=$dest
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
if ! command -v pkg-config >/dev/null; then
    skip 'a consumer of libaps' 'no pkg-config'
    finish
fi
check 'pkg-config knows the version' equal \
    "$(pkg-config --modversion libaps)" "$PACKAGE_VERSION"
lib=$(dirname "$(where libaps.so)")

if "$PYTHON3" -c 'import numpy' 2>/dev/null; then
    timed env LD_LIBRARY_PATH="$lib" \
        PYTHONPATH="$(dirname "$(dirname "$(where quantizing.py)")")" \
        "$PYTHON3" -c 'import apsmpi; print(apsmpi.Format("fp16"), apsmpi.read_log)'
    check 'the Python package finds the library' has out "Format('e5m10') <function"
else
    skip 'the Python package finds the library' "$PYTHON3 has no module numpy"
fi

# consumes NAME COMPILER...: a consumer compiles, without a warning, and runs
consumes()
{
    name=$1
    shift
    if ! "$@" --version >version 2>&1; then
        skip "$name" "there is no $1"
        return
    fi
    timed "$@" -Wall -Wextra -Wpedantic -Wcast-qual -Werror -o consumer \
        "$top_srcdir/tests/e2e/consumer.c" $(pkg-config --cflags --libs libaps)
    check "$name: a consumer compiles and links" status_is 0
    [ ! -s err ] || diag "$(head -n 5 err)"
    timed env LD_LIBRARY_PATH="$lib" ./consumer e5m2
    check '... casts to e5m2' has out 'e5m2 8 57344 3.5'
    check '... and gets the right numbers' has out right
}

consumes 'C' $CC
consumes 'C99' $CC -std=c99
consumes 'C11' $CC -std=c11
consumes 'clang' clang
consumes 'clang, C99' clang -std=c99
consumes 'g++' g++ -x c++
consumes 'g++, C++11' g++ -std=c++11 -x c++
consumes 'clang++' clang++ -x c++
consumes 'clang++, C++11' clang++ -std=c++11 -x c++
timed env LD_LIBRARY_PATH="$lib" ./consumer e4m3
check 'it casts to e4m3' has out 'e4m3 8 240 3.25'
timed env LD_LIBRARY_PATH="$lib" ./consumer e9m9
check '... and reports a bad format' status_is 1
check '... with the reason' has out 'wider than FP32'
if [ -n "$(where aps_cuda.h)" ]; then
    timed $CC -Wall -Wextra -Werror -o cuda_consumer \
        "$top_srcdir/tests/e2e/consumer_cuda.c" \
        $(pkg-config --cflags --libs libaps-cuda)
    check 'libaps-cuda.pc: a consumer compiles and links' status_is 0
    timed env LD_LIBRARY_PATH="$lib" ./cuda_consumer
    check '... and runs' has out right
    check '... libaps-cuda is of the same version' equal \
        "$(pkg-config --modversion libaps-cuda)" "$PACKAGE_VERSION"
fi
if command -v readelf >/dev/null; then
    readelf -d "$lib/libaps.so" >dynamic
    check 'libaps needs no MPI' not grep -E 'mpi|hwloc|yaml' dynamic
fi
if command -v nm >/dev/null; then
    nm -D --defined-only "$lib/libaps.so" | awk '{ print $NF }' >exported
    check 'libaps exports aps_ names alone, all of LIBAPS_0' not \
        grep -v -e '^aps_.*@@LIBAPS_0$' -e '^LIBAPS_0$' exported
fi

finish
