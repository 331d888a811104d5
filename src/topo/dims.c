/* dims.c -- MPI_Dims_create: the most balanced factors.  "As close to each other as possible" (MPI 4.1, section 8.5.2) is taken to
 * mean the smallest difference between the largest and the smallest factor.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "topo/topo.h"
#include "base/base.h"

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

/* Is d^k at least m (at most 2^31)? */
static bool reaches(int64_t d, int k, int64_t m)
{
    int64_t p = 1;
    for (int i = 0; i < k && p < m; i++) p *= d;
    return p >= m;
}
/* Is it at most m? */
static bool is_within(int64_t d, int k, int64_t m)
{
    int64_t p = 1;
    for (int i = 0; i < k && p <= m; i++) p *= d;
    return p <= m;
}

/* The index of the largest divisor whose k-th power is at most m. */
static int root_of(const struct divisors *d, int m, int k)
{
    assert(m > 0 && k > 0);
    int low = 0, high = d->n - 1;
    while (low < high) {
        int mid = (low + high + 1) / 2;
        if (is_within(d->v[mid], k, m))
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

static int largest_prime(const struct divisors *d, int m)
{
    for (int i = d->nprimes - 1; i >= 0; i--)
        if (m % d->prime[i] == 0) return d->prime[i];
    return 1;
}

/* Writes k factors of m, non-increasing and from `low` to `high`: of all such lists the one whose last is largest, of those the one whose
 * last but one is, and so on. */
static bool between(const struct divisors *d, int m, int k, int low, int high, int *f)
{
    if (k == 0) return m == 1;
    if (!reaches(high, k, m)) return false;
    if (k == 1) {
        f[0] = m;
        return m >= low;
    }
    for (int i = root_of(d, m, k); i >= 0 && d->v[i] >= low; i--) {
        if (m % d->v[i] != 0) continue;
        f[k - 1] = d->v[i];
        if (between(d, m / d->v[i], k - 1, d->v[i], high, f)) return true;
    }
    return false;
}

/* With `last` the least of k factors of m: the same, with the smallest first factor that there is below `end`. */
static bool with_last(const struct divisors *d, int m, int k, int last, int64_t end, int *f)
{
    int rest = m / last, least = largest_prime(d, rest);
    for (int i = 0; i < d->n && d->v[i] < end; i++) {
        int first = d->v[i];
        if (first < least || first < last || rest % first != 0 || !reaches(first, k - 1, rest)) continue;
        if (!between(d, rest / first, k - 2, last, first, f + 1)) continue;
        f[0] = first;
        f[k - 1] = last;
        return true;
    }
    return false;
}

/* Writes k factors of m, non-increasing, with the smallest difference between the first and the last; where several lists have that, the
 * one with the largest last factor, then the largest last but one, and so on.  The last is tried downward from the k-th root of m: the
 * first is not below that, so the difference only grows from some place on. */
static void balance(const struct divisors *d, int m, int k, int *f)
{
    int now[FACTORS_MAX], root = root_of(d, m, k);
    int64_t spread = INT64_MAX;
    f[0] = m;
    for (int i = root; k > 1 && i >= 0 && d->v[root] - d->v[i] < spread; i--) {
        if (m % d->v[i] != 0) continue;
        int64_t end = spread == INT64_MAX ? INT64_MAX : d->v[i] + spread;
        if (!with_last(d, m, k, d->v[i], end, now)) continue;
        spread = now[0] - now[k - 1];
        memcpy(f, now, (size_t)k * sizeof *f);
    }
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
        return gw_fail(GW_EDIMS, "nnodes is %d, which the given sizes in dims (product %s%lld) cannot fill evenly", nnodes,
                       product > nnodes ? "at least " : "", (long long)product);
    if (nfree == 0) return GW_OK;
    struct divisors d;
    int f[FACTORS_MAX], k = nfree < FACTORS_MAX ? nfree : FACTORS_MAX, m = (int)(nnodes / product);
    divisors_of(m, &d);
    balance(&d, m, k, f);
    for (int i = 0, next = 0; i < ndims; i++) {
        if (dims[i] != 0) continue;
        dims[i] = next < k ? f[next] : 1;
        next++;
    }
    return GW_OK;
}
