#!/bin/sh
# bench/measures.c, the like of the documents' measuring programs: each measures each size, and what it says has units and is no nonsense.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1 out=$(mktemp)
trap 'rm -f "$out"' EXIT
fail() { echo "$*"; cat "$out"; exit 1; }
"$build/mpiexec" -n 2 "$build/bench/bench_measures" osu_latency > "$out" || fail "osu_latency"
[ "$(grep -cE '^[0-9]+ [0-9.]+ us$' "$out")" = 22 ] || fail "osu_latency: not 0 and 21 sizes"
awk '$2 <= 0 { exit 1 }' "$out" || fail "a message takes no time"
"$build/mpiexec" -n 2 "$build/bench/bench_measures" osu_bw > "$out" || fail "osu_bw"
[ "$(grep -cE '^[0-9]+ [0-9.]+ MB/s$' "$out")" = 21 ] || fail "osu_bw: not 21 sizes"
awk 'NR == 1 { first = $2 } END { exit $2 < 20 * first }' "$out" || fail "a mebibyte goes no quicker than bytes, a byte each"
"$build/mpiexec" --oversubscribe -n 7 "$build/bench/bench_measures" gpcnet 0.2 > "$out" || fail "gpcnet"
grep -qE '^2 victims, 5 aggressors: [0-9.]+ us alone, [0-9.]+ us beside them, [0-9.]+ times$' "$out" || fail "gpcnet"
if "$build/mpiexec" -n 2 "$build/bench/bench_measures" gpcnet > "$out" 2>&1; then fail "gpcnet of two ranks"; fi
grep -q "seven ranks or more" "$out" || fail "does not say why"
