#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs MPIs of Python packages for the tests, each in a virtual environment of its
# own: setup.sh FOLDER NAME..., where a NAME is a row below. Ends with status 1 and a
# line for each MPI that pip cannot install.
set -u

folder=$1
shift
status=0
for name; do
    case $name in
    mpich-4) packages='mpich~=4.3.0' ;;
    mpich-5) packages='mpich~=5.0.0' ;;
    intel) packages='impi-rt==2021.* impi-devel==2021.*' ;;
    openmpi-5) packages='openmpi~=5.0.0' ;;
    *) echo "setup.sh: unknown MPI '$name'" >&2; exit 2 ;;
    esac
    [ ! -e "$folder/$name/bin/mpiexec" ] || continue
    rm -rf "${folder:?}/$name"
    mkdir -p "$folder"
    # shellcheck disable=SC2086 # a list of words
    "${PYTHON3:-python3}" -m venv "$folder/$name" >"$folder/$name.log" 2>&1 &&
        "$folder/$name/bin/python3" -m pip install -q $packages \
            >>"$folder/$name.log" 2>&1 && continue
    echo "no $name: $(tail -n 1 "$folder/$name.log")"
    rm -rf "${folder:?}/$name"
    status=1
done
exit $status
