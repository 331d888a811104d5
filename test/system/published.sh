#!/bin/sh
# What a rank of a ring of 24 publishes and asks for at the start: with connections on demand at least 90 % less is asked for than with all
# at the start, and no more is published; the page of figures has that part, but for the digits of ports.
# run.py: timeout=60
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1 ranks=24 data=$(dirname "$0")/../../doc/figures.tsv
of() { sed -n "s/^publish_$1	\([0-9]*\)	.*/\1/p" "$data"; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
GODWIT_VNODES=$ranks "$build/mpiexec" -n $ranks "$build/mpi_published" demand print > "$out/demand"
GODWIT_VNODES=$ranks mpi_add_procs_cutoff=100 "$build/mpiexec" -n $ranks "$build/mpi_published" all print > "$out/all"
sort -k2n "$out/demand" > "$out/d"
sort -k2n "$out/all" > "$out/a"
paste -d' ' "$out/a" "$out/d" | awk -v n=$ranks -v all_was="$(of all)" -v demand_was="$(of demand)" '
    function wrong(what) { print "rank " $2 ": " what ": " $0; bad = 1 }
    $1 != "published" || $7 != "published" || $2 != NR - 1 || $8 != $2 { wrong("not a line of both") }
    $4 - $10 > 2 || $10 - $4 > 2 { wrong("publishes as much either way") } # but for the digits of its port
    $5 != n - 1 || $11 < 1 || $11 > 2 { wrong("asks all, or neighbours") }
    $12 > 0.1 * $6 { wrong("asks for 90 % less") }
    { all += $6; demand += $12; put += $4; asked += $11 }
    END {
        if (NR != n) { print NR " ranks, not " n; bad = 1 }
        if (asked > 1.25 * n) { print asked " addresses asked for, not one of each of nearly all ranks"; bad = 1 }
        apart = 100 * (demand / all - demand_was / all_was * asked / n)
        if (apart > .5 || apart < -.5) wrong("doc/figures.tsv has others")
        printf "%d ranks: published %d bytes a rank; asked for %d, on demand %d: %.1f %% less\n", n, put / n, all / n, demand / n, 100 * (1 - demand / all)
        exit bad
    }'
