"""Names beyond OpenSHMEM 1.6 (shmemx.h): their prototypes stand in src/shmem/extra.c, behind the word SHMEMX."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def version():
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as f:
        return re.search(r"version: '([0-9.]+)'", f.read()).group(1)


def prototypes():
    """Of each function of extra.c, as it stands there."""
    with open(os.path.join(ROOT, "src", "shmem", "extra.c"), encoding="utf-8") as f:
        return [" ".join(m.group(1).split()) for m in re.finditer(r"^SHMEMX (.*?)\s*\{", f.read(), re.M | re.S)]
