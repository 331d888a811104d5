#!/bin/sh
# Called by `meson install`: compiles the Fortran modules where there is a compiler.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
compiler=${GODWIT_FC:-gfortran}
if command -v "${compiler%% *}" > /dev/null; then
    exec "$MESON_INSTALL_DESTDIR_PREFIX/$1/mpifort" "-fc=$compiler" -build-modules
fi
echo "no Fortran compiler: no modules (later: mpifort -build-modules)"
