#!/bin/sh
# 100 launches of 64 ranks in a row: each ends well, all within 60 s, nothing piles up.
# run.py: timeout=320 alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
mark=gw-many-$$
dir=$(mktemp -d)
trap 'clock_stop; rm -rf "$dir"' EXIT
. "$(dirname "$0")/clock.sh"
clock_start "$dir"
rc=0
t0=$(now_ms)
timeout 300 env GW_MARK=$mark sh -c 'i=0
    while [ $i -lt 100 ]; do
        "$1" -n 64 true </dev/null || { echo "launch $i: status $?"; exit 1; }
        i=$((i + 1))
    done' sh "$build/mpiexec" || rc=$?
[ $rc = 0 ] || { echo "many: status $rc (124: it hung)"; exit 1; }
[ $(($(now_ms) - t0)) -lt 60000 ] || { echo "many: 100 launches took more than 60 s"; exit 1; }
if grep -lzsx "GW_MARK=$mark" /proc/[0-9]*/environ; then
    echo "many: these processes are left"
    exit 1
fi
