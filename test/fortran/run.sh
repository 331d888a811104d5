#!/bin/sh
# Fortran programs in all three forms, and C and Fortran in one program: compiled by mpifort, data checked; testlist says which.
# run.sh BUILD PREFIX flang: the same by flang, with its modules beside gfortran's in a copy of the installation.
# run.py: timeout=150 tags=quick
# run.py: args=flang timeout=300 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/mpifort" ] || { echo "nothing is installed"; exit 77; }
fc=gfortran
[ "${3:-}" ] && for fc in flang flang-22 flang-19 flang-new-19 flang-16; do command -v "$fc" > /dev/null && break; done
command -v "$fc" > /dev/null || { echo "there is no ${3:-gfortran} here"; exit 77; }
export GODWIT_FC="$fc"
here=$(dirname "$(readlink -f "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export FORT_TEST_FOLDER="$tmp"
export GFORTRAN_UNBUFFERED_ALL=y # what is wrong is said before the job is ended
if [ "${3:-}" ]; then
    cp -a "$prefix" "$tmp/prefix"
    prefix=$tmp/prefix
    "$prefix/bin/mpifort" -build-modules > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
    ls "$prefix"/lib*/godwit/fortran/flang*/mpi_f08.mod > /dev/null
fi
bin=$prefix/bin
ran=0

sed 's/#.*//' "$here/testlist" | grep . > "$tmp/list"
while read -r name sources ranks macro; do
    objects=
    for source in $(echo "$sources" | tr , ' '); do
        object=$tmp/$name.$source.o
        case $source in
        *.c) "$bin/mpicc" -O1 -Wall -Werror -Wno-deprecated-declarations ${macro:+-D$macro} -c "$here/$source" -o "$object" ;;
        *) "$bin/mpifort" -O3 -g -w -cpp ${macro:+-D$macro} -J "$tmp" -c "$here/$source" -o "$object" ;;
        esac || { echo "$name: $source does not compile"; exit 1; }
        objects="$objects $object"
    done
    "$bin/mpifort" $objects -o "$tmp/$name" || { echo "$name is not linked"; exit 1; }
    word=${name#?_main}
    [ "$word" = "$name" ] || word=mixed
    for n in $(echo "$ranks" | tr , ' '); do
        timeout 60 "$bin/mpiexec" -n "$n" "$tmp/$name" > "$tmp/out" 2>&1 < /dev/null || { cat "$tmp/out"; echo "$name on $n ranks failed"; exit 1; }
        [ "$(cat "$tmp/out")" = "${word:-mixed}: all right" ] || { cat "$tmp/out"; echo "$name on $n ranks says something else"; exit 1; }
        ran=$((ran + 1))
    done
    case $name in # what GODWIT_CHECK finds in a legal program is a fault of the binding
    fixed | module | sections | callbacks)
        GODWIT_CHECK=1 timeout 60 "$bin/mpiexec" -n 2 "$tmp/$name" > "$tmp/out" 2>&1 < /dev/null || { cat "$tmp/out"; echo "$name with GODWIT_CHECK failed"; exit 1; }
        if grep 'check:' "$tmp/out"; then echo "GODWIT_CHECK finds faults in $name"; exit 1; fi ;;
    esac
done < "$tmp/list"
echo "$ran runs"
[ "$ran" -ge 20 ]
