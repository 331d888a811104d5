/* large.c -- counts beyond 2^31 and buffers beyond 2^32 bytes: in the _c forms and, with derived types, in the others.
 *
 * Gigabytes really travel, but they lie in a few MiB: a buffer is one file mapped again and again, behind itself, so that its
 * contents repeat with a period that divides no power of two; a place that lost its upper bits gives other contents.  Around
 * the marks (both ends, 2^31, 2^32) lie pages of their own.  With "true" the memory is real.
 *
 * users.md row 23
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "p2p_check.h"

#define KIB    1024l
#define GIB    (1l << 30)
#define PERIOD (7 * KIB * KIB + 12 * KIB)
#define BIG    (4 * GIB + 9 * KIB * KIB + 4) /* bytes of a buffer: a multiple of 4 */
#define ISLAND (8 * KIB)
enum { TAG = 5 };

struct big {
    char *at;
    int seed;
}; /* seed: what period_fill wrote */
static struct big in, out;

static const long marks[] = {0, 2 * GIB, 4 * GIB, BIG};
static long mark_lo(int m) { return m == 0 ? 0 : marks[m] / 4096 * 4096 - (m == 3 ? 0 : 4096); }
static long mark_hi(int m) { return m == 3 ? BIG : mark_lo(m) + ISLAND; }

static void give_up(const char *why)
{
    printf("%s\n", why);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 77);
}
static long memory_available(void)
{
    char line[200];
    long kib = 0;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %ld", &kib) != 1) continue;
    if (f) fclose(f);
    return kib * KIB;
}

static char *reserve(long bytes)
{
    void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) give_up("not enough address space");
    return p;
}
static void big_map(struct big *b)
{
    int fd = memfd_create("large", MFD_CLOEXEC), wrong = fd < 0 || ftruncate(fd, PERIOD) != 0;
    b->at = reserve(BIG);
    for (long at = 0; at < BIG && !wrong; at += PERIOD) {
        long n = BIG - at < PERIOD ? BIG - at : PERIOD;
        wrong = mmap(b->at + at, (size_t)n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED;
    }
    for (int m = 0; m < 4 && !wrong; m++)
        wrong = mmap(b->at + mark_lo(m), (size_t)(mark_hi(m) - mark_lo(m)), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED;
    if (wrong) give_up("a file cannot be mapped many times here");
    close(fd);
}

/* The first period that no island covers. */
static char *period_of(const struct big *b) { return b->at + PERIOD; }
static void big_fill(struct big *b, int seed)
{
    b->seed = seed;
    pattern_fill(period_of(b), PERIOD, (unsigned)seed);
    for (int m = 0; m < 4; m++)
        for (long i = mark_lo(m); i < mark_hi(m); i++) b->at[i] = (char)pattern_at((unsigned)seed + 1, i);
}
static void big_clear(struct big *b)
{
    memset(period_of(b), 0, (size_t)PERIOD);
    for (int m = 0; m < 4; m++) memset(b->at + mark_lo(m), 0, (size_t)(mark_hi(m) - mark_lo(m)));
}
/* Bytes below `bytes` are of the pattern `seed`, those beyond 0; with every != 0 only every second int counts, the others are 0. */
static void big_check(const struct big *b, int seed, long bytes, int gaps, int line)
{
    long wrong = -1;
    const char *p = period_of(b);
    for (long i = 0; i < PERIOD && wrong < 0; i++)
        if ((unsigned char)p[i] != (gaps && i / 4 % 2 ? 0 : pattern_at((unsigned)seed, i))) wrong = i;
    if (wrong >= 0 && failures++ < 20) fprintf(stderr, "rank %d: line %d: byte %ld of a period is wrong\n", rank, line, wrong);
    for (int m = 0; m < 4; m++)
        for (long i = mark_lo(m); i < mark_hi(m); i++) {
            int want = i >= bytes || (gaps && i / 4 % 2) ? 0 : pattern_at((unsigned)seed + 1, i);
            if ((unsigned char)b->at[i] == want) continue;
            if (failures++ < 20)
                fprintf(stderr, "rank %d: line %d: byte %ld is %d, not %d\n", rank, line, i, (unsigned char)b->at[i], want);
            break;
        }
}
#define BIG_CHECK(b, seed, bytes, gaps) big_check(b, seed, bytes, gaps, __LINE__)

/* ---- without messages ---- */

static MPI_Count size_c_of(MPI_Datatype t)
{
    MPI_Count n = -1, x = -2;
    MPI_Type_size_c(t, &n);
    MPI_Type_size_x(t, &x);
    CHECK_EQ(n, x);
    return n;
}
/* Commits and frees it. */
static void type_is(MPI_Datatype t, MPI_Count bytes, MPI_Count lb, MPI_Count extent, MPI_Count true_lb, MPI_Count true_extent)
{
    MPI_Count l = -1, e = -1, tl = -1, te = -1;
    MPI_Aint l_aint = -1, e_aint = -1;
    int n = -1;
    CHECK_EQ(MPI_Type_commit(&t), MPI_SUCCESS);
    CHECK_EQ(size_c_of(t), bytes);
    MPI_Type_size(t, &n);
    CHECK_EQ(n, bytes > INT32_MAX ? MPI_UNDEFINED : bytes);
    MPI_Type_get_extent_c(t, &l, &e);
    MPI_Type_get_true_extent_c(t, &tl, &te);
    MPI_Type_get_extent(t, &l_aint, &e_aint);
    CHECK_EQ(l, lb);
    CHECK_EQ(e, extent);
    CHECK_EQ(tl, true_lb);
    CHECK_EQ(te, true_extent);
    CHECK_EQ(l_aint, lb);
    CHECK_EQ(e_aint, extent);
    MPI_Type_free(&t);
}

static void types(void)
{
    MPI_Datatype t, u, both[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Count n[2] = {1, 2}, far[2] = {6 * GIB, -3 * GIB}, sizes[2] = {8 * GIB, 3}, part[2] = {2 * GIB + 1, 1},
              start[2] = {5 * GIB, 1};
    MPI_Count indexed[2] = {3 * GIB, 0};
    MPI_Type_contiguous_c(8 * GIB, MPI_INT, &t);
    type_is(t, 32 * GIB, 0, 32 * GIB, 0, 32 * GIB);
    MPI_Type_contiguous(1 << 30, MPI_INT, &t);
    MPI_Type_contiguous(1 << 20, t, &u);
    MPI_Type_free(&t);
    type_is(u, GIB << 22, 0, GIB << 22, 0, GIB << 22);
    MPI_Type_contiguous(INT32_MAX, MPI_BYTE, &t);
    type_is(t, INT32_MAX, 0, INT32_MAX, 0, INT32_MAX);
    MPI_Type_vector(1 << 20, 1, 1 << 20, MPI_INT, &t);
    type_is(t, 4 << 20, 0, (GIB << 12) - (1 << 22) + 4, 0, (GIB << 12) - (1 << 22) + 4);
    MPI_Type_vector_c(3, 3 * GIB, 4 * GIB, MPI_SHORT, &t);
    type_is(t, 18 * GIB, 0, 22 * GIB, 0, 22 * GIB);
    MPI_Type_create_hvector_c(2, 1, -5 * GIB, MPI_INT, &t);
    type_is(t, 8, -5 * GIB, 5 * GIB + 4, -5 * GIB, 5 * GIB + 4);
    MPI_Type_create_hindexed_c(2, n, far, MPI_INT, &t);
    type_is(t, 12, -3 * GIB, 9 * GIB + 4, -3 * GIB, 9 * GIB + 4);
    MPI_Type_create_hindexed_block_c(2, 4 * GIB, far, MPI_BYTE, &t);
    type_is(t, 8 * GIB, -3 * GIB, 13 * GIB, -3 * GIB, 13 * GIB);
    MPI_Type_indexed_c(2, n, indexed, MPI_INT, &t);
    type_is(t, 12, 0, 12 * GIB + 4, 0, 12 * GIB + 4);
    MPI_Type_create_indexed_block_c(2, 1, indexed, MPI_INT, &t);
    type_is(t, 8, 0, 12 * GIB + 4, 0, 12 * GIB + 4);
    MPI_Type_create_struct_c(2, n, far, both, &t);
    type_is(t, 20, -3 * GIB, 9 * GIB + 8, -3 * GIB, 9 * GIB + 4); /* 4 bytes to the alignment of doubles */
    MPI_Type_create_subarray_c(2, sizes, part, start, MPI_ORDER_FORTRAN, MPI_SHORT, &t);
    type_is(t, 4 * GIB + 2, 0, 48 * GIB, (8 + 5) * GIB * 2, 4 * GIB + 2);
    MPI_Type_create_resized_c(MPI_INT, -GIB, 7 * GIB, &t);
    type_is(t, 4, -GIB, 7 * GIB, 0, 4);
}

static void contents(void)
{
    MPI_Datatype t, inner;
    MPI_Count n[2] = {5 * GIB, 2}, at[2] = {0, 6 * GIB}, ni = -1, na = -1, nc = -1, nd = -1, counts[8] = {0};
    int integers[1], combiner = -1;
    MPI_Aint addresses[1];
    MPI_Type_create_hindexed_c(2, n, at, MPI_INT, &t);
    MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nd, &combiner);
    CHECK_EQ(combiner, MPI_COMBINER_HINDEXED);
    CHECK_EQ(ni, 0);
    CHECK_EQ(na, 0);
    CHECK_EQ(nc, 5);
    CHECK_EQ(nd, 1);
    MPI_Type_get_contents_c(t, ni, na, nc, nd, integers, addresses, counts, &inner);
    CHECK_EQ(counts[0], 2);
    CHECK_EQ(counts[1], n[0]);
    CHECK_EQ(counts[2], n[1]);
    CHECK_EQ(counts[3], at[0]);
    CHECK_EQ(counts[4], at[1]);
    CHECK(inner == MPI_INT);
    MPI_Type_free(&t);
}

/* What a status says of `bytes` bytes. */
static void counts_are(const MPI_Status *s, MPI_Count bytes)
{
    MPI_Datatype three, mebi;
    MPI_Count c = -1, e = -1, x = -1;
    int n = -1;
    MPI_Type_contiguous(3, MPI_BYTE, &three);
    MPI_Type_contiguous(1 << 20, MPI_INT, &mebi);
    MPI_Type_commit(&three), MPI_Type_commit(&mebi);
    const struct {
        MPI_Datatype type;
        MPI_Count size, basic;
    } v[] = {{MPI_BYTE, 1, 1}, {MPI_INT, 4, 4}, {three, 3, 1}, {mebi, 4 << 20, 4}};
    for (int i = 0; i < 4; i++) {
        MPI_Count want = bytes % v[i].size ? MPI_UNDEFINED : bytes / v[i].size;
        MPI_Count elements = bytes % v[i].basic ? MPI_UNDEFINED : bytes / v[i].basic;
        MPI_Get_count_c(s, v[i].type, &c), MPI_Get_elements_c(s, v[i].type, &e), MPI_Get_elements_x(s, v[i].type, &x);
        CHECK_EQ(c, want);
        CHECK_EQ(e, elements);
        CHECK_EQ(x, elements);
        MPI_Get_count(s, v[i].type, &n);
        CHECK_EQ(n, want > INT32_MAX ? MPI_UNDEFINED : want);
        MPI_Get_elements(s, v[i].type, &n);
        CHECK_EQ(n, elements > INT32_MAX ? MPI_UNDEFINED : elements);
    }
    MPI_Type_free(&three), MPI_Type_free(&mebi);
}
static void statuses(void)
{
    MPI_Status s;
    memset(&s, 0, sizeof s);
    const MPI_Count lengths[] = {0, INT32_MAX, 2 * GIB, 3 * GIB, 4 * GIB, 4 * GIB + 1, 12 * GIB, GIB << 12};
    for (int i = 0; i < 8; i++) {
        MPI_Status_set_elements_c(&s, MPI_BYTE, lengths[i]);
        counts_are(&s, lengths[i]);
        MPI_Status_set_elements_x(&s, MPI_INT, lengths[i]);
        counts_are(&s, 4 * lengths[i]);
    }
}

static void packing(void)
{
    MPI_Count n = -1, at = 4 * GIB + 8;
    int small = -1, values[4] = {1, 2, 3, 4}, back[4] = {0};
    MPI_Pack_size_c(8 * GIB, MPI_INT, MPI_COMM_WORLD, &n);
    CHECK(n >= 32 * GIB);
    MPI_Pack_size(1 << 30, MPI_INT, MPI_COMM_WORLD, &small);
    CHECK_EQ(small, MPI_UNDEFINED);
    MPI_Pack_external_size_c("external32", 8 * GIB, MPI_INT, &n);
    CHECK_EQ(n, 32 * GIB);
    big_clear(&out);
    MPI_Pack_c(values, 4, MPI_INT, out.at, BIG, &at, MPI_COMM_WORLD);
    CHECK_EQ(at, 4 * GIB + 24);
    CHECK(memcmp(out.at + 4 * GIB + 8, values, 16) == 0);
    at = 4 * GIB + 8;
    MPI_Unpack_c(out.at, BIG, &at, back, 4, MPI_INT, MPI_COMM_WORLD);
    CHECK(at == 4 * GIB + 24 && memcmp(back, values, 16) == 0);
    at = 0;
    MPI_Pack_c(in.at, BIG, MPI_BYTE, out.at, BIG, &at, MPI_COMM_WORLD);
    CHECK_EQ(at, BIG);
    BIG_CHECK(&out, in.seed, BIG, 0);
    big_clear(&out);
    at = 0;
    MPI_Unpack_c(in.at, BIG, &at, out.at, BIG / 4, MPI_INT, MPI_COMM_WORLD);
    CHECK_EQ(at, BIG);
    BIG_CHECK(&out, in.seed, BIG, 0);
}

/* out |= in, 4 GiB of bytes; what repeats may be or'ed twice. */
static void reducing(void)
{
    big_clear(&out);
    MPI_Reduce_local_c(in.at, out.at, BIG, MPI_BYTE, MPI_BOR);
    BIG_CHECK(&out, in.seed, BIG, 0);
}

/* ---- messages from rank 0 to the last one ---- */

static int is_sender, is_receiver, last;

static void contiguous(void)
{
    MPI_Request q;
    MPI_Status s;
    if (is_receiver) big_clear(&out);
    if (is_sender && is_receiver) {
        MPI_Isend_c(in.at, BIG, MPI_BYTE, last, TAG, MPI_COMM_WORLD, &q);
        MPI_Recv_c(out.at, BIG, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &s);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    } else if (is_sender)
        MPI_Send_c(in.at, BIG, MPI_BYTE, last, TAG, MPI_COMM_WORLD);
    else if (is_receiver)
        MPI_Recv_c(out.at, BIG, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &s);
    if (!is_receiver) return;
    counts_are(&s, BIG);
    BIG_CHECK(&out, 1, BIG, 0);
}

/* A probe sees how long the message is; 3 GiB of it are received in vain. */
static void probed(void)
{
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_Message m;
    if (is_sender) MPI_Isend_c(in.at, 3 * GIB, MPI_BYTE, last, TAG, MPI_COMM_WORLD, &q);
    if (is_receiver) {
        big_clear(&out);
        MPI_Probe(0, TAG, MPI_COMM_WORLD, &s);
        counts_are(&s, 3 * GIB);
        MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &m, &s);
        counts_are(&s, 3 * GIB);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int class = -1, rc = MPI_Mrecv_c(out.at + 2 * GIB, ISLAND / 4, MPI_BYTE, &m, &s);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Error_class(rc, &class);
        CHECK_EQ(class, MPI_ERR_TRUNCATE);
        CHECK(m == MPI_MESSAGE_NULL);
        for (int k = 0; k < 4; k++) /* what is received anyway, and nothing else */
            for (long i = mark_lo(k); i < mark_hi(k); i++)
                if (i < 2 * GIB || i >= 2 * GIB + ISLAND / 4) CHECK_EQ(out.at[i], 0);
        for (long i = 0; i < PERIOD; i++) CHECK_EQ(period_of(&out)[i], 0);
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

/* Counts are ints: 2^20 bytes or more each.  The receiver may take it as another type. */
static void derived(void)
{
    enum { BLOCKS = 1 << 20, VECTORS = BIG / (8l * BLOCKS) }; /* a vector: 4 MiB in 8 */
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[2];
    MPI_Datatype mebi, vector, dense;
    const int mebis = BIG >> 20, vectors = VECTORS;
    const long vectors_end = VECTORS * 8l * BLOCKS;
    int n = -1;
    MPI_Type_contiguous(1 << 20, MPI_BYTE, &mebi);
    MPI_Type_vector(BLOCKS, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 8l * BLOCKS, &dense);
    MPI_Type_commit(&mebi), MPI_Type_commit(&dense);
    if (is_receiver) {
        big_clear(&out);
        MPI_Irecv(out.at, mebis, mebi, 0, TAG, MPI_COMM_WORLD, &q[0]);
    }
    if (is_sender) MPI_Isend(in.at, mebis, mebi, last, TAG, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, s);
    if (is_receiver) {
        counts_are(&s[0], (long)mebis << 20);
        MPI_Get_count(&s[0], mebi, &n);
        CHECK_EQ(n, mebis);
        BIG_CHECK(&out, 1, (long)mebis << 20, 0);
        big_clear(&out);
        MPI_Irecv(out.at, vectors, dense, 0, TAG, MPI_COMM_WORLD, &q[0]);
    }
    if (is_sender) MPI_Isend(in.at, vectors, dense, last, TAG, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, s);
    if (is_receiver) {
        counts_are(&s[0], vectors_end / 2);
        BIG_CHECK(&out, 1, vectors_end, 1);
    }
    MPI_Type_free(&mebi), MPI_Type_free(&vector), MPI_Type_free(&dense);
}

/* A few bytes around each mark, with gigabytes between them; sent forth as blocks with displacements, there one long one. */
static void gaps(void)
{
    MPI_Datatype t;
    MPI_Count n[4], at[4], total = 0;
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[2];
    for (int m = 0; m < 4; m++) n[m] = mark_hi(m) - mark_lo(m), at[m] = mark_lo(m), total += n[m];
    MPI_Type_create_hindexed_c(4, n, at, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    if (is_receiver) {
        big_clear(&out);
        MPI_Irecv_c(out.at, 1, t, 0, TAG, MPI_COMM_WORLD, &q[0]);
    }
    if (is_sender) MPI_Isend_c(in.at, 1, t, last, TAG, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, s);
    if (is_receiver) {
        counts_are(&s[0], total);
        for (int m = 0; m < 4; m++)
            for (long i = at[m]; i < at[m] + n[m]; i++) CHECK_EQ((unsigned char)out.at[i], pattern_at(2, i));
        for (long i = 0; i < PERIOD; i++) CHECK_EQ(period_of(&out)[i], 0);
    }
    MPI_Type_free(&t);
}

static void persistent_and_partitioned(void)
{
    MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    const int parts = 3; /* more than 2^32 bytes, and a part that begins behind 2^31 */
    const MPI_Count part = BIG / parts;
    if (is_receiver) {
        big_clear(&out);
        MPI_Precv_init(out.at, parts, part, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
        MPI_Start(&q[0]);
    }
    if (is_sender) {
        MPI_Psend_init(in.at, parts, part, MPI_BYTE, last, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
        MPI_Start(&q[1]);
        for (int i = parts - 1; i >= 0; i--) MPI_Pready(i, q[1]);
    }
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    if (is_receiver) {
        BIG_CHECK(&out, 1, part * parts, 0);
        big_clear(&out);
        MPI_Request_free(&q[0]);
        MPI_Recv_init_c(out.at, BIG / 4, MPI_INT, 0, TAG, MPI_COMM_WORLD, &q[0]);
        MPI_Start(&q[0]);
    }
    if (is_sender) {
        MPI_Request_free(&q[1]);
        MPI_Send_init_c(in.at, BIG / 4, MPI_INT, last, TAG, MPI_COMM_WORLD, &q[1]);
        MPI_Start(&q[1]);
    }
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    if (is_receiver) {
        BIG_CHECK(&out, 1, BIG, 0);
        MPI_Request_free(&q[0]);
    }
    if (is_sender) MPI_Request_free(&q[1]);
}

/* ---- collectives ---- */

static void collectives(void)
{
    MPI_Request q;
    const long each = (BIG - 4) / size / 4 * 4;
    if (rank != 0) big_clear(&out);
    MPI_Bcast_c(rank == 0 ? in.at : out.at, BIG, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank != 0) BIG_CHECK(&out, 1, BIG, 0);
    big_clear(&out);
    MPI_Ibcast_c(rank == last ? in.at : out.at, BIG / 4, MPI_INT, last, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (rank != last) BIG_CHECK(&out, 1, BIG, 0);
    big_clear(&out);
    /* Of the int interface: no rank has 2^31 bytes, all together have (but for one or two ranks). */
    if (size > 2)
        MPI_Gather(in.at + each * rank, (int)each, MPI_BYTE, out.at, (int)each, MPI_BYTE, last, MPI_COMM_WORLD);
    else
        MPI_Gather_c(in.at + each * rank, each, MPI_BYTE, out.at, each, MPI_BYTE, last, MPI_COMM_WORLD);
    if (rank == last) BIG_CHECK(&out, 1, each * size, 0);
    big_clear(&out);
    MPI_Scatter_c(in.at, each / 4, MPI_INT, out.at + each * rank, each, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (long i = 0; i < 4096; i++) CHECK_EQ((unsigned char)out.at[each * rank + i], (unsigned char)in.at[each * rank + i]);
    for (long i = each - 4096; i < each; i++)
        CHECK_EQ((unsigned char)out.at[each * rank + i], (unsigned char)in.at[each * rank + i]);
    big_clear(&out);
    MPI_Allgather_c(in.at + each * rank, each / 4, MPI_INT, out.at, each, MPI_BYTE, MPI_COMM_WORLD);
    BIG_CHECK(&out, 1, each * size, 0);
}

/* Three ints, 2 GiB apart, where the islands are. */
enum { FAR = 3 };
static int *far_int(const struct big *b, int i) { return (int *)(void *)(b->at + 2 * i * GIB); }
static void far_add(void *a, void *b, MPI_Count *n, MPI_Datatype *t)
{
    (void)t;
    for (MPI_Count i = 0; i < *n; i++) *(int *)(void *)((char *)b + 2 * i * GIB) += *(int *)(void *)((char *)a + 2 * i * GIB);
}
static void far_reductions(void)
{
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_create_resized(MPI_INT, 0, 2 * GIB, &type);
    MPI_Type_commit(&type);
    MPI_Op_create_c(far_add, 1, &op);
    for (int i = 0; i < FAR; i++) *far_int(&in, i) = 100 * i + rank;
    big_clear(&out);
    MPI_Allreduce_c(in.at, out.at, FAR, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < FAR; i++) CHECK_EQ(*far_int(&out, i), 100 * i * size + size * (size - 1) / 2);
    big_clear(&out);
    MPI_Reduce(in.at, out.at, FAR, type, op, last, MPI_COMM_WORLD);
    for (int i = 0; i < FAR && rank == last; i++) CHECK_EQ(*far_int(&out, i), 100 * i * size + size * (size - 1) / 2);
    big_clear(&out);
    MPI_Scan(in.at, out.at, FAR, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < FAR; i++) CHECK_EQ(*far_int(&out, i), 100 * i * (rank + 1) + rank * (rank + 1) / 2);
    MPI_Op_free(&op), MPI_Type_free(&type);
    big_fill(&in, 1);
}

/* ---- real memory ---- */

static void real_memory(void)
{
    const long n = 2 * GIB + GIB / 8;
    if (size < 2) give_up("two ranks are needed");
    if (memory_available() < 8 * GIB) give_up("less than 8 GiB of memory are free");
    char *mine = is_sender || is_receiver ? reserve(n) : NULL;
    MPI_Status s;
    if (mine) madvise(mine, (size_t)n, MADV_HUGEPAGE);
    if (is_sender) {
        for (long i = 0; i < n; i += 4096) mine[i + i / 4096 % 4096] = (char)pattern_at(9, i);
        MPI_Send_c(mine, n, MPI_BYTE, last, TAG, MPI_COMM_WORLD);
    }
    if (is_receiver) {
        MPI_Recv_c(mine, n, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &s);
        counts_are(&s, n);
        for (long i = 0; i < n; i += 4096) CHECK_EQ((unsigned char)mine[i + i / 4096 % 4096], pattern_at(9, i));
    }
    if (mine) munmap(mine, (size_t)n);
}

/* Of more than 2^31 elements.  What is or'ed may be or'ed twice: the buffers repeat. */
static void many_elements(void)
{
    const long n = 2 * GIB + 2 * KIB;
    big_clear(&out);
    MPI_Allreduce_c(in.at, out.at, n, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    BIG_CHECK(&out, 1, n, 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    if (memory_available() < 2 * GIB) give_up("less than 2 GiB of memory are free");
    last = size - 1;
    is_sender = rank == 0, is_receiver = rank == last;
    big_map(&in), big_map(&out);
    big_fill(&in, 1);
    const char *what = argc > 1 ? argv[1] : "quick";
    static const struct {
        const char *group;
        void (*run)(void);
    } parts[] = {{"quick", types},
                 {"quick", contents},
                 {"quick", statuses},
                 {"quick", probed},
                 {"quick", gaps},
                 {"quick", far_reductions},
                 {"local", packing},
                 {"local", reducing},
                 {"p2p", contiguous},
                 {"p2p", derived},
                 {"p2p", persistent_and_partitioned},
                 {"coll", collectives},
                 {"coll", many_elements},
                 {"real", real_memory}};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(what, parts[i].group) == 0) {
            double t0 = MPI_Wtime();
            parts[i].run();
            if (rank == 0 && argc > 2) printf("part %u: %.2f s\n", i, MPI_Wtime() - t0);
        }
    return test_end();
}
