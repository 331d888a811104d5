#!/bin/sh
# Every fuzz target, a few thousand inputs each from its corpus and from a fixed seed; the build stays in BUILD/fuzz-build.
# run.py: timeout=240 tags=
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1/fuzz-build
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# target and inputs: those that are slow get fewer
targets='match 2000
type 3000
type_large 15000
unpack 8000
settings 4000
info 8000
launch 4000
pmi1 20000
shm 1000
ondemand 200000
proto 20000
rma 3000
net 20000
tcp 60000'

echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n; }' > "$dir/probe.c"
if ! clang -fsanitize=fuzzer,address -o "$dir/probe" "$dir/probe.c" > "$dir/log" 2>&1; then
    echo "clang has no fuzzer runtime here (Debian: clang, libclang-rt-14-dev): $(head -n 1 "$dir/log")"
    exit 77
fi

ccache=$(command -v ccache || :)
if [ ! -f "$build/build.ninja" ]; then
    CC="${ccache:+ccache }clang" meson setup "$build" "$root" -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 > "$dir/log" 2>&1 ||
        { tail -n 5 "$dir/log"; exit 1; }
fi
ninja -C "$build" $(echo "$targets" | sed 's|\([^ ]*\) .*|fuzz/fuzz_\1|') > "$dir/log" 2>&1 || { grep -E -A3 'error|FAILED' "$dir/log" | head -n 20; exit 1; }

# What a target prints (the complaints of mpiexec, of settings) is not looked at; where it fails, the input runs again alone.
failed=0
echo "$targets" > "$dir/targets"
while read -r name runs; do
    mkdir "$dir/$name"
    set -- -seed=1 -timeout=100 -close_fd_mask=3 -artifact_prefix="$dir/$name." "$dir/$name" "$root/fuzz/corpus/$name"
    if "$build/fuzz/fuzz_$name" -runs="$runs" "$@" > "$dir/$name.log" 2>&1 < /dev/null; then
        tail -n 1 "$dir/$name.log" | sed "s/^/$name: /"
        continue
    fi
    failed=1
    echo "$name failed:"
    for input in "$dir/$name".*-*; do
        [ -f "$input" ] || continue
        "$build/fuzz/fuzz_$name" -timeout=100 "$input" 2>&1 < /dev/null | grep -E 'error|ERROR|not so|#[0-9]+ ' | head -n 12 || :
        echo "the input, in base64 (kept nowhere else): $(base64 -w0 < "$input" | cut -c1-2000)"
    done
done < "$dir/targets"
# What was recorded of ranks is still what they send: see fuzz/record_tcp.py.
if ! FUZZ_TRAFFIC=1 "$build/fuzz/fuzz_tcp" -runs=0 "$root/fuzz/corpus/tcp" > "$dir/traffic.log" 2>&1 < /dev/null; then
    failed=1
    echo "tcp: the corpus is no traffic of this version; fuzz/record_tcp.py makes one:"
    grep 'not so' "$dir/traffic.log" || tail -n 5 "$dir/traffic.log"
fi
exit $failed
