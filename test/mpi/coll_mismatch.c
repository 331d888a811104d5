/* coll_mismatch.c -- collectives that do not match: each kind is one mistake that must be told at once, by name (test/system/coll_mismatch.sh).
 *
 *     mpi_coll_mismatch KIND [FACTOR [dup]]   makes the mistake once; sizes times FACTOR; on a communicator made for it
 *     mpi_coll_mismatch returned              with MPI_ERRORS_RETURN: the caller gets the code, and the communicator works afterwards
 *     mpi_coll_mismatch mixed                 the same where sizes differ so much that some use shared memory and others messages
 *     mpi_coll_mismatch first                 the same where it is the first collective of a communicator
 *     mpi_coll_mismatch file                  the same of a file: one rank makes another collective call on it than the others
 *     mpi_coll_mismatch late                  the same where some come so late that the root has given up: nobody waits for ever
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <stdbool.h>
#include <unistd.h>

enum { ROOM = 1 << 20 }; /* ints */
static int *in, *out, k = 1, counts[64], places[64];
static bool odd; /* this rank is the one that makes the mistake */
static MPI_Comm c;
static MPI_Request q;

/* What all but the odd one say, and what that one says. */
static int n(int right, int wrong) { return (odd ? wrong : right) * k; }
static int at(int other) { return odd ? other : 0; } /* a root */

static int *all(int each)
{
    for (int i = 0; i < size; i++) counts[i] = each * k, places[i] = 8 * k * i;
    return counts;
}

static void bcast_shorter(void) { MPI_Bcast(in, n(10, 5), MPI_INT, 0, c); }
static void bcast_longer(void) { MPI_Bcast(in, n(5, 10), MPI_INT, 0, c); }
static void bcast_nothing(void) { MPI_Bcast(in, n(10, 0), MPI_INT, 0, c); }
static void bcast_root_less(void) { MPI_Bcast(in, (rank ? 10 : 5) * k, MPI_INT, 0, c); }
static void bcast_root_nothing(void) { MPI_Bcast(in, (rank ? 10 : 0) * k, MPI_INT, 0, c); }
static void bcast_two_roots(void) { MPI_Bcast(in, 10 * k, MPI_INT, at(size - 1), c); }
static void bcast_no_root(void) { MPI_Bcast(in, 10 * k, MPI_INT, rank ? 0 : 1, c); }
static void bcast_left_out(void)
{
    if (rank) MPI_Bcast(in, 10 * k, MPI_INT, 0, c);
}
static void bcast_barrier(void) { odd ? MPI_Barrier(c) : MPI_Bcast(in, 5 * k, MPI_INT, 0, c); }
static void bcast_reduce(void) { odd ? MPI_Reduce(in, out, 5 * k, MPI_INT, MPI_SUM, 0, c) : MPI_Bcast(in, 5 * k, MPI_INT, 0, c); }
static void allreduce_count(void) { MPI_Allreduce(in, out, n(5, 3), MPI_INT, MPI_SUM, c); }
static void allreduce_type(void) { MPI_Allreduce(in, out, 6 * k, odd ? MPI_SHORT : MPI_INT, MPI_SUM, c); }
static void allreduce_op(void) { MPI_Allreduce(in, out, 5 * k, MPI_INT, odd ? MPI_MAX : MPI_SUM, c); }
static void allreduce_barrier(void) { odd ? MPI_Barrier(c) : MPI_Allreduce(in, out, 5 * k, MPI_INT, MPI_SUM, c); }
static void barrier_allreduce(void) { odd ? MPI_Allreduce(in, out, 5 * k, MPI_INT, MPI_SUM, c) : MPI_Barrier(c); }
static void allreduce_reduce(void)
{
    odd ? MPI_Reduce(in, out, 5 * k, MPI_INT, MPI_SUM, 0, c) : MPI_Allreduce(in, out, 5 * k, MPI_INT, MPI_SUM, c);
}
static void reduce_count(void) { MPI_Reduce(in, out, n(5, 3), MPI_INT, MPI_SUM, 0, c); }
static void reduce_op(void) { MPI_Reduce(in, out, 5 * k, MPI_INT, odd ? MPI_PROD : MPI_SUM, 0, c); }
static void reduce_two_roots(void) { MPI_Reduce(in, out, 5 * k, MPI_INT, MPI_SUM, at(size - 1), c); }
static void reduce_no_root(void) { MPI_Reduce(in, out, 5 * k, MPI_INT, MPI_SUM, rank ? 0 : 1, c); }
static void reduce_scatter_count(void) { MPI_Reduce_scatter_block(in, out, n(5, 3), MPI_INT, MPI_SUM, c); }
static void scan_count(void) { MPI_Scan(in, out, n(5, 3), MPI_INT, MPI_SUM, c); }
static void scan_exscan(void)
{
    odd ? MPI_Exscan(in, out, 5 * k, MPI_INT, MPI_SUM, c) : MPI_Scan(in, out, 5 * k, MPI_INT, MPI_SUM, c);
}
static void gather_count(void) { MPI_Gather(in, n(5, 3), MPI_INT, out, 5 * k, MPI_INT, 0, c); }
static void gather_room(void) { MPI_Gather(in, 5 * k, MPI_INT, out, 3 * k, MPI_INT, 0, c); }
static void gather_two_roots(void) { MPI_Gather(in, 5 * k, MPI_INT, out, 5 * k, MPI_INT, at(size - 1), c); }
static void gatherv_less(void) { MPI_Gatherv(in, n(5, 3), MPI_INT, out, all(5), places, MPI_INT, 0, c); }
static void gatherv_more(void) { MPI_Gatherv(in, n(5, 7), MPI_INT, out, all(5), places, MPI_INT, 0, c); }
static void scatter_count(void) { MPI_Scatter(in, 5 * k, MPI_INT, out, n(5, 3), MPI_INT, 0, c); }
static void scatterv_less(void) { MPI_Scatterv(in, all(5), places, MPI_INT, out, n(5, 3), MPI_INT, 0, c); }
static void scatterv_more(void) { MPI_Scatterv(in, all(5), places, MPI_INT, out, n(5, 7), MPI_INT, 0, c); }
static void allgather_count(void) { MPI_Allgather(in, n(5, 3), MPI_INT, out, n(5, 3), MPI_INT, c); }
static void allgather_barrier(void) { odd ? MPI_Barrier(c) : MPI_Allgather(in, 5 * k, MPI_INT, out, 5 * k, MPI_INT, c); }
static void allgatherv_count(void) { MPI_Allgatherv(in, n(5, 3), MPI_INT, out, all(odd ? 3 : 5), places, MPI_INT, c); }
static void alltoall_count(void) { MPI_Alltoall(in, n(5, 3), MPI_INT, out, n(5, 3), MPI_INT, c); }
static void alltoallv_less(void)
{
    int *sent = malloc((size_t)size * sizeof *sent);
    memcpy(sent, all(5), (size_t)size * sizeof *sent);
    MPI_Alltoallv(in, sent, places, MPI_INT, out, all(odd ? 3 : 5), places, MPI_INT, c);
    free(sent);
}
static void alltoallv_more(void)
{
    int *sent = malloc((size_t)size * sizeof *sent);
    memcpy(sent, all(5), (size_t)size * sizeof *sent);
    MPI_Alltoallv(in, sent, places, MPI_INT, out, all(odd ? 7 : 5), places, MPI_INT, c);
    free(sent);
}
static void dup_barrier(void)
{
    MPI_Comm other;
    odd ? MPI_Comm_dup(c, &other) : MPI_Barrier(c);
}
static void neighbor_count(void)
{
    MPI_Comm ring;
    int periodic = 1;
    MPI_Cart_create(c, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_alltoall(in, n(5, 3), MPI_INT, out, n(5, 3), MPI_INT, ring);
}
/* Sizes for which members choose other algorithms, whatever the factor. */
enum { FEW = 3, MANY = 25000 };
static int m(bool many) { return many ? MANY : FEW; }
static int mixed_bcast(void) { return MPI_Bcast(in, m(rank), MPI_INT, 0, c); }
static int mixed_bcast_odd(void) { return MPI_Bcast(in, m(odd), MPI_INT, 0, c); }
static int mixed_reduce(void) { return MPI_Reduce(in, out, m(odd), MPI_INT, MPI_SUM, 0, c); }
static int mixed_allreduce(void) { return MPI_Allreduce(in, out, m(odd), MPI_INT, MPI_SUM, c); }
static int mixed_allreduce_less(void) { return MPI_Allreduce(in, out, m(!odd), MPI_INT, MPI_SUM, c); }
static int mixed_gather(void) { return MPI_Gather(in, m(odd), MPI_INT, out, FEW, MPI_INT, 0, c); }
static int mixed_gather_less(void) { return MPI_Gather(in, m(!odd), MPI_INT, out, MANY, MPI_INT, 0, c); }
static int mixed_alltoall(void) { return MPI_Alltoall(in, m(odd), MPI_INT, out, m(odd), MPI_INT, c); }
static int mixed_barrier(void) { return odd ? MPI_Barrier(c) : MPI_Allreduce(in, out, MANY, MPI_INT, MPI_SUM, c); }
static int mixed_barriers(void) { return odd ? MPI_Bcast(in, MANY, MPI_INT, 0, c) : MPI_Barrier(c); }
static void bcast_mixed(void) { mixed_bcast(); }
static void bcast_mixed_odd(void) { mixed_bcast_odd(); }
static void reduce_mixed(void) { mixed_reduce(); }
static void allreduce_mixed(void) { mixed_allreduce(); }
static void allreduce_mixed_less(void) { mixed_allreduce_less(); }
static void gather_mixed(void) { mixed_gather(); }
static void gather_mixed_less(void) { mixed_gather_less(); }
static void alltoall_mixed(void) { mixed_alltoall(); }
static void barrier_mixed(void) { mixed_barrier(); }
static void barriers_mixed(void) { mixed_barriers(); }
static void ibcast_count(void) { MPI_Ibcast(in, n(10, 5), MPI_INT, 0, c, &q); }
static void ibcast_two_roots(void) { MPI_Ibcast(in, 10 * k, MPI_INT, at(size - 1), c, &q); }
static void ibcast_bcast(void) { odd ? MPI_Bcast(in, 5 * k, MPI_INT, 0, c) : MPI_Ibcast(in, 5 * k, MPI_INT, 0, c, &q); }
static void iallreduce_count(void) { MPI_Iallreduce(in, out, n(5, 3), MPI_INT, MPI_SUM, c, &q); }
static void iallreduce_op(void) { MPI_Iallreduce(in, out, 5 * k, MPI_INT, odd ? MPI_MAX : MPI_SUM, c, &q); }
static void iallreduce_ibarrier(void) { odd ? MPI_Ibarrier(c, &q) : MPI_Iallreduce(in, out, 5 * k, MPI_INT, MPI_SUM, c, &q); }
static void igather_count(void) { MPI_Igather(in, n(5, 3), MPI_INT, out, 5 * k, MPI_INT, 0, c, &q); }
static void polled(void) /* MPI_Test alone */
{
    int flag = 0;
    iallreduce_ibarrier();
    while (!flag) MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
}
static void later(void) /* the mistake is noticed though nobody waits in the call itself, and others follow */
{
    for (int i = 0; i < 3; i++) MPI_Barrier(c);
    MPI_Bcast(in, k, MPI_INT, at(size - 1), c);
    for (int i = 0; i < 3; i++) MPI_Allreduce(in, out, k, MPI_INT, MPI_SUM, c);
}
static int meet_again(MPI_Comm comm, int key, void *v, void *extra)
{
    (void)key, (void)v, (void)extra;
    return MPI_Barrier(comm);
}
static void attribute(void) /* the last look at messages is not left out where ranks go on with collectives in MPI_Finalize */
{
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, meet_again, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
    bcast_two_roots();
}

#define KIND(name)                                                                                                                 \
    {                                                                                                                              \
#name, name                                                                                                                \
    }
static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {
    KIND(bcast_shorter),
    KIND(bcast_longer),
    KIND(bcast_nothing),
    KIND(bcast_root_less),
    KIND(bcast_root_nothing),
    KIND(bcast_two_roots),
    KIND(bcast_no_root),
    KIND(bcast_left_out),
    KIND(bcast_barrier),
    KIND(bcast_reduce),
    KIND(allreduce_count),
    KIND(allreduce_type),
    KIND(allreduce_op),
    KIND(allreduce_barrier),
    KIND(barrier_allreduce),
    KIND(allreduce_reduce),
    KIND(reduce_count),
    KIND(reduce_op),
    KIND(reduce_two_roots),
    KIND(reduce_no_root),
    KIND(reduce_scatter_count),
    KIND(scan_count),
    KIND(scan_exscan),
    KIND(gather_count),
    KIND(gather_room),
    KIND(gather_two_roots),
    KIND(gatherv_less),
    KIND(gatherv_more),
    KIND(scatter_count),
    KIND(scatterv_less),
    KIND(scatterv_more),
    KIND(allgather_count),
    KIND(allgather_barrier),
    KIND(allgatherv_count),
    KIND(alltoall_count),
    KIND(alltoallv_less),
    KIND(alltoallv_more),
    KIND(dup_barrier),
    KIND(neighbor_count),
    KIND(bcast_mixed),
    KIND(bcast_mixed_odd),
    KIND(reduce_mixed),
    KIND(allreduce_mixed),
    KIND(allreduce_mixed_less),
    KIND(gather_mixed),
    KIND(gather_mixed_less),
    KIND(alltoall_mixed),
    KIND(barrier_mixed),
    KIND(barriers_mixed),
    KIND(ibcast_count),
    KIND(ibcast_two_roots),
    KIND(ibcast_bcast),
    KIND(iallreduce_count),
    KIND(iallreduce_op),
    KIND(iallreduce_ibarrier),
    KIND(igather_count),
    KIND(polled),
    KIND(later),
    KIND(attribute),
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- errors returned ---- */
static int class_of(int code)
{
    int class = code;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    return class;
}

/* How many ranks have this class; each call below is looked at by all but perhaps the root. */
static int with_class(int code, int class)
{
    int mine = class_of(code) == class, sum;
    CHECK(code == MPI_SUCCESS || class_of(code) == class);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* What it says where there must be no error. */
static void is_fine(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &len);
    fprintf(stderr, "rank %d: %s\n", rank, text);
    CHECK_EQ(code, MPI_SUCCESS);
}

/* The communicator still works: data are right. */
static void works(void)
{
    int x = rank + 1, sum = 0;
    is_fine(MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c));
    CHECK_EQ(sum, size * (size + 1) / 2);
    x = rank == 0 ? 77 : 0;
    is_fine(MPI_Bcast(&x, 1, MPI_INT, 0, c));
    CHECK_EQ(x, 77);
}

static int returned(void)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    odd = rank == size - 1;
    for (int i = 0; i < 3; i++) {
        works();
        CHECK(with_class(MPI_Bcast(in, rank ? 5 : 10, MPI_INT, 0, c), MPI_ERR_TRUNCATE) >= size - 1);
        works();
        CHECK(with_class(MPI_Allreduce(in, out, n(5, 3), MPI_INT, MPI_SUM, c), MPI_ERR_TRUNCATE) >= 2);
        works();
        CHECK(with_class(MPI_Allreduce(in, out, 5, MPI_INT, odd ? MPI_MAX : MPI_SUM, c), MPI_ERR_OP) >= 2);
        works();
        CHECK(with_class(odd ? MPI_Barrier(c) : MPI_Allreduce(in, out, 5, MPI_INT, MPI_SUM, c), MPI_ERR_OTHER) >= 1);
        works();
        CHECK(with_class(MPI_Gather(in, n(5, 3), MPI_INT, out, 5, MPI_INT, 0, c), MPI_ERR_TRUNCATE) >= 1);
        works();
        CHECK(with_class(MPI_Gatherv(in, n(5, 3), MPI_INT, out, all(5), places, MPI_INT, 0, c), MPI_ERR_TRUNCATE) >= 1);
        works();
        CHECK(with_class(MPI_Scatterv(in, all(5), places, MPI_INT, out, n(5, 3), MPI_INT, 0, c), MPI_ERR_TRUNCATE) >= 1);
        works();
        CHECK(with_class(MPI_Alltoall(in, n(5, 3), MPI_INT, out, n(5, 3), MPI_INT, c), MPI_ERR_TRUNCATE) >= 2);
    }
    MPI_Comm_free(&c);
    return test_end();
}

/* ---- errors returned, of the first collective, in which members agree on what they share ---- */
static int errors_of(int code)
{
    int mine = code != MPI_SUCCESS, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static int mixed(void)
{
    static int (*const kinds[])(void) = {mixed_bcast,  mixed_bcast_odd,   mixed_reduce,   mixed_allreduce, mixed_allreduce_less,
                                         mixed_gather, mixed_gather_less, mixed_alltoall, mixed_barrier,   mixed_barriers};
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    odd = rank == size - 1;
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof kinds[0]; i++) {
        works();
        CHECK(errors_of(kinds[i / 2]()) >= 1);
        works();
    }
    MPI_Comm_free(&c);
    return test_end();
}

static int first_less(void) { return MPI_Gather(in, n(5, 3), MPI_INT, out, 5, MPI_INT, 0, c); }

/* The rank that says where the shared memory is does not come to it. */
static int first_request(void)
{
    if (rank) return MPI_Gather(in, 5, MPI_INT, out, 5, MPI_INT, 0, c);
    int code = MPI_Igather(in, 5, MPI_INT, out, 5, MPI_INT, 0, c, &q);
    return code == MPI_SUCCESS ? MPI_Wait(&q, MPI_STATUS_IGNORE) : code;
}

static int first(void)
{
    static int (*const kinds[])(void) = {first_less, first_request};
    odd = rank == size - 1;
    for (int i = 0; i < 20; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
        CHECK(errors_of(kinds[i % 2]()) >= 1);
        works();
        works();
        MPI_Comm_free(&c);
    }
    return test_end();
}

/* ---- errors returned, and some ranks are late ---- */
enum { LATE_US = 40000 }; /* a wait has become long, and has been given up */
static void may_be_told(int code)
{
    int class = class_of(code);
    CHECK(class == MPI_ERR_TRUNCATE || (rank > 0 && class == MPI_SUCCESS));
}

/* Each start of a persistent one is given up by the root, where it has room for half of what the others send. */
static void late_persistent(MPI_Comm on)
{
    MPI_Gather_init(in, rank ? 10 : 5, MPI_INT, out, 5, MPI_INT, 0, on, MPI_INFO_NULL, &q);
    for (int start = 0; start < 3; start++) {
        if (rank && start != 1) usleep(LATE_US);
        MPI_Start(&q);
        may_be_told(MPI_Wait(&q, MPI_STATUS_IGNORE));
    }
    CHECK_EQ(MPI_Request_free(&q), MPI_SUCCESS);
}

static void late_once(MPI_Comm on)
{
    if (rank) usleep(LATE_US);
    MPI_Igather(in, rank ? 10 : 5, MPI_INT, out, 5, MPI_INT, 0, on, &q);
    may_be_told(MPI_Wait(&q, MPI_STATUS_IGNORE));
}

static void late_blocking(MPI_Comm on)
{
    if (rank) usleep(LATE_US);
    may_be_told(MPI_Gather(in, (rank ? 10 : 5) * 1000, MPI_INT, out, 5000, MPI_INT, 0, on));
}

/* The root frees the communicator while the others have not come, or wait for it. */
static int late(void)
{
    static void (*const kinds[])(MPI_Comm on) = {late_persistent, late_once, late_blocking};
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    for (int i = 0; i < 3; i++) {
        MPI_Comm own;
        MPI_Comm_dup(c, &own);
        MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
        kinds[i](own);
        MPI_Comm_free(&own);
        works();
    }
    MPI_Comm_free(&c);
    return test_end();
}

/* ---- of a file ---- */
static MPI_File f;

/* Without a name when it is open: nothing stays behind, also where the job is killed. */
static void file_open(void)
{
    char name[300];
    const char *tmp = getenv("TMPDIR");
    snprintf(name, sizeof name, "%.200s/coll_mismatch.%d.tmp", tmp ? tmp : "/tmp", (int)getppid());
    is_fine(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(name);
}

static int waited(int code) { return code == MPI_SUCCESS ? MPI_Wait(&q, MPI_STATUS_IGNORE) : MPI_ERR_INTERN; }
static int file_iwrite(void) { return waited(MPI_File_iwrite_at_all(f, 4 * rank, in, 1, MPI_INT, &q)); }
static int file_iread(void) { return waited(MPI_File_iread_at_all(f, 4 * rank, out, 1, MPI_INT, &q)); }
static int file_write(void) { return MPI_File_write_at_all(f, 4 * rank, in, 1, MPI_INT, MPI_STATUS_IGNORE); }
static int file_read(void) { return MPI_File_read_at_all(f, 4 * rank, out, 1, MPI_INT, MPI_STATUS_IGNORE); }
static int file_write_all(void) { return MPI_File_write_all(f, in, 1, MPI_INT, MPI_STATUS_IGNORE); }
static int file_begin(void) { return MPI_File_write_at_all_begin(f, 0, in, 1, MPI_INT); }
static int file_ordered(void) { return MPI_File_read_ordered(f, out, 1, MPI_INT, MPI_STATUS_IGNORE); }
static int file_sync(void) { return MPI_File_sync(f); }
static int file_size(void) { return MPI_File_set_size(f, 64); }
static int file_reserve(void) { return MPI_File_preallocate(f, 64); }
static int file_view(void) { return MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL); }
static int file_info(void) { return MPI_File_set_info(f, MPI_INFO_NULL); }
static int file_atomicity(void) { return MPI_File_set_atomicity(f, 0); }
static int file_seek(void) { return MPI_File_seek_shared(f, 0, MPI_SEEK_SET); }
static int file_close(void) { return MPI_File_close(&f); }

/* The call of this rank is another one than that of the others: all are told, nobody waits, and nothing was done. */
static int of_file(void)
{
    static int (*const calls[])(void) = {file_write, file_read,    file_write_all, file_begin, file_ordered,   file_sync, file_size,
                                         file_view,  file_reserve, file_info,      file_seek,  file_atomicity, file_close};
    enum { N = sizeof calls / sizeof calls[0] };
    file_open();
    for (int i = 0; i < 3; i++) /* the wait for the request ends, too */
        CHECK_EQ(with_class(rank == i % size ? file_iwrite() : file_write(), MPI_ERR_OTHER), size);
    CHECK_EQ(with_class(rank == 0 ? file_iwrite() : file_iread(), MPI_ERR_NOT_SAME), size);
    for (int i = 0; i < N * N; i++) {
        if (i / N == i % N) continue;
        odd = rank == i % size;
        CHECK_EQ(with_class(calls[odd ? i / N : i % N](), MPI_ERR_NOT_SAME), size);
    }
    in[0] = 100 + rank;
    is_fine(file_write());
    is_fine(file_iread());
    CHECK_EQ(out[0], 100 + rank);
    is_fine(MPI_File_close(&f));
    return test_end();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    in = calloc(ROOM, sizeof *in);
    out = calloc(ROOM, sizeof *out);
    if (argc > 1 && strcmp(argv[1], "returned") == 0) return returned();
    if (argc > 1 && strcmp(argv[1], "mixed") == 0) return mixed();
    if (argc > 1 && strcmp(argv[1], "first") == 0) return first();
    if (argc > 1 && strcmp(argv[1], "late") == 0) return late();
    if (argc > 1 && strcmp(argv[1], "file") == 0) return of_file();
    c = MPI_COMM_WORLD;
    if (argc > 2) k = atoi(argv[2]);
    if (argc > 3) MPI_Comm_dup(MPI_COMM_WORLD, &c);
    odd = rank == size - 1;
    q = MPI_REQUEST_NULL;
    for (int i = 0; i < KINDS && argc > 1; i++)
        if (strcmp(kinds[i].name, argv[1]) == 0) kinds[i].run();
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
