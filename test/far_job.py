"""A job on two faked nodes, for tests of what goes between hosts: test/system/tls.py, munge.py."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_", "FI_", "mtl_"))}


def job(words, *options, **env):
    """words: a program of BUILD and its arguments.  Its status, and all that was printed."""
    p = subprocess.run([BUILD + "/mpiexec", "--vnodes", "2"] + list(options) + [BUILD + "/" + words[0]] + words[1:], env=dict(CLEAN, **env),
                       capture_output=True, text=True, timeout=100, check=False)
    return p.returncode, p.stdout + p.stderr
