#!/bin/sh
# One Fortran program, one libmpifort_abi.so and one set of modules, and one C program, over three MPI libraries: ours, and MPICH 5.0 and Open MPI 6.0 of Debian sid,
# fetched into a folder of their own and started by their own dynamic loader.  Each runs the programs of all three forms on one rank, and on two by
# Debian's mpiexec.hydra where that is here.
# run.py: timeout=600 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/mpifort" ] || { echo "nothing is installed"; exit 77; }
command -v gfortran > /dev/null || { echo "there is no gfortran here"; exit 77; }
command -v apt-get > /dev/null || { echo "there is no apt-get here"; exit 77; }
here=$(dirname "$(readlink -f "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
sid=${FORT_SID:-$tmp/sid}

# A folder that apt and dpkg of this machine know nothing of.
fetch() {
    mkdir -p "$sid/etc" "$sid/state/lists/partial" "$sid/cache/archives/partial" "$sid/root"
    : > "$sid/status"
    cat > "$sid/apt.conf" <<EOT
Dir::State "$sid/state"; Dir::State::status "$sid/status"; Dir::Cache "$sid/cache"; Dir::Etc "$sid/etc";
Acquire::Check-Valid-Until "false"; Acquire::Languages "none"; APT::Architecture "amd64";
EOT
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main" > "$sid/etc/sources.list"
    APT_CONFIG=$sid/apt.conf apt-get -qq update && APT_CONFIG=$sid/apt.conf apt-get -qq install -y --download-only --no-install-recommends \
        libmpich12 libopenmpi40 || return 1
    for deb in "$sid"/cache/archives/*.deb; do dpkg -x "$deb" "$sid/root"; done
}
[ -d "$sid/root" ] || fetch > "$tmp/log" 2>&1 || { tail -n 5 "$tmp/log"; echo "Debian sid cannot be fetched"; exit 77; }
libs=$sid/root/usr/lib/x86_64-linux-gnu
ran=0

for name in fixed module sections; do
    "$prefix/bin/mpifort" -O2 -w -cpp -J "$tmp" "$(ls "$here/$name".f*)" -o "$tmp/$name"
done
# In C: what mpi.h inlines, which none of these libraries has to have.
"$prefix/bin/mpicc" -O0 -Wno-deprecated-declarations "$here/conversions.c" -o "$tmp/conversions"
for other in mpich openmpi; do
    export FORT_TEST_OTHER=$other MALLOC_PERTURB_=165
    mkdir "$tmp/$other"
    ln -s "$libs"/libmpi_abi_$other.so.1.* "$tmp/$other/libmpi_abi.so.1"
    cp -L "$prefix"/lib/libmpifort_abi.so.1 "$tmp/$other/" # its RUNPATH must not lead to ours
    for name in fixed module sections conversions; do
        for launch in "" "mpiexec.hydra -n 2"; do
            [ -z "$launch" ] || { [ $other = mpich ] && command -v mpiexec.hydra > /dev/null; } || continue
            FORT_TEST_FOLDER=$tmp OPAL_PREFIX=$sid/root/usr GFORTRAN_UNBUFFERED_ALL=y timeout 100 $launch "$libs/ld-linux-x86-64.so.2" \
                --library-path "$tmp/$other:$libs:$libs/openmpi/lib" "$tmp/$name" > "$tmp/out" 2>&1 < /dev/null || { cat "$tmp/out"; echo "$name over $other failed"; exit 1; }
            grep -q "^$name: all right" "$tmp/out" || { cat "$tmp/out"; echo "$name over $other says something else"; exit 1; }
            ran=$((ran + 1))
        done
    done
    FORT_TEST_FOLDER=$tmp OPAL_PREFIX=$sid/root/usr LD_DEBUG=libs timeout 100 "$libs/ld-linux-x86-64.so.2" \
        --library-path "$tmp/$other:$libs:$libs/openmpi/lib" "$tmp/fixed" 2>&1 | grep -q "calling init: $tmp/$other/libmpi_abi.so.1" ||
        { echo "the library was not that of $other"; exit 1; }
done
echo "$ran runs"
[ $ran -ge 8 ]
