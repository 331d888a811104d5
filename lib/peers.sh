#!/bin/sh
# Called by `meson install` with the folders of programs and of libraries below the prefix: mpichversion and ompi_info, where they
# are nobody else's.  Below /usr they are the distribution's, of its packages of MPICH and Open MPI, whether those are installed or not.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
case $MESON_INSTALL_PREFIX in /usr | /usr/) echo "no mpichversion and ompi_info in /usr: other packages have these names"; exit 0 ;; esac
bin=$MESON_INSTALL_DESTDIR_PREFIX/$1
up=$(printf %s "$1" | sed 's,[^/][^/]*,..,g')
mkdir -p "$bin" || exit 1
log=$MESON_BUILD_ROOT/meson-logs/install-log-peers.txt # what tools/uninstall.sh removes
: > "$log" || exit 1
for name in mpichversion ompi_info; do
    target=$up/$2/godwit/peer_info
    if [ -e "$bin/$name" ] || [ -L "$bin/$name" ]; then
        [ "$(readlink "$bin/$name")" = "$target" ] || { echo "$bin/$name is left as it is: another library's"; continue; }
    else
        ln -s "$target" "$bin/$name" || exit 1
    fi
    echo "$bin/$name" >> "$log"
done
