#!/bin/sh
# What a job says of itself when asked: all settings, the version, the CPUs of each rank; defaults of a site.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "display: $*"; cat "$dir/err"; exit 1; }
run() { timeout 30 "$build/mpiexec" "$@" </dev/null >"$dir/out" 2>"$dir/err"; }

run -n 3 "$build/mpi_hello" || fail "hello"
! grep -q '^PE ' "$dir/err" || fail "nothing was asked for"
MPICH_ENV_DISPLAY=1 GODWIT_EAGER_MAX=4K run -n 3 "$build/mpi_hello" || fail "all settings"
grep -q '^PE 0: --- proto$' "$dir/err" || fail "settings by room"
grep -qx 'PE 0:   GODWIT_EAGER_MAX  *= 4K   (set)   \[MPICH_OFI_EAGER_MAX\]' "$dir/err" || fail "a setting with its value"
grep -q '^PE 0: processor: .' "$dir/err" || fail "the processor"
tail -n 1 "$dir/err" | grep -qx 'PE 0: thread level: required MPI_THREAD_[A-Z]*, provided MPI_THREAD_[A-Z]*' || fail "the last line is the thread level"
! grep -q '^PE [12]' "$dir/err" || fail "rank 0 alone"
MPICH_ENV_DISPLAY=1 MPICH_MAX_THREAD_SAFETY=single run -n 2 "$build/mpi_thread_level" single || fail "a lower thread level"
tail -n 1 "$dir/err" | grep -qx 'PE 0: thread level: required MPI_THREAD_MULTIPLE, provided MPI_THREAD_SINGLE' || fail "the level that is asked for, and the one that is given"
MPICH_VERSION_DISPLAY=1 run -n 2 "$build/mpi_hello" || fail "version"
[ "$(grep -c '^PE 0: Godwit [0-9]' "$dir/err")" = 1 ] || fail "version"
MPICH_CPUMASK_DISPLAY=1 run --bind-to none -n 3 "$build/mpi_hello" || fail "CPUs"
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
for r in 0 1 2; do grep -qx "PE $r: host .*, CPUs $cpus" "$dir/err" || fail "CPUs of rank $r"; done

printf 'MPICH_VERSION_DISPLAY=1\n' >"$dir/site"
GODWIT_SITE=$dir/site run -n 2 "$build/mpi_hello" || fail "defaults of a site"
grep -q '^PE 0: Godwit' "$dir/err" || fail "defaults of a site"
GODWIT_SITE=$dir/site MPICH_VERSION_DISPLAY=0 run -n 2 "$build/mpi_hello" || fail "the user's word"
! grep -q '^PE 0: Godwit' "$dir/err" || fail "what the user says comes before the site's"
