#!/usr/bin/env python3
"""ring_shmem.py -- OpenSHMEM from Python, without a package: the library is loaded by its name, and has a function for each type.

Each PE puts its number to the next one, and all add theirs up.  Memory that others reach comes from shmem_malloc.  No
header takes part, so each function's types are said here.

    oshrun -n 4 python3 ring_shmem.py

The library is found where it is installed: LD_LIBRARY_PATH, unless the system looks there.  PE 0 prints the sum.
"""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import ctypes
from ctypes import c_int, c_long, c_size_t, c_void_p

shmem = ctypes.CDLL("libgodwit_shmem.so")
shmem.shmem_malloc.restype = c_void_p
shmem.shmem_malloc.argtypes = [c_size_t]
shmem.shmem_free.argtypes = [c_void_p]
shmem.shmem_long_p.argtypes = [c_void_p, c_long, c_int]
shmem.shmem_long_sum_reduce.argtypes = [c_void_p, c_void_p, c_void_p, c_size_t]
TEAM_WORLD = c_void_p(1)  # SHMEM_TEAM_WORLD of shmem.h

shmem.shmem_init()
me, pes = shmem.shmem_my_pe(), shmem.shmem_n_pes()
place = shmem.shmem_malloc(2 * ctypes.sizeof(c_long))
got, total = (c_long * 2).from_address(place), place + ctypes.sizeof(c_long)
shmem.shmem_long_p(place, me, (me + 1) % pes)
shmem.shmem_barrier_all()
left = got[0]
shmem.shmem_long_sum_reduce(TEAM_WORLD, total, place, 1)
total_is = got[1]
if me == 0:
    right = left == pes - 1 and total_is == pes * (pes - 1) // 2
    print("%d PEs: PE 0 has %d, all have %d together: %s" % (pes, left, total_is, "right" if right else "wrong"))
shmem.shmem_barrier_all()
del got
shmem.shmem_free(place)
shmem.shmem_finalize()
