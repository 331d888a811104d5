#!/bin/sh
# Copies of sections belong to their requests, also where the MPI library below gives a number out again before the call that completed its
# request has returned (numbers.c).
# run.py: timeout=60
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/mpifort" ] || { echo "nothing is installed"; exit 77; }
command -v gfortran > /dev/null || { echo "there is no gfortran here"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd) dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$prefix/bin/mpicc" -shared -fPIC -o "$dir/numbers.so" "$here/numbers.c" -ldl
"$prefix/bin/mpifort" -J"$dir" -Wl,-export-dynamic -o "$dir/numbers" "$here/numbers.f90"
out=$("$prefix/bin/mpiexec" -n 1 env LD_PRELOAD="$dir/numbers.so" "$dir/numbers" 2>&1) || { echo "numbers: $out"; exit 1; }
[ "$out" = "each its own" ] || { echo "numbers: $out"; exit 1; }
