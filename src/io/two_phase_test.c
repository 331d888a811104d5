/* two_phase_test.c -- collective accesses by messages whose exchanges bring what no rank says: each is an error, and nothing but the buffer
 * is touched.  One rank; the exchanges are changed on their way (the linker's --wrap, meson.build).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"

#include <stdio.h>
#include <unistd.h>

#include "io/io_private.h"

#include "unit.h"

enum { BYTES = 100, GUARD = 5000 };
static char path[] = "/tmp/godwit_two_phase_XXXXXX";

/* ---- the exchanges -------------------------------------------------------------------------------------------------------------- */
int __real_coll_alltoall(const void *sbuf, int64_t scount, struct gw_type *stype, void *rbuf, int64_t rcount, struct gw_type *rtype,
                         struct gw_comm *c, struct coll_as *as);
int __wrap_coll_alltoall(const void *sbuf, int64_t scount, struct gw_type *stype, void *rbuf, int64_t rcount, struct gw_type *rtype,
                         struct gw_comm *c, struct coll_as *as);
int __real_coll_alltoallv(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type *stype, void *rbuf,
                          struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type *rtype, struct gw_comm *c,
                          struct coll_as *as);
int __wrap_coll_alltoallv(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type *stype, void *rbuf,
                          struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type *rtype, struct gw_comm *c,
                          struct coll_as *as);

static struct forgery {
    int exchange, word; /* the first exchange is 0; -1: none */
    int64_t value;
} forgery;
static int n_exchanges;

static int forge(int rc, void *at)
{
    if (n_exchanges++ == forgery.exchange) ((int64_t *)at)[forgery.word] = forgery.value;
    return rc;
}

int __wrap_coll_alltoall(const void *sbuf, int64_t scount, struct gw_type *stype, void *rbuf, int64_t rcount, struct gw_type *rtype,
                         struct gw_comm *c, struct coll_as *as)
{
    return forge(__real_coll_alltoall(sbuf, scount, stype, rbuf, rcount, rtype, c, as), rbuf);
}

int __wrap_coll_alltoallv(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type *stype, void *rbuf,
                          struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type *rtype, struct gw_comm *c,
                          struct coll_as *as)
{
    return forge(__real_coll_alltoallv(sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, c, as), rbuf);
}

/* ---- accesses ------------------------------------------------------------------------------------------------------------------- */
static char data[GUARD + BYTES + GUARD];

static int move(struct gw_file *f, bool write, struct forgery with, int64_t *moved_out)
{
    struct io_extent whole;
    const struct io_data d = {.write = write, .data = gw_data_plain(data + GUARD, BYTES, gw_type_byte)};
    must(io_extent_of(f, 0, BYTES, &whole));
    forgery = with;
    n_exchanges = 0;
    return io_by_messages(f, &d, &whole, moved_out);
}

static bool is_guarded(void)
{
    for (int i = 0; i < GUARD; i++)
        if (data[i] != 'g' || data[GUARD + BYTES + i] != 'g') return false;
    return true;
}

static void forged(struct gw_file *f, bool write, const struct forgery *v, size_t n)
{
    int64_t moved;
    for (size_t i = 0; i < n; i++) {
        if (move(f, write, v[i], &moved) == GW_EOTHER && n_exchanges > v[i].exchange && is_guarded()) continue;
        unit_failures++;
        fprintf(stderr, "%s: exchange %d, word %d, value %lld: believed\n", write ? "write" : "read", v[i].exchange, v[i].word,
                (long long)v[i].value);
    }
}

int main(void)
{
    /* Pieces and bytes; the piece (place, bytes); bytes that the file had. */
    static const struct forgery both[] = {{0, 0, -1},        {0, 0, INT64_MIN}, {0, 0, (int64_t)1 << 49}, {0, 1, -1},
                                          {0, 1, INT64_MAX}, {1, 0, -1},        {1, 0, 1 << 20},          {1, 0, INT64_MIN},
                                          {1, 1, -1},        {1, 1, BYTES + 1}, {1, 1, BYTES - 1},        {1, 1, INT64_MAX},
                                          {1, 0, INT64_MAX}, {1, 1, 1 << 30}},
                                read[] = {{2, 0, -1}, {2, 0, BYTES + 1}, {2, 0, GUARD}, {2, 0, INT64_MAX}, {2, 0, INT64_MIN}};
    struct gw_file *f = NULL;
    int64_t moved = 0;
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    rooms_up();
    io_init();
    must(io_open(&gw_comm_world, path, GW_MODE_RDWR, NULL, &f));
    memset(data, 'g', sizeof data);
    memset(data + GUARD, 'd', BYTES);
    CHECK_EQ(move(f, true, (struct forgery){.exchange = -1}, &moved), GW_OK);
    CHECK(moved == BYTES && n_exchanges == 3);
    memset(data + GUARD, 0, BYTES);
    CHECK_EQ(move(f, false, (struct forgery){.exchange = -1}, &moved), GW_OK);
    CHECK(moved == BYTES && n_exchanges == 4 && data[GUARD] == 'd' && data[GUARD + BYTES - 1] == 'd' && is_guarded());
    forged(f, true, both, GW_ARRAY_LEN(both));
    forged(f, false, both, GW_ARRAY_LEN(both));
    forged(f, false, read, GW_ARRAY_LEN(read));
    must(io_close(&f));
    unlink(path);
    return unit_end();
}
