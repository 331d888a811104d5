#!/bin/bash
# Lmod of the distribution: `module load godwit` by the file in Lua, HPE's names by those in Tcl; unloaded, nothing is left.
# run.py: timeout=120 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
[ -n "${2:-}" ] || { echo "needs an installed Godwit"; exit 77; }
prefix=$(realpath "$2")
[ -r /usr/share/lmod/lmod/init/bash ] || { echo "there is no Lmod (Debian: lmod)"; exit 77; }
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin # Lmod leaves out what is there twice
. /usr/share/lmod/lmod/init/bash
fail() { echo "$1"; exit 1; }
module purge
module unuse "${MODULEPATH//:/ }" 2> /dev/null
before=$(env | grep -vE '^(_|LMOD|MODULEPATH|_ModuleTable|__LMOD|_LMFILES_|LOADEDMODULES|BASH_FUNC)' | sort)
module use "$prefix/share/modulefiles"
version=$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/godwit.pc")
for name in godwit "godwit/$version" cray-mpich; do
    module load "$name" || fail "$name is not loaded"
    [ "$(command -v mpiexec)" = "$prefix/bin/mpiexec" ] || fail "$name: $(command -v mpiexec) is found"
    [ "$GODWIT_ROOT" = "$prefix" ] || fail "$name: GODWIT_ROOT is $GODWIT_ROOT"
    [ "$(man -w 7 godwit)" = "$(ls "$prefix"/share/man/man7/godwit.7*)" ] || fail "$name: man finds $(man -w 7 godwit)"
    case $name in
    godwit*) [ "$_LMFILES_" = "$prefix/share/modulefiles/godwit/$version.lua" ] || fail "$name: $_LMFILES_ was taken" ;;
    cray-mpich) module load perftools && command -v pat_build > /dev/null || fail "perftools is not loaded" ;;
    esac
    module load godwit 2> /dev/null && [ "$name" = cray-mpich ] && fail "two MPI libraries are loaded"
    module purge
done
module unuse "$prefix/share/modulefiles"
after=$(env | grep -vE '^(_|LMOD|MODULEPATH|_ModuleTable|__LMOD|_LMFILES_|LOADEDMODULES|BASH_FUNC)' | sort)
[ "$before" = "$after" ] || fail "it is not as it was: $(diff <(echo "$before") <(echo "$after"))"
