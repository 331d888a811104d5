#!/bin/sh
# One number everywhere: what meson.build says heads CHANGELOG.md, NEWS.md and the packages' changelog, and the installed programs answer it.
# run.py: timeout=60 tags=quick,install
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")/../.."
fail() { echo "$1"; exit 1; }
version=$(sed -n "s/^project('godwit'.* version: '\([^']*\)'.*/\1/p" meson.build)
[ -n "$version" ] || fail "no version in meson.build"
for file in CHANGELOG.md NEWS.md; do
    top=$(sed -n 's/^## //p' "$file" | head -n 1)
    [ "$top" = "$version" ] || fail "$file begins with $top, meson.build says $version"
done
package=$(sed -n '1s/^godwit (\(.*\)-[^-]*).*/\1/p' packaging/debian/changelog)
[ "$package" = "$version" ] || fail "packaging/debian/changelog begins with $package, meson.build says $version"
spec=$(sed -n 's/^Version: //p' packaging/godwit.spec)
[ "$spec" = "$version" ] || fail "packaging/godwit.spec has version $spec, meson.build says $version"
# A number that is given out is not given again: what has its tag is not what is worked on, but for the tagged commit itself.
if tagged=$(git rev-parse -q --verify "refs/tags/v$version^{commit}" 2> /dev/null) && [ "$tagged" != "$(git rev-parse HEAD)" ]; then
    fail "v$version is a tag of $tagged: raise the version (doc/release.md)"
fi
[ -n "${2:-}" ] || { echo "needs an installed Godwit for the rest"; exit 77; }
says() { # says COMMAND...: its output has the number
    "$@" 2>&1 | grep -qwF "$version" || fail "$* does not say $version: $("$@" 2>&1 | head -n 3)"
}
says "$2/bin/mpiexec" --version
says "$2/bin/godwit-info"
says "$2/bin/mpicc" --showme:version
says env PKG_CONFIG_PATH="$2/lib/pkgconfig" pkg-config --modversion godwit
[ -f "$2/share/modulefiles/godwit/$version" ] || fail "no modulefile for $version: $(ls "$2/share/modulefiles/godwit")"
