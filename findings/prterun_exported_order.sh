#!/bin/sh
# PRRTE 3.0.8 (prterun of Debian 13: openmpi-bin 5.0.7-1): `-x NAME -x PRTE_MCA_parameter`, both variables set in the environment, is
# refused; `-x PRTE_MCA_parameter -x NAME` runs.  The message says that the parameter has two values: its own, and that of the other variable.
#
# Behaviour: where a variable that names an MCA parameter of PRRTE is exported behind another variable, the value of that other one is
# taken for a second value of the parameter.
# Output of this script: "parameter first: runs", "parameter second: refused: Value: 0, Value: 3".
# Exit status: 0 if it is still so, 1 if the behaviour has changed, 77 where the packages cannot be had.
# SPDX-FileCopyrightText: 2026 The authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
version=5.0.7-1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p etc/apt.conf.d etc/preferences.d state/lists/partial cache/archives/partial root
: >status
cat >apt.conf <<EOF
Dir::State "$folder/state"; Dir::State::status "$folder/status"; Dir::Cache "$folder/cache"; Dir::Etc "$folder/etc";
Acquire::Languages "none"; APT::Architecture "amd64";
EOF
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" >etc/sources.list
export APT_CONFIG="$folder/apt.conf"
{ apt-get -qq update && apt-get -qq install -y --download-only --no-install-recommends "openmpi-bin=$version"; } >log 2>&1 ||
    { echo "skipped: no packages of openmpi-bin $version"; exit 77; }
for p in cache/archives/*.deb; do dpkg -x "$p" root; done
libs=$folder/root/usr/lib/x86_64-linux-gnu
export PMIX_PREFIX="$folder/root/usr" PRTE_PREFIX="$folder/root/usr" PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
prterun() { timeout 60 "$libs/ld-linux-x86-64.so.2" --argv0 prterun --library-path "$libs:$libs/openmpi/lib" root/usr/bin/prte "$@" 2>&1 || :; }
export PRTE_MCA_plm_base_verbose=0 OTHER=3
echo "parameter first: $(prterun -x PRTE_MCA_plm_base_verbose -x OTHER -n 1 echo runs)" | tee out
prterun -x OTHER -x PRTE_MCA_plm_base_verbose -n 1 echo runs >second
if grep -q 'listed more than once' second; then
    echo "parameter second: refused: $(sed -n 's/^ *\(Value:\) */\1 /p' second | paste -sd, | sed 's/,/, /g')" | tee -a out
else
    echo "parameter second: $(cat second)" | tee -a out
fi
[ "$(cat out)" = "parameter first: runs
parameter second: refused: Value: 0, Value: 3" ]
