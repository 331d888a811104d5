/* dims.c -- MPI_Dims_create: the most balanced factors.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "topo/topo.h"

/* No int has more divisors than 1,600 (2,095,133,040 has them), more prime factors than 30 or more different ones than 9. */
enum { DIVISORS_MAX = 1600, FACTORS_MAX = 30, PRIMES_MAX = 9 };

struct divisors {
    int n, v[DIVISORS_MAX], nprimes, prime[PRIMES_MAX];
}; /* both ascending */

static void divisors_of(int n, struct divisors *d)
{
    d->n = d->nprimes = 0;
    for (int64_t i = 1; i * i <= n; i++)
        if (n % i == 0) d->v[d->n++] = (int)i;
    for (int i = d->n - 1; i >= 0; i--) {
        int high = n / d->v[i];
        if (high > d->v[d->n - 1]) d->v[d->n++] = high;
    }
    assert(d->n <= DIVISORS_MAX);
    for (int i = 1, rest = n; i < d->n && rest > 1; i++) {
        if (rest % d->v[i] != 0) continue; /* a divisor of the rest, from below: a prime */
        d->prime[d->nprimes++] = d->v[i];
        while (rest % d->v[i] == 0) rest /= d->v[i];
    }
}

/* d^k >= m */
static bool reaches(int64_t d, int k, int64_t m)
{
    int64_t p = 1;
    for (int i = 0; i < k && p < m; i++) p *= d;
    return p >= m;
}

static int largest_prime(const struct divisors *d, int m)
{
    for (int i = d->nprimes - 1; i >= 0; i--)
        if (m % d->prime[i] == 0) return d->prime[i];
    return 1;
}

/* Writes k factors of m, non-increasing and none above `most`, the first of all such lists in dictionary order.  As all of them lie at
 * or below the first, that is tried upward from the k-th root of m, or from the largest prime in m. */
static bool balance(const struct divisors *d, int m, int k, int most, int *f)
{
    if (k == 1) {
        f[0] = m;
        return m <= most;
    }
    int least = largest_prime(d, m);
    for (int i = 0; i < d->n && d->v[i] <= most; i++) {
        int first = d->v[i];
        if (first < least || m % first != 0 || !reaches(first, k, m)) continue;
        f[0] = first;
        if (balance(d, m / first, k - 1, first, f + 1)) return true;
    }
    return false;
}

int topo_dims_create(int nnodes, int ndims, int *dims)
{
    if (nnodes < 1) return gw_fail(GW_EARG, "nnodes is %d; there must be at least one node", nnodes);
    if (ndims < 0) return gw_fail(GW_EDIMS, "ndims is %d; it must not be negative", ndims);
    int64_t product = 1;
    int nfree = 0;
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0) return gw_fail(GW_EDIMS, "dims[%d] is %d; give a size, or 0 to have it chosen", i, dims[i]);
        nfree += dims[i] == 0;
        if (dims[i] > 0 && product <= nnodes) product *= dims[i];
    }
    if (nnodes % product != 0 || (nfree == 0 && ndims > 0 && product != nnodes))
        return gw_fail(GW_EDIMS, "nnodes is %d, which the given sizes in dims (product %s%lld) cannot fill evenly",
                       nnodes, product > nnodes ? "at least " : "", (long long)product);
    if (nfree == 0) return GW_OK;
    struct divisors d;
    int f[FACTORS_MAX], k = nfree < FACTORS_MAX ? nfree : FACTORS_MAX, m = (int)(nnodes / product);
    divisors_of(m, &d);
    bool found = balance(&d, m, k, m, f);
    assert(found);
    (void)found;
    for (int i = 0, next = 0; i < ndims; i++) {
        if (dims[i] != 0) continue;
        dims[i] = next < k ? f[next] : 1;
        next++;
    }
    return GW_OK;
}
