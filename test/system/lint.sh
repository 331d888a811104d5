#!/bin/sh
# The sources are as clang-format leaves them (.clang-format), and clang-tidy's checks (.clang-tidy) find nothing in the library, the
# launcher and the tools.
# run.py: timeout=400
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")/../.."
command -v clang-tidy > /dev/null || { echo "there is no clang-tidy here (Debian: clang-tidy)"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Versions of clang-format differ: that of Debian 12 counts.
if clang-format --version 2> /dev/null | grep -q 'version 14\.'; then
    find api bench examples fortran fuzz gen sim src test tools -name '*.[ch]' ! -path 'gen/golden/*' |
        xargs -P "$(nproc)" -n 40 clang-format --dry-run > "$log" 2>&1
    if [ -s "$log" ]; then
        grep -o '^[^:]*:[0-9]*:' "$log" | head -n 20
        echo "clang-format -i FILE..."
        exit 1
    fi
else
    echo "clang-format 14 is not here: formats were not looked at"
fi

# A check that finds nothing in anything would pass, too.
printf 'int twice(int a);\nint twice(int a) { if (a == 1) { return 2; } else if (a == 1) { return 3; } else { return (int)sizeof(&a) + a; } }\nint b(int x);\nint b(int x) { if (x); return 1; }\n' > "$log.c"
if clang-tidy --config-file=.clang-tidy --quiet "$log.c" -- > "$log" 2>&1; then
    rm -f "$log.c"
    echo "clang-tidy does not find the faults of a file made for it:"
    cat "$log"
    exit 1
fi
rm -f "$log.c"

[ -f "$1/compile_commands.json" ] || { echo "$1 has no compile_commands.json"; exit 1; }
if ! find src fortran sim tools -name '*.c' ! -name '*_test.c' | sort |
        xargs -P "$(nproc)" -n 8 clang-tidy -p "$1" --quiet --extra-arg=-Wno-unknown-warning-option > "$log" 2>&1; then
    grep -E 'warning:|error:' "$log" | sort -u | head -n 40
    exit 1
fi
