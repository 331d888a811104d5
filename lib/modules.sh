#!/bin/sh
# Called by `meson install` with the folders of programs and of libraries below the prefix: compiles the Fortran modules where there is a compiler.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
compiler=${GODWIT_FC:-gfortran}
folder=$MESON_INSTALL_DESTDIR_PREFIX/$2/godwit/fortran
log=$MESON_BUILD_ROOT/meson-logs/install-log-modules.txt # what tools/uninstall.sh removes
: > "$log" || exit 1
if command -v "${compiler%% *}" > /dev/null; then
    "$MESON_INSTALL_DESTDIR_PREFIX/$1/mpifort" "-fc=$compiler" -build-modules || exit
    find "$folder" -type f > "$log"
    exit
fi
echo "no Fortran compiler: no modules (later: mpifort -build-modules)"
