/* record_file.c -- the record of a rank: a head, then events of a few bytes.
 *
 *   event: a number EVENT | something << 2, then more numbers, each of variable length (7 bits a byte, the lowest first)
 *     TAKE    number of the receive less that of the TAKE before, source, tag
 *     CALL    kind, noes; by kind: source and tag, or how many and the indices
 *     REPEAT  how many more times the event before happened
 *     END     how many receives there were
 * Numbers that may be negative are folded (0, -1, 1, -2 .. are 0, 1, 2, 3 ..).
 *
 * The count of a REPEAT is raised where it stands, by one store of eight bytes; `used` in the head is raised when an event is whole.  So
 * the record of a process that is killed ends behind an event.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum event { TAKE, CALL, REPEAT, END };
enum { GROW = 1 << 20, SLACK = 64 };
struct head {
    char magic[16];
    int32_t rank, ranks;
    _Atomic uint64_t used; /* bytes of whole events behind the head */
};
_Static_assert(sizeof(struct head) == 32, "events follow");
static const char magic[16] = "godwit order 1\n";

const char *const replay_kind_names[REPLAY_KINDS] = {
    "MPI_Test or another test",  "MPI_Testany", "MPI_Waitany", "MPI_Testsome", "MPI_Waitsome", "MPI_Probe or MPI_Mprobe",
    "MPI_Iprobe or MPI_Improbe",
};

static uint64_t fold(int64_t v) { return v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1; }
static int64_t unfold(uint64_t v) { return v & 1 ? (int64_t) ~(v >> 1) : (int64_t)(v >> 1); }
static uint8_t *put(uint8_t *at, uint64_t v)
{
    for (; v > 127; v >>= 7) *at++ = (uint8_t)(v | 128);
    *at++ = (uint8_t)v;
    return at;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------- */
static struct {
    int fd;
    struct head *head;
    size_t mapped, at;        /* bytes of the file; where the next event comes to stand */
    size_t last, last_bytes;  /* the event before */
    size_t repeat_at;         /* its REPEAT; 0: none yet */
    uint64_t repeats, number; /* of the last TAKE */
} out = {.fd = -1};

static uint8_t *bytes(void) { return (uint8_t *)out.head; }

static bool has_room(size_t n)
{
    if (out.at + n + SLACK <= out.mapped) return true;
    size_t more = (out.at + n + SLACK + GROW) / GROW * GROW;
    void *to = posix_fallocate(out.fd, 0, (off_t)more) == 0 ? mremap(out.head, out.mapped, more, MREMAP_MAYMOVE) : MAP_FAILED;
    if (to == MAP_FAILED) {
        replay_departs("there is no room for more of the record; it ends here");
        return false;
    }
    out.head = to;
    out.mapped = more;
    return true;
}

int replay_file_create(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), err;
    if (fd < 0) return errno;
    err = posix_fallocate(fd, 0, GROW);
    void *at = err ? MAP_FAILED : mmap(NULL, GROW, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        if (!err) err = errno;
        close(fd);
        return err;
    }
    out.fd = fd, out.head = at, out.mapped = GROW, out.at = sizeof(struct head);
    memcpy(out.head->magic, magic, sizeof magic);
    out.head->rank = replay.rank, out.head->ranks = replay.ranks;
    return 0;
}

static void used(void) { atomic_store_explicit(&out.head->used, out.at - sizeof(struct head), memory_order_release); }

/* The event whose n bytes stand at out.at is the same as the one before: that is counted in its place. */
static bool repeated(size_t n)
{
    if (n != out.last_bytes || memcmp(bytes() + out.last, bytes() + out.at, n) != 0) return false;
    if (!out.repeat_at) {
        out.repeat_at = out.at;
        out.repeats = 0;
        bytes()[out.at] = REPEAT;
    }
    uint8_t count[8] = {0};
    size_t wide = (size_t)(put(count, ++out.repeats) - count);
    uint64_t word;
    memcpy(&word, count, sizeof word);
    memcpy(bytes() + out.repeat_at + 1, &word, sizeof word);
    out.at = out.repeat_at + 1 + wide;
    used();
    return true;
}

static void event_written(uint8_t *end)
{
    size_t n = (size_t)(end - (bytes() + out.at));
    if (repeated(n)) return;
    out.last = out.at, out.last_bytes = n, out.repeat_at = 0;
    out.at += n;
    used();
}

/* The next receive, of low rank and tag: three bytes, written and compared as one word. */
static bool took_small(uint64_t number, int source, int tag)
{
    if (number != out.number + 1 || (unsigned)source > 63 || (unsigned)tag > 63 || out.at + SLACK > out.mapped) return false;
    uint32_t word = (2u << 2 | TAKE) | (uint32_t)source << 9 | (uint32_t)tag << 17, was;
    memcpy(&was, bytes() + out.last, sizeof was);
    memcpy(bytes() + out.at, &word, sizeof word);
    out.number = number;
    replay.n_takes++;
    if (out.last_bytes == 3 && (was & 0xffffff) == word) return repeated(3);
    out.last = out.at, out.last_bytes = 3, out.repeat_at = 0;
    out.at += 3;
    used();
    return true;
}

void replay_took(uint64_t number, int source, int tag)
{
    if (took_small(number, source, tag) || !has_room(32)) return;
    uint8_t *at = put(bytes() + out.at, fold((int64_t)(number - out.number)) << 2 | TAKE);
    out.number = number;
    at = put(at, fold(source));
    event_written(put(at, fold(tag)));
    replay.n_takes++;
}

void replay_ended(const struct replay_call *c)
{
    if (!has_room(32 + 5 * (size_t)(c->n > 0 ? c->n : 0))) return;
    uint8_t *at = put(bytes() + out.at, (replay.noes << 3 | (uint64_t)c->kind) << 2 | CALL);
    if (c->kind == REPLAY_PROBE || c->kind == REPLAY_IPROBE) {
        at = put(at, fold(c->source));
        at = put(at, fold(c->tag));
    } else if (c->kind != REPLAY_TEST) {
        at = put(at, fold(c->n));
        for (int i = 0; i < c->n; i++) at = put(at, (uint64_t)c->indices[i]);
    }
    replay.noes = 0;
    event_written(at);
    replay.n_calls++;
}

uint64_t replay_file_close(bool is_whole)
{
    if (out.fd < 0) return 0;
    if (is_whole && has_room(32)) {
        out.at = (size_t)(put(bytes() + out.at, replay.receives << 2 | END) - bytes());
        used();
    }
    size_t n = out.at;
    munmap(out.head, out.mapped);
    if (ftruncate(out.fd, (off_t)n) != 0) n = out.mapped; /* longer than it need be */
    close(out.fd);
    out.fd = -1;
    return n;
}

/* ---- reading: two readers go through the same events, one for receives and one for calls --------------------------------------- */
struct reader {
    const uint8_t *at, *end;
    enum event event;
    struct replay_take take;
    struct replay_call call;
    uint64_t more; /* times that the event is repeated still */
    int64_t number_step;
    int *indices, indices_cap;
};
static struct reader takes, calls;
static bool is_whole;
static uint64_t whole_receives;
static struct waiting { /* TAKEs that were read before their receive was asked for */
    struct waiting *next;
    struct replay_take take;
} * waiting[1024];
static bool has_call;      /* calls.call is still to be repeated, */
static uint64_t noes_left; /* after so many that say no */

static bool get(struct reader *r, uint64_t *v_out)
{
    uint64_t v = 0;
    for (int shift = 0; r->at < r->end && shift < 63; shift += 7) {
        uint8_t byte = *r->at++;
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *v_out = v;
            return true;
        }
    }
    return false;
}

static bool get_int(struct reader *r, int *v_out)
{
    uint64_t v;
    if (!get(r, &v)) return false;
    int64_t n = unfold(v);
    *v_out = (int)n;
    return n >= INT32_MIN && n <= INT32_MAX;
}

static bool get_take(struct reader *r, uint64_t rest)
{
    r->event = TAKE;
    r->number_step = unfold(rest);
    r->take.number += (uint64_t)r->number_step;
    return get_int(r, &r->take.source) && get_int(r, &r->take.tag);
}

static bool get_indices(struct reader *r)
{
    struct replay_call *c = &r->call;
    if (!get_int(r, &c->n) || c->n > r->end - r->at) return false;
    if (c->n > r->indices_cap) {
        int *more = realloc(r->indices, sizeof *more * (size_t)c->n);
        if (!more) return false;
        r->indices = more;
        r->indices_cap = c->n;
    }
    for (int i = 0; i < c->n; i++) {
        uint64_t v;
        if (!get(r, &v) || v > INT32_MAX) return false;
        r->indices[i] = (int)v;
    }
    c->indices = r->indices;
    return true;
}

static bool get_call(struct reader *r, uint64_t rest)
{
    r->event = CALL;
    r->call = (struct replay_call){.noes = rest >> 3, .kind = (enum replay_kind)(rest & 7)};
    if (r->call.kind == REPLAY_TEST) return true;
    if (r->call.kind == REPLAY_PROBE || r->call.kind == REPLAY_IPROBE)
        return get_int(r, &r->call.source) && get_int(r, &r->call.tag);
    return r->call.kind < REPLAY_KINDS && get_indices(r);
}

/* The next event, repeated ones one by one.  False: there is none, or what follows is none. */
static bool next(struct reader *r)
{
    uint64_t v;
    while (r->more == 0) {
        if (r->at >= r->end || !get(r, &v)) return false;
        if ((v & 3) == TAKE) return get_take(r, v >> 2);
        if ((v & 3) == CALL) return get_call(r, v >> 2);
        if ((v & 3) == END) {
            is_whole = true;
            whole_receives = v >> 2;
            return false;
        }
        if (!get(r, &r->more)) return false;
    }
    r->more--;
    if (r->event == TAKE) r->take.number += (uint64_t)r->number_step;
    return true;
}

static bool next_of(struct reader *r, enum event wanted)
{
    while (next(r))
        if (r->event == wanted) return true;
    r->at = r->end;
    return false;
}

static void next_call(void)
{
    has_call = next_of(&calls, CALL);
    noes_left = has_call ? calls.call.noes : 0;
}

const char *replay_file_open(const char *path)
{
    struct stat is;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return strerror(errno);
    const struct head *h = fstat(fd, &is) == 0 && is.st_size >= (off_t)sizeof *h
        ? mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
        : MAP_FAILED;
    close(fd);
    if (h == MAP_FAILED || memcmp(h->magic, magic, sizeof magic) != 0) return "it is no record of mpiexec --record";
    uint64_t n = atomic_load_explicit(&h->used, memory_order_acquire), most = (uint64_t)is.st_size - sizeof *h;
    static char other[96];
    if (h->ranks != replay.ranks || h->rank != replay.rank) {
        snprintf(other, sizeof other, "it is of rank %d of %d, not of rank %d of %d", h->rank, h->ranks, replay.rank, replay.ranks);
        return other;
    }
    takes.at = (const uint8_t *)(h + 1);
    takes.end = takes.at + (n < most ? n : most);
    calls = takes;
    struct reader all = takes;
    while (next(&all)) continue; /* is it whole? */
    free(all.indices);
    next_call();
    return NULL;
}

bool replay_is_whole(void) { return is_whole; }
uint64_t replay_recorded_receives(void) { return whole_receives; }

bool replay_find(uint64_t number, struct replay_take *take_out)
{
    for (struct waiting **at = &waiting[number % 1024]; *at; at = &(*at)->next)
        if ((*at)->take.number == number) {
            struct waiting *w = *at;
            *take_out = w->take;
            *at = w->next;
            free(w);
            return true;
        }
    while (next_of(&takes, TAKE)) {
        if (takes.take.number == number) {
            *take_out = takes.take;
            return true;
        }
        struct waiting *w = malloc(sizeof *w);
        if (!w) return false;
        *w = (struct waiting){waiting[takes.take.number % 1024], takes.take};
        waiting[takes.take.number % 1024] = w;
    }
    return false;
}

enum replay_due replay_due(enum replay_kind kind, struct replay_call *call_out)
{
    if (!has_call) {
        if (is_whole)
            replay_departs("%s is called; the recorded run had no such call after its first %llu", replay_kind_names[kind],
                           (unsigned long long)replay.n_calls);
        else
            replay_departs("the record ends here, after %llu receives of any message and %llu tests, probes and waits",
                           (unsigned long long)replay.n_takes, (unsigned long long)replay.n_calls);
        return REPLAY_FREE;
    }
    if (noes_left > 0) {
        noes_left--;
        if (kind != REPLAY_WAITANY && kind != REPLAY_WAITSOME && kind != REPLAY_PROBE) return REPLAY_NO;
        replay_departs(
            "%s is called where a call said no in the recorded run (number %llu of those that depend on the order of messages)",
            replay_kind_names[kind], (unsigned long long)replay.n_calls + 1);
        return REPLAY_FREE;
    }
    if (calls.call.kind != kind) {
        replay_departs("call number %llu of those that depend on the order of messages was %s in the recorded run; it is %s now",
                       (unsigned long long)replay.n_calls + 1, replay_kind_names[calls.call.kind], replay_kind_names[kind]);
        return REPLAY_FREE;
    }
    static _Thread_local int *kept; /* the reader goes on */
    *call_out = calls.call;
    if (calls.call.n > 0) {
        int *more = realloc(kept, sizeof *more * (size_t)calls.call.n);
        if (!more) return REPLAY_FREE;
        kept = more;
        memcpy(kept, calls.call.indices, sizeof *kept * (size_t)calls.call.n);
        call_out->indices = kept;
    }
    replay.n_calls++;
    next_call();
    return REPLAY_YES;
}

bool replay_has_calls(void) { return has_call; }
