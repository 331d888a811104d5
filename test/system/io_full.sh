#!/bin/sh
# A disk that is full and one that is mounted to be read only: the right errors, and what was reported as written is there.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rmdir "$dir"' EXIT
user=; [ "$(id -u)" = 0 ] || user=-Ur
unshare $user -m sh -c "mount -t tmpfs -o size=1M none $dir" 2> /dev/null || { echo "file systems cannot be mounted here"; exit 77; }
for n in 1 3 4; do
    unshare $user -m sh -ec "mount -t tmpfs -o size=1M none $dir
        timeout 100 $build/mpiexec -n $n $build/mpi_io_faults full $dir
        mount -o remount,ro none $dir
        timeout 100 $build/mpiexec -n $n $build/mpi_io_faults read $dir" || { echo "failed with $n ranks"; exit 1; }
done
