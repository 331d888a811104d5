"""Writes test/data_coll.c: every collective over its types, in the world team, in one of every second PE, in one of reversed order; and the
active sets of old programs."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
from shmem_test_c import HEAD

HELP = """
/* A team of the program, or an active set, as the tests see it: member i is PE start + i * stride. */
struct members {
    shmem_team_t team;
    int start, stride, n, mine; /* mine: this PE's number, -1: it is none */
};
static long pSync[4][SHMEM_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE];
enum { MAX = 40, MOST = 17 }; /* elements a PE; PEs */
static int pe_of(const struct members *m, int i) { return m->start + i * m->stride; }
/* Small values, so that sums and products of floating-point numbers are exact: integers; powers of two. */
static int small(int pe, size_t i, int salt) { return (int)(mix(pe, i, (uint64_t)salt) % 101) - 50; }
static double power(int pe, size_t i) { return (double[]){0.5, 1, 2, -1}[mix(pe, i, 3) % 4]; }
static void enter(const struct members *m)
{
    CHECK(shmem_team_sync(m->team) == 0);
}
"""
MOVES = """
static void moves_%(w)s(const struct members *m, %(c)s *dest, %(c)s *source, size_t n)
{
    size_t all = (size_t)m->n * n;
    int root = m->n - 1;
    for (size_t i = 0; i < all * 2; i++) source[i] = value_%(w)s(me, i);
#define CLEAR() memset(dest, 0xa5, (all * 2 + 1) * sizeof *dest), enter(m)
    CLEAR();
    CHECK(%(name)s_broadcast%(mem)s(m->team, dest, source, n, root) == 0);
    for (size_t i = 0; i < n; i++) CHECK(same_%(w)s(dest[i], value_%(w)s(pe_of(m, root), i)));
    CHECK(is_filled(dest + n, sizeof *dest, 0xa5));
    CLEAR();
    CHECK(%(name)s_fcollect%(mem)s(m->team, dest, source, n) == 0);
    for (int k = 0; k < m->n; k++)
        for (size_t i = 0; i < n; i++) CHECK(same_%(w)s(dest[(size_t)k * n + i], value_%(w)s(pe_of(m, k), i)));
    CHECK(is_filled(dest + all, sizeof *dest, 0xa5));
    CLEAR();
    CHECK(%(name)s_collect%(mem)s(m->team, dest, source, n * ((size_t)m->mine %% 3) / 2) == 0);
    size_t at = 0;
    for (int k = 0; k < m->n; k++)
        for (size_t i = 0; i < n * ((size_t)k %% 3) / 2; i++) CHECK(same_%(w)s(dest[at++], value_%(w)s(pe_of(m, k), i)));
    CHECK(is_filled(dest + at, sizeof *dest, 0xa5));
    CLEAR();
    CHECK(%(name)s_alltoall%(mem)s(m->team, dest, source, n) == 0);
    for (int k = 0; k < m->n; k++)
        for (size_t i = 0; i < n; i++) CHECK(same_%(w)s(dest[(size_t)k * n + i], value_%(w)s(pe_of(m, k), (size_t)m->mine * n + i)));
    CHECK(is_filled(dest + all, sizeof *dest, 0xa5));
    CLEAR();
    CHECK(%(name)s_alltoalls%(mem)s(m->team, dest, source, 2, 1, n) == 0);
    for (int k = 0; k < m->n; k++)
        for (size_t i = 0; i < n; i++) {
            CHECK(same_%(w)s(dest[((size_t)k * n + i) * 2], value_%(w)s(pe_of(m, k), (size_t)m->mine * n + i)));
            CHECK(is_filled(dest + ((size_t)k * n + i) * 2 + 1, sizeof *dest, 0xa5));
        }
    CLEAR();
    CHECK(%(name)s_alltoalls%(mem)s(m->team, dest, source, 1, 2, n) == 0);
    for (int k = 0; k < m->n; k++)
        for (size_t i = 0; i < n; i++) CHECK(same_%(w)s(dest[(size_t)k * n + i], value_%(w)s(pe_of(m, k), ((size_t)m->mine * n + i) * 2)));
    enter(m); /* the next kind writes over `source` */
#undef CLEAR
}
"""
REDUCTION = """
static void %(op)s_%(w)s(const struct members *m, %(c)s *dest, %(c)s *source, size_t n)
{
    %(c)s expect[MAX];
    for (size_t i = 0; i < n; i++) {
        source[i] = %(mine)s;
        %(c)s r = %(first)s;
        for (int k = 1; k < m->n; k++) {
            %(c)s v = %(other)s;
            r = %(step)s;
        }
        expect[i] = r;
    }
    memset(dest, 0xa5, (n + 1) * sizeof *dest), enter(m);
    CHECK(shmem_%(w)s_%(op)s_reduce(m->team, dest, source, n) == 0);
    for (size_t i = 0; i < n; i++) CHECK(dest[i] == expect[i] && source[i] == (%(c)s)(%(mine)s));
    CHECK(is_filled(dest + n, sizeof *dest, 0xa5));
    enter(m);
    CHECK(shmem_%(w)s_%(op)s_reduce(m->team, source, source, n) == 0);
    for (size_t i = 0; i < n; i++) CHECK(source[i] == expect[i]);
    enter(m);
}
"""
SCAN = """
static void scan_%(w)s(const struct members *m, %(c)s *dest, %(c)s *source, size_t n)
{
    %(c)s with[MAX], without[MAX];
    for (size_t i = 0; i < n; i++) {
        %(c)s r = 0;
        for (int k = 0; k < m->mine; k++) {
            %(c)s v = %(other)s;
            r = %(step)s;
        }
        without[i] = r;
        %(c)s v = %(mine)s;
        with[i] = %(step)s;
    }
    for (int in_place = 0; in_place < 2; in_place++)
        for (int is_in = 0; is_in < 2; is_in++) {
            %(c)s *to = in_place ? source : dest;
            for (size_t i = 0; i < n; i++) source[i] = %(mine)s;
            if (!in_place) memset(dest, 0xa5, (n + 1) * sizeof *dest);
            enter(m);
            CHECK((is_in ? shmem_%(w)s_sum_inscan(m->team, to, source, n) : shmem_%(w)s_sum_exscan(m->team, to, source, n)) == 0);
            for (size_t i = 0; i < n; i++) CHECK(to[i] == (is_in ? with[i] : without[i]));
            enter(m);
        }
}
"""
TO_ALL = """
static void %(op)s_to_all_%(w)s(const struct members *m, int log_stride, %(c)s *dest, %(c)s *source, %(c)s *pWrk)
{
    int n = 7, at = 0;
    %(c)s expect[7];
    for (size_t i = 0; i < 7; i++) {
        source[i] = %(mine)s;
        %(c)s r = %(first)s;
        for (int k = 1; k < m->n; k++) {
            %(c)s v = %(other)s;
            r = %(step)s;
        }
        expect[i] = r;
    }
    memset(dest, 0xa5, 8 * sizeof *dest);
    shmem_barrier(m->start, log_stride, m->n, pSync[1]);
    shmem_%(w)s_%(op)s_to_all(dest, source, n, m->start, log_stride, m->n, pWrk, pSync[0]);
    for (; at < n; at++) CHECK(dest[at] == expect[at]);
    CHECK(is_filled(dest + 7, sizeof *dest, 0xa5));
    (shmem_sync)(m->start, log_stride, m->n, pSync[2]);
}
"""
OLD = """
static void old_%(bits)d(const struct members *m, int log_stride, uint%(bits)d_t *dest, uint%(bits)d_t *source)
{
    size_t n = 11, all = (size_t)m->n * n, at = 0;
    int root = m->n / 2; /* an ordinal of the set */
    for (size_t i = 0; i < all * 2; i++) source[i] = value_o%(bits)d(me, i);
#define CLEAR() memset(dest, 0xa5, (all * 2 + 1) * sizeof *dest), shmem_barrier(m->start, log_stride, m->n, pSync[1])
    CLEAR();
    shmem_broadcast%(bits)d(dest, source, n, root, m->start, log_stride, m->n, pSync[0]);
    if (m->mine == root) CHECK(is_filled(dest, n * sizeof *dest, 0xa5));
    for (size_t i = 0; i < n && m->mine != root; i++) CHECK(dest[i] == value_o%(bits)d(pe_of(m, root), i));
    for (size_t i = 0; i < n; i++) CHECK(source[i] == value_o%(bits)d(me, i));
    CLEAR();
    shmem_fcollect%(bits)d(dest, source, n, m->start, log_stride, m->n, pSync[0]);
    for (int k = 0; k < m->n; k++)
        for (size_t i = 0; i < n; i++) CHECK(dest[(size_t)k * n + i] == value_o%(bits)d(pe_of(m, k), i));
    CLEAR();
    shmem_collect%(bits)d(dest, source, (size_t)m->mine %% 4, m->start, log_stride, m->n, pSync[0]);
    for (int k = 0; k < m->n; k++)
        for (size_t i = 0; i < (size_t)k %% 4; i++) CHECK(dest[at++] == value_o%(bits)d(pe_of(m, k), i));
    CHECK(is_filled(dest + at, sizeof *dest, 0xa5));
    CLEAR();
    shmem_alltoall%(bits)d(dest, source, n, m->start, log_stride, m->n, pSync[0]);
    for (int k = 0; k < m->n; k++)
        for (size_t i = 0; i < n; i++) CHECK(dest[(size_t)k * n + i] == value_o%(bits)d(pe_of(m, k), (size_t)m->mine * n + i));
    CLEAR();
    shmem_alltoalls%(bits)d(dest, source, 2, 1, n, m->start, log_stride, m->n, pSync[0]);
    for (int k = 0; k < m->n; k++)
        for (size_t i = 0; i < n; i++) CHECK(dest[((size_t)k * n + i) * 2] == value_o%(bits)d(pe_of(m, k), (size_t)m->mine * n + i));
    CHECK(is_filled(dest + 1, sizeof *dest, 0xa5));
    shmem_barrier(m->start, log_stride, m->n, pSync[1]);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < sizeof pSync[0] / sizeof pSync[0][0]; j++) CHECK(pSync[i][j] == SHMEM_SYNC_VALUE);
#undef CLEAR
}
"""
MAIN = """
static void team(const struct members *m, size_t n)
{
    void *dest = heap, *source = (char *)heap + sizeof data / 2;
    if (m->mine < 0) return;
%(team)s
}
static void set(int start, int log_stride, int n)
{
    int stride = 1 << log_stride, mine = me >= start && (me - start) %% stride == 0 && (me - start) / stride < n ? (me - start) / stride : -1;
    const struct members m = {SHMEM_TEAM_INVALID, start, stride, n, mine};
    void *dest = data, *source = (char *)heap + sizeof data / 2, *work = (char *)heap;
    if (mine < 0) return;
%(set)s
}
int main(void)
{
    start();
    CHECK(pes < MOST && MAX * 16 * 2 * MOST <= sizeof data / 2);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < sizeof pSync[0] / sizeof pSync[0][0]; j++) pSync[i][j] = SHMEM_SYNC_VALUE;
    struct members world = {SHMEM_TEAM_WORLD, 0, 1, pes, me}, second = {SHMEM_TEAM_INVALID, 0, 2, (pes + 1) / 2, me %% 2 ? -1 : me / 2},
                   reversed = {SHMEM_TEAM_INVALID, pes - 1, -1, pes, pes - 1 - me};
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, second.n, NULL, 0, &second.team) == 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &reversed.team) == 0);
    team(&world, 1), team(&world, 40);
    team(&reversed, 7);
    team(&second, 20);
    shmem_barrier_all();
    set(0, 0, pes);
    shmem_barrier_all();
    set(pes > 1, 1, pes / 2 ? pes / 2 : 1);
    if (second.mine >= 0) shmem_team_destroy(second.team);
    shmem_team_destroy(reversed.team);
    stop();
    return 0;
}
"""
BITWISE = {"and": "&", "or": "|", "xor": "^"}


def words(t, op):
    """What a reduction over that type is made of: values of this PE, of member 0 and of member k, and the step."""
    unsigned = "uint%d_t" % (8 * t.bytes) if t.bytes <= 8 else ""
    if op in BITWISE or op in ("max", "min"):
        step = "(%s)(r %s v)" % (t.c, BITWISE[op]) if op in BITWISE else "v %s r ? v : r" % (">" if op == "max" else "<")
        value = "value_%s(%%s, i)" % t.name
    elif t.kind in ("real", "complex") and op == "prod":
        step, value = "r * v", "(%s)power(%%s, i)" % t.c
        if t.kind == "complex":
            value += " * (mix(%s, i, 9) % 2 ? 1 : __extension__ 1.0i)"
    elif t.kind in ("real", "complex"):
        step, value = "r + v", "(%s)small(%%s, i, 1)" % t.c
        if t.kind == "complex":
            value += " + (%s)small(%%s, i, 2) * __extension__ 1.0i" % t.c
    else: # integers wrap
        step = "(%s)((%s)r %s (%s)v)" % (t.c, "uint64_t" if t.bytes < 8 else unsigned, "*" if op == "prod" else "+", unsigned)
        value = "value_%s(%%s, i)" % t.name

    def of(pe):
        return value.replace("%s", pe).replace("%%", "%")
    return {"op": op, "w": t.name, "c": t.c, "mine": of("me"), "first": of("pe_of(m, 0)"), "other": of("pe_of(m, k)"), "step": step}


def emit(model):
    import shmem_test # which imports this one
    out = [HEAD % "collectives over all types", HELP]
    team, sets = [], []
    kinds = shmem_test.kinds(model, "rma") + [shmem_test.Kind("mem", "unsigned char", "bytes", 1)]
    for k in kinds:
        is_mem = k.kind == "bytes"
        out.append(shmem_test.value_functions(k))
        out.append(MOVES % {"w": k.word, "c": k.c, "mem": "mem" if is_mem else "", "name": "shmem" if is_mem else "shmem_" + k.word})
        team.append("moves_%s(m, dest, source, n);" % k.word)
    for op in ("and", "or", "xor", "max", "min", "sum", "prod"):
        for t in model.types["reduce_" + op]:
            out.append(REDUCTION % words(t, op))
            team.append("%s_%s(m, dest, source, n);" % (op, t.name))
        for t in model.types["to_all_" + op]:
            out.append(TO_ALL % words(t, op))
            sets.append("%s_to_all_%s(&m, log_stride, dest, source, work);" % (op, t.name))
    for t in model.types["reduce_sum"]:
        out.append(SCAN % words(t, "sum"))
        team.append("scan_%s(m, dest, source, n);" % t.name)
    for bits in (32, 64):
        k = shmem_test.Kind("o%d" % bits, "uint%d_t" % bits, "unsigned", bits // 8)
        out += [shmem_test.value_functions(k), OLD % {"bits": bits}]
        sets.append("old_%d(&m, log_stride, dest, source);" % bits)
    out.append(MAIN % {"team": "\n".join("    " + x for x in team), "set": "\n".join("    " + x for x in sets)})
    return "\n".join(out)
