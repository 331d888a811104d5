// sort_shmem.cc -- PEs sort numbers together: each sends every other those that belong there, and sorts what it got.
//
// In C++ the operations are overloaded: shmem_put, shmem_atomic_fetch_add and the others take any type that OpenSHMEM has,
// in templates, too.
//
//     oshc++ -O2 sort_shmem.cc -o sort_shmem && oshrun -n 4 ./sort_shmem [numbers of each PE]
//
// PE 0 prints how many numbers there are, and whether they are in order, for two types.
//
// SPDX-FileCopyrightText: 2026 The Godwit authors
// SPDX-License-Identifier: BSD-3-Clause
#include <shmem.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

static long end_of_mine;             // how many have come to this PE
static long first_wrong, wrong, all; // sums over the PEs
static long mine;

template <typename T> static bool sort(const char *name, long n)
{
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    const int most = 1 << 20; // numbers are below it
    std::mt19937 random(static_cast<unsigned>(me) + 1);
    std::vector<std::vector<T>> to(static_cast<size_t>(pes));
    for (long i = 0; i < n; i++) {
        int number = static_cast<int>(random() % most);
        to[static_cast<size_t>(static_cast<long>(number) * pes / most)].push_back(static_cast<T>(number));
    }
    T *got = static_cast<T *>(shmem_malloc(sizeof(T) * static_cast<size_t>(n) * static_cast<size_t>(pes)));
    if (!got) shmem_global_exit(1);
    end_of_mine = 0;
    shmem_barrier_all();
    for (int pe = 0; pe < pes; pe++) { // a place there for all that goes there, then the numbers
        const std::vector<T> &out = to[static_cast<size_t>(pe)];
        long at = shmem_atomic_fetch_add(&end_of_mine, static_cast<long>(out.size()), pe);
        shmem_put(got + at, out.data(), out.size(), pe);
    }
    shmem_barrier_all();
    std::sort(got, got + end_of_mine);
    mine = end_of_mine;
    first_wrong = 0;
    for (long i = 0; i < end_of_mine; i++) // none may belong to another PE
        if (static_cast<long>(got[i]) * pes / most != me) first_wrong++;
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &wrong, &first_wrong, 1);
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    const bool is_right = wrong == 0 && all == n * pes && std::is_sorted(got, got + end_of_mine);
    if (me == 0) std::printf("%ld numbers (%s) on %d PEs: %s\n", all, name, pes, is_right ? "in order" : "wrong");
    shmem_free(got);
    return is_right;
}

int main(int argc, char **argv)
{
    const long n = argc > 1 ? std::atol(argv[1]) : 10000;
    shmem_init();
    const bool ints = sort<int>("int", n), doubles = sort<double>("double", n);
    shmem_finalize();
    return ints && doubles ? 0 : 1;
}
