#!/bin/sh
# doc/figures.md and its picture are what bench/figures makes of doc/figures.tsv; each figure of the documents has a
# row, and none is empty; a number that is changed by hand, in the page, the picture or the data, a number without its
# row, and a row without its number are seen.  That the simulator's numbers are so: figures.py.
# run.py: timeout=20 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/bench/figures" check
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/bench"
again() {
    cp -r "$root/doc" "$copy/"
    cp "$root/bench/figures" "$copy/bench/"
}
seen() { ! "$copy/bench/figures" check > "$copy/out" || { echo "not seen: $1"; exit 1; }; grep -q "$2" "$copy/out" || { cat "$copy/out"; exit 1; }; }
# The pipeline of row 6: 32 chunks take 33 turns of a copy or of the wire in place of 64.
grep -q '^| 6 | .* | Assumed copies and wire of 25 GB/s each: 48 % less, 16 MiB in chunks of 512 KiB | ' "$root/doc/figures.md" || { echo "row 6 is not what 33 of 64 turns are"; exit 1; }
again
sed -i '/^| 1 |/s/times/TIMES/' "$copy/doc/figures.md"
seen "a page changed by hand" "is not what"
again
sed -i 's/>1 MiB</>2 MiB</' "$copy/doc/overlap.svg"
seen "a picture changed by hand" "overlap.svg is not what"
again
awk 'BEGIN { FS = OFS = "\t" } $1 == "igatherv" { $2 = $2 * 2 } { print }' "$root/doc/figures.tsv" > "$copy/doc/figures.tsv"
seen "data changed without the page" "is not what"
again
printf 'gather\t1\tnothing\tnowhere\n' >> "$copy/doc/figures.tsv" # other numbers' names begin so
seen "a number of no row" "gather is in no row"
again
sed -i 's/"no gain: 1 in place of 7"/""/' "$copy/bench/figures"
"$copy/bench/figures" page
seen "an empty row" "says nothing"
# So does one that is less than the documents'.
for percent in -5:1 -12:0; do
    again
    awk -v p="${percent%:*}" 'BEGIN { FS = OFS = "\t" } $1 == "progress" { $2 = p } { print }' "$root/doc/figures.tsv" > "$copy/doc/figures.tsv"
    "$copy/bench/figures" page
    [ "$(grep -c "^| 5 |.* | Less than the documents: ${percent%:*} % time" "$copy/doc/figures.md")" = "${percent#*:}" ] || { echo "row 5 at $percent"; exit 1; }
done
# A figure that rests on an assumed constant says so in its first words.
again
sed -i 's/"Assumed 5 ns for an entry of a queue: {igatherv/"With 5 ns assumed for an entry of a queue: {igatherv/' "$copy/bench/figures"
"$copy/bench/figures" page
seen "an assumption that does not come first" "rests on what is assumed"
