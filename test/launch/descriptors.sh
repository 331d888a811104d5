#!/bin/sh
# What mpiexec starts inherits what mpiexec was given, the segment of the job, one socket for PMI-1 where it may be a program of another MPI
# library, and nothing else: no pipe, socket or epoll of its own.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
exec 9</dev/null # given by whoever starts mpiexec: a rank has it, too
seen() { sed -n 's/.* \([0-9][0-9]*\) -> \(.*\)/\1 \2/p' | grep -v '^[012] ' | sed -e 's/^[0-9]* //' -e 's|/proc/[0-9]*/fd|/proc/N/fd|' | sort -u; }
given=$({ ls -l /proc/self/fd | seen; echo "/memfd:godwit (deleted)"; } | sort -u)
for how in "-n 1" "-n 3" "-n 2 --pmix on" "-n 4 --vnodes 2" "-n 2 -stdin all" "-n 2 -l"; do
    n=${how#-n } n=${n%% *} want=$given
    [ "$n" = 1 ] || want=$(echo "$given" && seq "$n" | sed 's/.*/socket/')
    got=$(timeout 50 "$build/mpiexec" $how ls -l /proc/self/fd </dev/null | seen | sed 's/^socket:.*/socket/')
    [ "$got" = "$want" ] || { echo "descriptors: mpiexec $how: a rank has"; echo "$got"; echo "and should have"; echo "$want"; exit 1; }
done
