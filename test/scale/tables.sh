#!/bin/sh
# run.py: timeout=200
# What the tables in tune/ choose between nodes costs little more than the best algorithm, on one of the machines of the defaults.
# Most: small alltoalls by levels, whose bounds are the documents', and which are several times quicker on the other machine.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
exec "$(dirname "$0")/../../tune/between.py" "$1" --most 512 --at-most 8
