/* two_phase.c -- collective access by messages: some ranks, the aggregators, read or write large pieces of the file for all.
 *
 * The bytes that all ranks touch are cut into one domain for each aggregator, a domain into windows of cb_buffer_size.  In a round
 * every rank tells each aggregator which pieces of its window it has, in the order of its view, and data and pieces change sides:
 *     write:  pieces, data -> aggregator -> pwrite of what the pieces cover together (nothing is written that nobody gave)
 *     read:   pieces -> aggregator -> pread -> data and how many bytes there were -> rank
 * A rank's pieces in a domain are one part of its view's stream, as the displacements of a view do not decrease.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <stdlib.h>

#include "coll/coll.h"

enum {
    BLOCK = 4096, /* domains begin at multiples of this */
    GAP_MAX = 16 << 10,
};

struct part {
    int64_t next, left;
}; /* of a domain: the next byte of my stream, and how many there may be */

/* The exchange that was started last. */
enum step { ROUND, COUNTS, PIECES, WRITTEN, VALID, READ, OVER };

struct phase {
    struct gw_file *f;
    bool write;
    struct coll_as *as; /* NULL: each exchange is waited for at once */
    enum step step;
    int64_t pos, bytes; /* this rank's part of the stream */
    struct type_cursor mem;
    int size, aggregators, me; /* me: the number of this rank's domain; -1: it is no aggregator */
    int64_t from, to, domain;  /* bytes of the file */
    struct part *parts;        /* [aggregators] */
    /* Of this round, by rank: what I send and receive.  A piece is a struct io_run. */
    int64_t *pieces_out, *bytes_out, *pieces_in, *bytes_in;
    int64_t *at;          /* [4][size] displacements */
    int64_t *pair, *got;  /* [2][size] each */
    int64_t done, buffer; /* bytes of each domain that are done; bytes of a round */
    struct io_run *mine, *theirs;
    int64_t mine_room, theirs_room;
    char *data_out, *data_in;
    char *memory, *window; /* window: the first block of memory (for direct_io) */
    int64_t data_out_room, data_in_room;
    int64_t moved;
    int rc; /* of this rank's system calls; after an error the rounds go on, because others wait for them */
};

/* ---- domains ---------------------------------------------------------------------------------------------------------------- */
static int rank_of(const struct phase *p, int aggregator) { return p->f->aggregators[aggregator]; }

static int64_t domain_at(const struct phase *p, int aggregator) { return gw_min64(p->from + aggregator * p->domain, p->to); }

static void phase_begin(struct phase *p, const struct io_data *d, const struct io_extent *whole)
{
    p->write = d->write;
    p->pos = d->pos;
    p->bytes = d->data.bytes;
    type_cursor_init(&p->mem, d->data);
    p->size = p->f->comm->size;
    p->aggregators = p->f->n_aggregators;
    p->from = whole->from;
    p->to = whole->to;
    p->domain = (int64_t)gw_align_up((size_t)((p->to - p->from + p->aggregators - 1) / p->aggregators), BLOCK);
    p->me = -1;
    p->parts = gw_xcalloc((size_t)p->aggregators, sizeof *p->parts);
    p->pieces_out = gw_xcalloc((size_t)p->size * 12, sizeof *p->pieces_out);
    p->bytes_out = p->pieces_out + p->size;
    p->pieces_in = p->pieces_out + 2 * p->size;
    p->bytes_in = p->pieces_out + 3 * p->size;
    p->at = p->pieces_out + 4 * p->size;
    p->pair = p->pieces_out + 8 * p->size;
    p->got = p->pieces_out + 10 * p->size;
    int64_t end = p->pos + p->bytes, before = p->pos;
    for (int a = 0; a < p->aggregators; a++) { /* where the stream of this rank enters each domain */
        int64_t next = a + 1 < p->aggregators ? p->pos + io_view_before(&p->f->view, p->pos, p->bytes, domain_at(p, a + 1)) : end;
        next = gw_max64(next, before);
        p->parts[a] = (struct part){before, next - before};
        before = next;
        if (rank_of(p, a) == p->f->comm->rank) p->me = a;
    }
    assert(before == end); /* each byte of the stream is in one domain */
    p->buffer = gw_min64(p->f->hints.collective_buffer, p->domain);
    if (p->me >= 0) p->memory = gw_xmalloc((size_t)p->buffer + BLOCK);
    p->window = (char *)gw_align_up((size_t)p->memory, BLOCK);
    io_count_active(p->f, p->write, (p->to - p->from + p->domain - 1) / p->domain);
}

static void phase_end(struct phase *p)
{
    free(p->parts);
    free(p->pieces_out);
    free(p->mine);
    free(p->theirs);
    free(p->data_out);
    free(p->data_in);
    free(p->memory);
}

/* ---- a round ---------------------------------------------------------------------------------------------------------------- */
static void *room_for(void *memory, int64_t *room, int64_t need, size_t each)
{
    if (need <= *room && memory) return memory;
    int64_t more = gw_max64(gw_max64(need, *room * 2), 1); /* never NULL */
    void *new = gw_xmalloc((size_t)more * each);
    if (*room) memcpy(new, memory, (size_t)*room * each);
    free(memory);
    *room = more;
    return new;
}

/* Appends this rank's pieces of a domain below byte `end` to the n pieces that are there; returns how many there are then. */
static int64_t pieces_of(struct phase *p, struct part *part, int64_t end, int64_t n, int64_t *bytes_out)
{
    struct io_walk w;
    struct io_run run;
    *bytes_out = 0;
    if (part->left == 0 || io_walk_begin(&w, &p->f->view, part->next, part->left) != GW_OK) return n;
    while (io_walk_next(&w, &run) && run.at < end) {
        int64_t bytes = gw_min64(run.bytes, end - run.at);
        p->mine = room_for(p->mine, &p->mine_room, n + 1, sizeof *p->mine);
        p->mine[n++] = (struct io_run){run.at, bytes};
        *bytes_out += bytes;
        if (bytes < run.bytes) break;
    }
    part->next += *bytes_out;
    part->left -= *bytes_out;
    assert(part->left >= 0);
    return n;
}

static int64_t displacements(const int64_t *counts, int n, int64_t *at)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        at[i] = sum;
        sum += counts[i];
    }
    return sum;
}

static struct gw_counts wide(const int64_t *v) { return (struct gw_counts){v, true}; }

/* Exchanges bytes between all ranks; counts are bytes. */
static int swap_bytes(struct phase *p, const void *out, const int64_t *out_bytes, const int64_t *out_at, void *in,
                      const int64_t *in_bytes, const int64_t *in_at)
{
    int before = io_clock(p->f, IO_T_SEND);
    int rc = coll_alltoallv(out, wide(out_bytes), wide(out_at), gw_type_byte, in, wide(in_bytes), wide(in_at), gw_type_byte,
                            p->f->comm, p->as);
    io_clock(p->f, before);
    return rc;
}

/* Exchanges the numbers of pieces and bytes. */
static int tell_counts(struct phase *p)
{
    int64_t n = 0, round_end = p->done + p->buffer;
    for (int i = 0; i < p->size; i++) p->pieces_out[i] = p->bytes_out[i] = p->pair[2 * i] = p->pair[2 * i + 1] = 0;
    for (int a = 0; a < p->aggregators; a++) {
        int to = rank_of(p, a);
        int64_t end = gw_min64(domain_at(p, a) + round_end, domain_at(p, a + 1)), before = n;
        n = pieces_of(p, &p->parts[a], end, n, &p->bytes_out[to]);
        p->pieces_out[to] = n - before;
        p->pair[2 * to] = p->pieces_out[to];
        p->pair[2 * to + 1] = p->bytes_out[to];
    }
    return coll_alltoall(p->pair, 2, gw_type_int64, p->got, 2, gw_type_int64, p->f->comm, p->as);
}

static int damaged(int from) { return gw_fail(GW_EOTHER, "what rank %d says of its part of a collective access cannot be", from); }

/* Exchanges the pieces, into p->theirs, by rank. */
static int tell_pieces(struct phase *p)
{
    const int64_t most = (int64_t)1 << 48;          /* sums do not overflow */
    int64_t in = 0, *lens = p->pair, *got = p->got; /* bytes of pieces */
    for (int i = 0; i < p->size; i++) {
        bool is_right = got[2 * i] >= 0 && got[2 * i] <= most / p->size && got[2 * i + 1] >= 0 && got[2 * i + 1] <= most;
        if (!is_right) return damaged(i);
        p->pieces_in[i] = got[2 * i];
        p->bytes_in[i] = got[2 * i + 1];
        in += p->pieces_in[i];
    }
    p->theirs = room_for(p->theirs, &p->theirs_room, in, sizeof *p->theirs);
    for (int i = 0; i < p->size; i++) {
        lens[i] = p->pieces_out[i] * (int64_t)sizeof(struct io_run);
        got[i] = p->pieces_in[i] * (int64_t)sizeof(struct io_run);
    }
    displacements(lens, p->size, p->at);
    displacements(got, p->size, p->at + p->size);
    return swap_bytes(p, p->mine, lens, p->at, p->theirs, got, p->at + p->size);
}

static int by_place(const void *a, const void *b)
{
    int64_t x = ((const struct io_run *)a)->at, y = ((const struct io_run *)b)->at;
    return x < y ? -1 : x > y;
}

/* Replaces n pieces by the runs that they cover, in order; runs closer than `gap` are joined.  Returns the number of runs. */
static int64_t cover(struct io_run *runs, int64_t n, int64_t gap)
{
    assert(n >= 0 && gap >= 0);
    int64_t k = 0;
    qsort(runs, (size_t)n, sizeof *runs, by_place);
    for (int64_t i = 0; i < n; i++) {
        struct io_run *last = k ? &runs[k - 1] : NULL;
        if (last && runs[i].at <= last->at + last->bytes + gap)
            last->bytes = gw_max64(last->at + last->bytes, runs[i].at + runs[i].bytes) - last->at;
        else
            runs[k++] = runs[i];
    }
    return k;
}

/* Checks what other ranks have sent: each piece lies in this window, and the pieces of a rank have as many bytes as it said. */
static int pieces_check(const struct phase *p, int64_t w)
{
    const struct io_run *piece = p->theirs;
    for (int i = 0; i < p->size; i++) {
        int64_t bytes = 0;
        for (int64_t j = 0; j < p->pieces_in[i]; j++, piece++) {
            bool is_in =
                piece->at >= w && piece->bytes >= 0 && piece->bytes <= p->buffer && piece->at - w <= p->buffer - piece->bytes;
            if (!is_in || piece->bytes > p->bytes_in[i] - bytes) return damaged(i);
            bytes += piece->bytes;
        }
        if (bytes != p->bytes_in[i]) return damaged(i);
    }
    return GW_OK;
}

/* The aggregator's part: the window of the file that begins at byte w.  Data of all ranks lie behind each other in p->data_in
 * (write) or come to p->data_out (read), where valid[rank] says how many bytes the file had. */
static void window_work(struct phase *p, int64_t w, int64_t *valid)
{
    int64_t n = 0;
    for (int i = 0; i < p->size; i++) n += p->pieces_in[i];
    if (n == 0) return;
    assert(p->me >= 0); /* nobody gives pieces to a rank that is no aggregator */
    int before = io_clock(p->f, IO_T_FILE);
    char *data = p->write ? p->data_in : p->data_out;
    if (p->write)
        for (int64_t i = 0, at = 0; i < n; at += p->theirs[i++].bytes)
            memcpy(p->window + (p->theirs[i].at - w), data + at, (size_t)p->theirs[i].bytes);
    struct io_run *runs = gw_xmalloc((size_t)n * sizeof *runs);
    memcpy(runs, p->theirs, (size_t)n * sizeof *runs);
    int64_t k = cover(runs, n, p->write ? 0 : GAP_MAX), end = INT64_MAX, got = 0;
    for (int64_t i = 0; i < k && p->rc == GW_OK; i++) {
        p->rc = io_move_run(p->f, p->write, p->window + (runs[i].at - w), runs[i].at, runs[i].bytes, &got);
        if (got < runs[i].bytes) end = gw_min64(end, runs[i].at + got); /* of the file */
    }
    free(runs);
    io_clock(p->f, before);
    if (p->write) return;
    int64_t at = 0;
    struct io_run *piece = p->theirs;
    for (int i = 0; i < p->size; i++) {
        valid[i] = 0;
        for (int64_t j = 0; j < p->pieces_in[i]; j++, piece++) {
            memcpy(data + at, p->window + (piece->at - w), (size_t)piece->bytes);
            valid[i] += p->rc == GW_OK ? gw_max64(gw_min64(end - piece->at, piece->bytes), 0) : 0;
            at += piece->bytes;
        }
    }
}

static int give_data(struct phase *p)
{
    int64_t out = displacements(p->bytes_out, p->size, p->at), in = displacements(p->bytes_in, p->size, p->at + p->size);
    p->data_out = room_for(p->data_out, &p->data_out_room, out, 1);
    p->data_in = room_for(p->data_in, &p->data_in_room, in, 1);
    for (int a = 0; a < p->aggregators; a++) {
        int to = rank_of(p, a);
        type_cursor_seek(&p->mem, p->parts[a].next - p->bytes_out[to] - p->pos);
        type_cursor_pack(&p->mem, p->data_out + p->at[to], p->bytes_out[to]);
    }
    return swap_bytes(p, p->data_out, p->bytes_out, p->at, p->data_in, p->bytes_in, p->at + p->size);
}

/* Exchanges how many bytes the file had of the pieces of each rank. */
static int tell_valid(struct phase *p, int64_t w)
{
    int64_t in = displacements(p->bytes_out, p->size, p->at), out = displacements(p->bytes_in, p->size, p->at + p->size);
    int64_t *valid = p->at + 2 * p->size, *have = p->at + 3 * p->size;
    for (int i = 0; i < p->size; i++) valid[i] = 0;
    p->data_out = room_for(p->data_out, &p->data_out_room, out, 1);
    p->data_in = room_for(p->data_in, &p->data_in_room, in, 1);
    if (p->me >= 0) window_work(p, w, valid);
    return coll_alltoall(valid, 1, gw_type_int64, have, 1, gw_type_int64, p->f->comm, p->as);
}

static int take_data(struct phase *p)
{
    const int64_t *have = p->at + 3 * p->size;
    for (int a = 0; a < p->aggregators; a++) {
        int from = rank_of(p, a);
        if (have[from] < 0 || have[from] > p->bytes_out[from]) return damaged(from);
        type_cursor_seek(&p->mem, p->parts[a].next - p->bytes_out[from] - p->pos);
        p->moved += type_cursor_unpack(&p->mem, p->data_in + p->at[from], have[from]);
    }
    return GW_OK;
}

/* Uses the result of the last exchange and starts the next one. */
static int phase_step(struct phase *p)
{
    int rc;
    int64_t w = p->me >= 0 ? domain_at(p, p->me) + p->done : 0; /* where the window of this aggregator begins */
    switch (p->step) {
    case ROUND:
        if (p->done >= p->domain) break;
        p->step = COUNTS;
        return tell_counts(p);
    case COUNTS: p->step = PIECES; return tell_pieces(p);
    case PIECES:
        if (p->me >= 0 && (rc = pieces_check(p, w)) != GW_OK) return rc;
        p->step = p->write ? WRITTEN : VALID;
        return p->write ? give_data(p) : tell_valid(p, w);
    case VALID: p->step = READ; return swap_bytes(p, p->data_out, p->bytes_in, p->at + p->size, p->data_in, p->bytes_out, p->at);
    case WRITTEN:
    case READ:
        if (p->step == READ && (rc = take_data(p)) != GW_OK) return rc;
        if (p->step == WRITTEN && p->me >= 0) window_work(p, w, NULL);
        p->done += p->buffer;
        p->step = ROUND;
        return GW_OK;
    case OVER: break;
    }
    p->step = OVER;
    return GW_OK;
}

static int64_t moved_by(const struct phase *p) { return p->write ? p->bytes : p->moved; }

int io_by_messages(struct gw_file *f, const struct io_data *d, const struct io_extent *whole, int64_t *moved_out)
{
    struct phase p = {.f = f};
    int rc = GW_OK;
    phase_begin(&p, d, whole);
    while (rc == GW_OK && p.step != OVER) rc = phase_step(&p);
    if (rc == GW_OK) rc = p.rc;
    *moved_out = moved_by(&p);
    phase_end(&p);
    return rc;
}

/* ---- the same in steps ------------------------------------------------------------------------------------------------------- */
struct phase *io_steps_begin(struct gw_file *f, const struct io_data *d, const struct io_extent *whole, struct coll_as *as)
{
    struct phase *p = gw_xcalloc(1, sizeof *p);
    *p = (struct phase){.f = f, .as = as};
    phase_begin(p, d, whole);
    return p;
}

bool io_steps_next(struct phase *p, int *rc_out)
{
    *rc_out = phase_step(p);
    return *rc_out == GW_OK && p->step != OVER;
}

int io_steps_end(struct phase *p, int64_t *moved_out)
{
    int rc = p->rc;
    *moved_out = moved_by(p);
    phase_end(p);
    free(p);
    return rc;
}
