#!/bin/sh
# 1,000 launches of 64 ranks that do nothing: none hangs, none fails, none leaves a process.
# run.py: timeout=600 tags=long,extra alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ln -s /bin/true "$dir/gw-true-$$" # a name of its own, to be looked for afterwards
n=0
while [ $n -lt 1000 ]; do
    n=$((n + 1))
    rc=0
    timeout -k 1 100 "$build/mpiexec" -n 64 "$dir/gw-true-$$" </dev/null >"$dir/out" 2>&1 || rc=$?
    [ $rc = 0 ] && [ ! -s "$dir/out" ] || { echo "thousand: launch $n ended with status $rc (124: it hung) and said: $(cat "$dir/out")"; exit 1; }
done
! ps -eo args | grep -q "[g]w-true-$$" || { echo "thousand: ranks are still there"; exit 1; }
exit 0
