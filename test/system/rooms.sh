#!/bin/sh
# gen/rooms.py finds each fault of a small house that has them all, and nothing in one without.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
rooms=$(cd "$(dirname "$0")/../.." && pwd)/gen/rooms.py
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p src/attic src/cellar test
printf 'attic: cellar\ncellar:\n' > src/ROOMS
echo 'int attic_look(void);' > src/attic/attic.h
echo 'int cellar_dig(void); int cellar_fill(void);' > src/cellar/cellar.h
echo '#include "cellar/cellar.h"' > src/attic/attic.c
echo 'int attic_look(void); int attic_look(void) { return cellar_dig(); }' >> src/attic/attic.c
echo 'int cellar_dig(void); int cellar_dig(void) { return 1; }' > src/cellar/cellar.c
echo 'int cellar_fill(void); int cellar_fill(void) { return 2; }' > src/cellar/other.c
echo 'int attic_look(void); int cellar_fill(void); int main(void) { return attic_look() + cellar_fill(); }' > test/t.c

build() {
    rm -f ./*.a ./*.o
    for room in attic cellar; do
        for f in src/$room/*.c; do ${CC:-cc} -c -Isrc "$f" -o "$(basename "$f" .c).o"; done
        ar rc libgw_$room.a ./*.o
        rm ./*.o
    done
}

# finds TEXT: after what was done to the house, this line is told, and only this one.
finds() {
    build
    if python3 "$rooms" src libgw_attic.a libgw_cellar.a 2> log; then echo "not found: $1"; exit 1; fi
    if [ "$(wc -l < log)" -ne 1 ] || ! grep -q "$1" log; then
        echo "not told: $1; but:"
        cat log
        exit 1
    fi
}

build
python3 "$rooms" --stamp ok src libgw_attic.a libgw_cellar.a
[ -f ok ] || { echo "no stamp"; exit 1; }

echo 'int cellar_only(void); int cellar_only(void) { return 3; }' > src/cellar/more.c
finds 'cellar_only of .*more.* is used in its file only'
echo '/* cellar_only */' > test/word.h # a test beside the rooms may use it
build
python3 "$rooms" src libgw_attic.a libgw_cellar.a
rm test/word.h src/cellar/more.c

echo 'int attic_look(void); int cellar_up(void); int cellar_up(void) { return attic_look(); }' > src/cellar/up.c
echo '/* cellar_up */' > test/word.h
finds 'cellar uses attic_look, which only attic defines'
rm src/cellar/up.c

echo 'int dig(void); int dig(void) { return 4; }' > src/cellar/more.c
echo '/* dig */' > test/word.h
finds 'dig of .*more.* begins with none of cellar_'
rm src/cellar/more.c

cp src/cellar/cellar.c keep
echo '#include "attic/attic.h"' >> src/cellar/cellar.c
finds 'cellar/cellar.c:2: cellar may not include attic'
cp keep src/cellar/cellar.c

echo > src/cellar/hidden.h
cp src/attic/attic.c keep
echo '#include "cellar/hidden.h"' >> src/attic/attic.c
finds 'cellar/hidden.h is private to cellar'
cp keep src/attic/attic.c
