#!/bin/sh
# tools/uninstall.sh [BUILD]: removes what `meson install -C BUILD` (or `ninja install`, ./quickstart) has installed last, and folders that are
# empty then.  Meson's own uninstall knows nothing of what scripts have written at installation: manual pages, modules, links.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=${1:-$(dirname "$0")/../build}
logs=$build/meson-logs
[ -f "$logs/install-log.txt" ] || { echo "uninstall: nothing was installed from $build (there is no $logs/install-log.txt)" >&2; exit 1; }
list=$(mktemp)
trap 'rm -f "$list"' EXIT
cat "$logs"/install-log*.txt | grep '^/' | sort -ur > "$list" # reverse: what is in a folder comes before it
removed=0
while IFS= read -r path; do
    if [ -d "$path" ] && [ ! -L "$path" ]; then
        rmdir "$path" 2> /dev/null || :
    elif [ -e "$path" ] || [ -L "$path" ]; then
        rm -f "$path" || exit 1
        removed=$((removed + 1))
    fi
    folder=${path%/*}
    rmdir "$folder" 2> /dev/null && rmdir -p "${folder%/*}" 2> /dev/null || :
done < "$list"
rm -f "$logs"/install-log*.txt
echo "removed $removed files that were installed from $build"
