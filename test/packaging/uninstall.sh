#!/bin/sh
# tools/uninstall.sh removes every file and folder of an installation, and nothing else: what others have beside it stays.
# run.py: timeout=300 tags=extra alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
[ -n "${2:-}" ] || { echo "needs an installed Godwit"; exit 77; }
here=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
dir=$(mktemp -d)
mkdir "$dir/logs"
cp "$build"/meson-logs/install-log*.txt "$dir/logs/"
# The build's own installation stays the one that its uninstall is of.
trap 'rm -f "$build"/meson-logs/install-log*.txt; cp "$dir"/logs/* "$build/meson-logs/"; rm -rf "$dir"' EXIT
prefix=$dir/root$(cd "$2" && pwd)
mkdir -p "$prefix/bin"
echo theirs > "$prefix/bin/ompi_info"
meson install -C "$build" --no-rebuild --destdir "$dir/root" > "$dir/log" 2>&1 || { tail "$dir/log"; echo "meson install failed"; exit 1; }
n=$(find "$dir/root" ! -type d | wc -l)
[ "$n" -gt 2500 ] || { echo "only $n files were installed"; exit 1; }
"$here/tools/uninstall.sh" "$build" > "$dir/log"
grep -q "^removed $((n - 1)) files" "$dir/log" || { cat "$dir/log"; echo "$n files were installed, one is another library's"; exit 1; }
left=$(find "$dir/root" ! -type d)
[ "$left" = "$prefix/bin/ompi_info" ] || { echo "left: $left" | head -n 10; exit 1; }
left=$(find "$dir/root" -type d -empty)
[ -z "$left" ] || { echo "empty folders are left: $left" | head -n 10; exit 1; }
if "$here/tools/uninstall.sh" "$build" > "$dir/log" 2>&1; then echo "a second time it says nothing"; exit 1; fi
