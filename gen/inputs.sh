#!/bin/sh
# Prints every file that generated sources depend on, for the build.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
cd "$(dirname "$0")/.." && ls gen/*.py api/*.* api/shmem/* src/*/*.def src/shmem/extra.c tune/*.tbl 2>/dev/null
