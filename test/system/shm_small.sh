#!/bin/sh
# Works with a /dev/shm of 64 KB and with none at all, and leaves nothing there.
# users.md rows 6, 14
# run.py: timeout=400
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
unshare --mount true 2>/dev/null || { echo "mount namespaces are refused here"; exit 77; }
unshare --mount sh -ec "
    mount -t tmpfs -o size=64k tmpfs /dev/shm
    for program in citizen coll_basic rma_fence; do timeout 60 '$build/mpiexec' -n 8 '$build/mpi_'\$program; done
    [ -z \"\$(ls -A /dev/shm)\" ] || { echo 'left in /dev/shm:'; ls -A /dev/shm; exit 1; }
    mount -t tmpfs -o size=64k,ro tmpfs /dev/shm
    for program in citizen coll_basic rma_fence; do timeout 60 '$build/mpiexec' -n 8 '$build/mpi_'\$program; done"
