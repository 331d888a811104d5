"""Names beyond OpenSHMEM 1.6 (shmemx.h).  Families that are standard ones under an older name, of all types and sizes, follow from the data of
those; the prototypes of the others stand in src/shmem/extra*.c, behind the word SHMEMX."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import copy
import glob
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HANDLE = ("void **", "transfer_handle") # of Cray's library: what is under way; NULL for who completes it with a quiet
ANY = ("...", "") # the same where some versions have it and others have not
# A verb of the standard: what Cray's library calls it (the last four: Sandia's), and what its parameters have behind the standard's.
FAMILIES = {"put_nbi": ("put_nb", ANY), "get_nbi": ("get_nb", ANY), "put_signal": ("put_signal", None), "put_signal_nbi": ("put_signal_nb", ANY),
            "atomic_add": ("add_nb", HANDLE), "atomic_inc": ("inc_nb", HANDLE), "atomic_compare_swap_nbi": ("cswap_nb", HANDLE),
            "atomic_fetch_add_nbi": ("fadd_nb", HANDLE), "atomic_fetch_inc_nbi": ("finc_nb", HANDLE), "atomic_swap_nbi": ("swap_nb", HANDLE),
            "ibput": ("ibput", None), "ibget": ("ibget", None), "sum_inscan": ("sum_inscan", None), "sum_exscan": ("sum_exscan", None)}


def short_verb(f):
    return f.verb.replace("mem", "")


class Family:
    """A Function of shmem_model.py under Cray's name."""

    def __init__(self, standard):
        verb, last = FAMILIES[short_verb(standard)]

        def renamed(name):
            name = re.sub("^shmem_", "shmemx_", name)
            return name.replace(standard.verb, verb) if standard.group == "amo" else re.sub("_nbi$", "_nb", name)
        self.group, self.over, self.c11, self.entries = standard.group, standard.over, renamed(standard.c11 or ""), []
        for e in standard.entries:
            x = copy.copy(e)
            x.name, x.standard = renamed(e.name), e
            x.params = [p for p in e.params if p[1] != "sig_op"] + ([last] if last else [])
            self.entries.append(x)


class Families:
    """What the generic names are made of (shmem_h.py)."""

    def __init__(self, model):
        self.functions = [Family(f) for f in model.functions if short_verb(f) in FAMILIES]
        self.generics = [{"name": name, "forms": [{"prototype": "shmem_team_t team" if is_coll else "shmem_ctx_t"}]}
                         for name, is_coll in dict.fromkeys((f.c11, f.group == "collective") for f in self.functions if f.c11)]

    def entries(self):
        return [e for f in self.functions for e in f.entries]


def version():
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as f:
        return re.search(r"version: '([0-9.]+)'", f.read()).group(1)


def prototypes():
    """Of each function of extra*.c, as it stands there."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "src", "shmem", "extra*.c"))):
        with open(path, encoding="utf-8") as f:
            found += [" ".join(m.group(1).split()) for m in re.finditer(r"^SHMEMX (.*?)\s*\{", f.read(), re.M | re.S)]
    return found
