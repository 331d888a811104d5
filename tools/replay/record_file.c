/* record_file.c -- the record of a rank: a head, then events of a few bytes.
 *
 *   event: a number EVENT | something << 2, then more numbers, each of variable length (7 bits a byte, the lowest first)
 *     TAKE    number of the receive less that of the TAKE before, source (or REPLAY_CANCELLED, REPLAY_KEPT), tag
 *     CALL    kind, noes; by kind: source and tag, or how many and the indices
 *     REPEAT  how many more times the event before happened
 *     SUM     (a REPEAT with something) four bytes: the sum of all bytes since the SUM before
 *     END     how many receives there were, and how many calls have said no since the last CALL; a SUM follows, and that is all
 * Numbers that may be negative are folded (0, -1, 1, -2 .. are 0, 1, 2, 3 ..).
 *
 * The count of a REPEAT is raised where it stands, by one store of eight bytes that does not change how many of them are its own: it has
 * one byte, then another REPEAT of the same event begins whose count is padded to four, then one of eight.  `used` in the head is raised
 * when an event is whole.  So the record of a process that is killed ends behind an event.
 *
 * A block, what lies between two SUMs, is at least BLOCK bytes, and its counts are not raised any more once its SUM stands there.  `closed`
 * is a sum of the head when the file is closed, else 0; the last bytes of a process that was killed, less than a block and an event, have
 * no sum.  A closed file ends with its last event; behind what is used in another is what is left of
 * the event that was being written, then zeros.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum event { TAKE, CALL, REPEAT, END };
enum { GROW = 1 << 20, SLACK = 64, BLOCK = 32 << 10, SUM = 1 << 2 | REPEAT, SUM_BYTES = 1 + sizeof(uint32_t) };
struct head {
    char magic[12];
    uint32_t closed;
    int32_t rank, ranks;
    _Atomic uint64_t used; /* bytes of whole events behind the head */
};
_Static_assert(sizeof(struct head) == 32, "events follow");
static const char magic[12] = "gw order 4\n";

const char *const replay_kind_names[REPLAY_KINDS] = {
    "MPI_Test or another test",
    "MPI_Testany or MPI_Request_get_status_any",
    "MPI_Waitany",
    "MPI_Testsome or MPI_Request_get_status_some",
    "MPI_Waitsome",
    "MPI_Probe or MPI_Mprobe",
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

static uint32_t sum_of(const uint8_t *at, size_t n)
{
    uint64_t sum = n, word;
    for (; n > 0; at += n < sizeof word ? n : sizeof word, n -= n < sizeof word ? n : sizeof word) {
        word = 0;
        memcpy(&word, at, n < sizeof word ? n : sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 32;
    }
    return (uint32_t)(sum >> 32);
}

static uint32_t head_sum(const struct head *h, uint64_t used)
{
    uint64_t facts[] = {(uint32_t)h->rank, (uint32_t)h->ranks, used};
    return sum_of((const uint8_t *)facts, sizeof facts) | 1;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------- */
uint8_t replay_full = 127;
struct replay_out replay_out = {.count = &replay_full, .message = REPLAY_NO_MESSAGE};
static struct {
    int fd;
    struct head *head;
    size_t mapped;  /* bytes of the file */
    size_t block;   /* where the block begins in it */
    int count_wide; /* bytes of the count of the last REPEAT */
    volatile sig_atomic_t is_cut;
    struct sigaction was; /* of SIGBUS */
} file = {.fd = -1};

static uint64_t count_of(const uint8_t *at, int wide)
{
    uint64_t count = 0;
    for (int i = 0; i < wide; i++) count |= (uint64_t)(at[i] & 127) << 7 * i;
    return count;
}

void replay_repeats_end(void)
{
    struct replay_out *o = &replay_out;
    if (o->count != &replay_full && o->step) replay.n_takes += count_of(o->count, file.count_wide);
    o->count = &replay_full;
}

/* The file is mapped here now, its next event comes to stand behind so many bytes. */
static void out_set(struct head *head, size_t mapped, size_t at)
{
    struct replay_out *o = &replay_out;
    uint8_t *begin = (uint8_t *)head, *was = (uint8_t *)file.head;
    if (o->last) o->last = begin + (o->last - was);
    if (o->last && o->count != &replay_full) o->count = begin + (o->count - was);
    size_t end = mapped - SLACK, block_end = file.block + BLOCK;
    o->at = begin + at, o->limit = begin + (end < block_end ? end : block_end);
    o->events = begin + sizeof *head, o->used = &head->used;
    file.head = head, file.mapped = mapped;
}

/* Nothing is written any more. */
static void out_end(void)
{
    replay_repeats_end();
    replay_out = (struct replay_out){.count = &replay_full, .message = REPLAY_NO_MESSAGE};
}

/* Who has shortened the file leaves pages that are mapped and not there.  Memory of this process takes their place, and the record ends. */
static void bus(int sig, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr, begin = (uintptr_t)file.head;
    int kept = errno;
    (void)context;
    if (info->si_code > 0 && at >= begin && at - begin < file.mapped &&
        mmap(file.head, file.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == file.head) {
        file.is_cut = 1;
    } else { /* not ours: it comes again, to who had it */
        sigaction(sig, &file.was, NULL);
        if (info->si_code <= 0) raise(sig);
    }
    errno = kept;
}

static void bus_catch(void)
{
    struct sigaction ours = {.sa_sigaction = bus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    sigaction(SIGBUS, &ours, &file.was);
}

static void bus_release(void)
{
    struct sigaction now;
    if (sigaction(SIGBUS, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == bus)
        sigaction(SIGBUS, &file.was, NULL);
}

/* It is shorter than we have made it, or has no name any more; said once. */
static bool was_cut(void)
{
    struct stat st = {0};
    bool is_there = fstat(file.fd, &st) == 0, is_removed = is_there && st.st_nlink == 0;
    if (!file.is_cut && is_there && !is_removed && st.st_size >= (off_t)file.mapped) return false;
    out_end();
    replay_departs(is_removed ? "somebody has removed the file of the record; there will be none"
                              : "somebody has shortened the file of the record, or its disk fails; the record ends there");
    return true;
}

/* Bytes from..to of the file, so that what is written to them has its place on the disk.  0, or errno. */
static int room_make(int fd, size_t from, size_t to)
{
    static const char zeros[4096];
    int err = posix_fallocate(fd, 0, (off_t)to);
    if (err != ENOSYS && err != EPERM && err != EOPNOTSUPP) return err;
    for (ssize_t n; from < to; from += (size_t)n) { /* a sandbox refuses that call */
        n = pwrite(fd, zeros, to - from < sizeof zeros ? to - from : sizeof zeros, (off_t)from);
        if (n <= 0) return n < 0 ? errno : ENOSPC;
    }
    return 0;
}

/* Ends the block.  There is room for its SUM. */
static void block_end(void)
{
    struct replay_out *o = &replay_out;
    uint8_t *begin = (uint8_t *)file.head;
    replay_repeats_end();
    uint32_t sum = sum_of(begin + file.block, (size_t)(o->at - begin) - file.block);
    *o->at++ = SUM;
    memcpy(o->at, &sum, sizeof sum);
    o->at += sizeof sum;
    file.block = (size_t)(o->at - begin);
    atomic_store_explicit(o->used, (uint64_t)(o->at - o->events), memory_order_release);
}

/* For the next event, and what ends its block. */
static bool has_room(size_t n)
{
    struct replay_out *o = &replay_out;
    if (!o->at) return false;
    if (o->at + n <= o->limit) return true;
    if (was_cut()) return false;
    size_t at = (size_t)(o->at - (uint8_t *)file.head);
    if (at + SUM_BYTES + n + SLACK <= file.mapped) {
        if (at + n > file.block + BLOCK && at > file.block) block_end();
        out_set(file.head, file.mapped, (size_t)(o->at - (uint8_t *)file.head));
        return true;
    }
    size_t more = (at + SUM_BYTES + n + SLACK + GROW) / GROW * GROW;
    void *to = room_make(file.fd, file.mapped, more) == 0 ? mremap(file.head, file.mapped, more, MREMAP_MAYMOVE) : MAP_FAILED;
    if (to == MAP_FAILED) {
        out_end();
        replay_departs("there is no room for more of the record; it ends here");
        return false;
    }
    out_set(to, more, at);
    return has_room(n);
}

int replay_file_create(const char *path)
{
    int fd = gw_file_open(path, GW_FILE_FOLDERS | GW_FILE_FRESH), err;
    if (fd < 0) return errno;
    err = room_make(fd, 0, GROW);
    struct head *head = err ? MAP_FAILED : mmap(NULL, GROW, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED) {
        if (!err) err = errno;
        close(fd);
        return err;
    }
    file.fd = fd, file.block = sizeof *head;
    bus_catch();
    out_set(head, GROW, sizeof *head);
    memcpy(head->magic, magic, sizeof magic);
    head->rank = replay.rank, head->ranks = replay.ranks;
    return 0;
}

/* A count as the first `wide` bytes of a word. */
static uint64_t padded(uint64_t count, int wide)
{
    if (wide == 1) return count;
    uint64_t word = 0;
    for (int i = 0; i < wide; i++) word |= ((count >> 7 * i & 127) | (i < wide - 1 ? 128 : 0)) << 8 * i;
    return word;
}

/* The event of n bytes at `at` is the same as the one before: that is counted in its place. */
static bool repeated(size_t n)
{
    struct replay_out *o = &replay_out;
    if (n != o->last_bytes || memcmp(o->last, o->at, n) != 0) return false;
    uint8_t *count = o->count;
    uint64_t times = count == &replay_full ? 0 : count_of(count, file.count_wide);
    if (count == &replay_full || times == (UINT64_C(1) << 7 * file.count_wide) - 1) {
        replay_repeats_end();
        file.count_wide = count == &replay_full ? 1 : file.count_wide < 4 ? 4 : 8;
        *o->at = REPEAT;
        count = o->at + 1;
        times = 0;
    }
    uint64_t word = padded(times + 1, file.count_wide);
    memcpy(count, &word, sizeof word);
    o->count = count;
    o->at = count + file.count_wide;
    atomic_store_explicit(o->used, (uint64_t)(o->at - o->events), memory_order_release);
    return true;
}

/* True: it is the one before once more. */
static bool event_written(const uint8_t *end)
{
    size_t n = (size_t)(end - replay_out.at);
    if (repeated(n)) return true;
    replay_event(&replay_out, n);
    return false;
}

void replay_took_slow(uint64_t number, int source, int tag)
{
    struct replay_out *o = &replay_out;
    if (!has_room(32)) return;
    uint64_t step = number - (o->next - o->step);
    uint8_t *at = put(o->at, fold((int64_t)step) << 2 | TAKE);
    at = put(at, fold(source));
    if (!event_written(put(at, fold(tag)))) replay.n_takes++;
    o->step = step, o->message = (uint64_t)(uint32_t)source << 32 | (uint32_t)tag, o->next = number + step;
}

void replay_ended(const struct replay_call *c)
{
    struct replay_out *o = &replay_out;
    if (!has_room(32 + 5 * (size_t)(c->n > 0 ? c->n : 0))) return;
    uint8_t *at = put(o->at, (replay.noes << 3 | (uint64_t)c->kind) << 2 | CALL);
    if (c->kind == REPLAY_PROBE || c->kind == REPLAY_IPROBE) {
        at = put(at, fold(c->source));
        at = put(at, fold(c->tag));
    } else if (c->kind != REPLAY_TEST) {
        at = put(at, fold(c->n));
        for (int i = 0; i < c->n; i++) at = put(at, (uint64_t)c->indices[i]);
    }
    replay.noes = 0;
    event_written(at);
    o->next -= o->step;
    o->step = 0, o->message = REPLAY_NO_MESSAGE;
    replay.n_calls++;
}

static void end_write(void)
{
    uint8_t *at = put(put(replay_out.at, replay.receives << 2 | END), replay.noes);
    replay_event(&replay_out, (uint64_t)(at - replay_out.at));
}

uint64_t replay_file_close(bool is_whole)
{
    if (file.fd < 0) return 0;
    if (is_whole && has_room(32)) end_write();
    bool is_cut = replay_out.at && was_cut();
    bool is_to_end = replay_out.at; /* else it ended where there was no more room, in a block */
    if (is_to_end) block_end();
    size_t n = is_cut ? 0 : is_to_end ? (size_t)(replay_out.at - (uint8_t *)file.head) : file.mapped;
    out_end();
    if (!is_cut && ftruncate(file.fd, (off_t)n) != 0) /* longer than it need be, like that of a process that was killed */
        n = file.mapped;
    else if (is_to_end)
        file.head->closed = head_sum(file.head, atomic_load_explicit(&file.head->used, memory_order_relaxed));
    munmap(file.head, file.mapped);
    bus_release();
    close(file.fd);
    file.fd = -1;
    return n;
}

/* ---- reading: two readers go through the same events, one for receives and one for calls --------------------------------------- */
struct reader {
    const uint8_t *at, *end;
    const uint8_t *block; /* its sum is compared at its end; NULL: that has been done */
    enum event event;
    uint64_t times;          /* that it happens: a REPEAT is read as so many more of the event before */
    struct replay_take take; /* the first of them; the others have numbers number_step apart */
    int64_t number_step;
    struct replay_call call;
    int *indices, indices_cap;
    bool has_event; /* that a REPEAT can repeat */
};
static struct reader takes, calls;
static bool is_whole;
static uint64_t whole_receives, whole_noes; /* of a whole record; noes after its last CALL, */
static uint64_t noes_repeated;              /* and so many of them were repeated */
static bool has_call;                       /* calls.call is still to be repeated, */
static uint64_t noes_left,                  /* after so many that say no, */
    call_more;                              /* and so many times again */
static struct replay_take *cancels;         /* what became of receives that the program wanted to cancel, by number */
static size_t n_cancels;
static uint64_t unsummed[2]; /* the bytes of the file that no SUM covers, from, to: the end of one that was not closed */

/* TAKEs that were read before their receive was asked for; what was read is bounded. */
enum { BUCKETS = 1024, WINDOW = 1 << 20 };
struct ahead {
    struct ahead *next;
    struct replay_take take; /* the first */
    uint64_t step, n;        /* n: how many; step: between their numbers, where there are several */
    uint64_t left;           /* that were not asked for */
};
static struct ahead *single[BUCKETS], *several; /* by number; any */
static int n_ahead;

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

/* Steps on by n times number_step: the numbers of receives stay from 1 to 2^62. */
static bool step_by(struct reader *r, uint64_t n)
{
    int64_t far, number = (int64_t)r->take.number;
    if (n > INT64_MAX || __builtin_mul_overflow((int64_t)n, r->number_step, &far) || __builtin_add_overflow(number, far, &number) ||
        number < 1 || number > INT64_MAX / 2)
        return false;
    r->take.number = (uint64_t)number;
    return true;
}

static bool get_take(struct reader *r, uint64_t rest)
{
    r->event = TAKE;
    r->number_step = unfold(rest);
    return r->number_step != 0 && step_by(r, 1) && get_int(r, &r->take.source) && get_int(r, &r->take.tag) &&
        (r->take.source >= 0 || r->take.source == REPLAY_CANCELLED || r->take.source == REPLAY_KEPT);
}

static bool get_indices(struct reader *r)
{
    struct replay_call *c = &r->call;
    bool is_one = c->kind == REPLAY_WAITANY || c->kind == REPLAY_TESTANY;
    if (!get_int(r, &c->n) || c->n > r->end - r->at || c->n < -1 || c->n == 0 || (is_one && c->n > 1)) return false;
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
        return get_int(r, &r->call.source) && get_int(r, &r->call.tag) && r->call.source >= 0 && r->call.tag >= 0;
    return r->call.kind < REPLAY_KINDS && get_indices(r);
}

/* `more` times the event before, whose last number is in take.number: the first of the new ones takes its place. */
static bool get_repeat(struct reader *r)
{
    uint64_t more;
    struct reader last;
    if (!r->has_event || !get(r, &more) || more == 0) return false;
    r->times = more;
    if (r->event != TAKE) return true;
    last = *r;
    return step_by(&last, more) && step_by(r, 1);
}

/* The next event.  NO: there is none more; BAD: what follows is none; OTHER: a block is not what was written. */
enum next { NEXT, NO, BAD, OTHER };

/* Behind a SUM's first byte. */
static enum next get_sum(struct reader *r)
{
    uint32_t sum;
    const uint8_t *begin = r->block;
    if (r->end - r->at < (ptrdiff_t)sizeof sum) return BAD;
    memcpy(&sum, r->at, sizeof sum);
    if (begin && sum != sum_of(begin, (size_t)(r->at - 1 - begin))) return OTHER;
    r->at += sizeof sum;
    if (begin) r->block = r->at;
    return NEXT;
}

static enum next get_end(struct reader *r, uint64_t receives)
{
    is_whole = true;
    whole_receives = receives;
    if (!get(r, &whole_noes) || r->at >= r->end || *r->at++ != SUM) return BAD;
    enum next is = get_sum(r);
    return is == NEXT ? r->at == r->end ? NO : BAD : is;
}

static enum next next(struct reader *r)
{
    uint64_t v;
    if (r->has_event && r->event == TAKE && r->times > 1) step_by(r, r->times - 1); /* to the last that was read */
    r->times = 1;
    for (v = SUM; v == SUM;) {
        if (r->at >= r->end) return NO;
        if (r->block && r->at - r->block >= BLOCK && *r->at != SUM) return OTHER;
        if (!get(r, &v)) return BAD;
        enum next is = v == SUM ? get_sum(r) : NEXT;
        if (is != NEXT) return is;
    }
    if ((v & 3) == END) return get_end(r, v >> 2);
    bool is_good = (v & 3) == TAKE ? get_take(r, v >> 2) : (v & 3) == CALL ? get_call(r, v >> 2) : v == REPEAT && get_repeat(r);
    r->has_event = true;
    return is_good ? NEXT : BAD;
}

static bool is_took(const struct reader *r) { return r->event == TAKE && r->take.source >= 0; }

static void next_call(void)
{
    if (call_more > 0) {
        call_more--;
    } else {
        enum next is;
        while ((is = next(&calls)) == NEXT && calls.event != CALL) continue;
        has_call = is == NEXT;
        call_more = has_call ? calls.times - 1 : 0;
    }
    noes_left = has_call ? calls.call.noes : 0;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const struct replay_take *)a)->number, y = ((const struct replay_take *)b)->number;
    return x < y ? -1 : x > y;
}

/* Keeps the outcomes of cancels.  False: there is no memory, or no recording has as many in one event. */
static bool cancels_of(const struct reader *r)
{
    static size_t cap;
    if (r->times > 1 << 24) return false;
    for (uint64_t i = 0; i < r->times; i++) {
        if (n_cancels == cap) {
            struct replay_take *more = realloc(cancels, sizeof *more * (cap ? 2 * cap : 64));
            if (!more) return false;
            cancels = more;
            cap = cap ? 2 * cap : 64;
        }
        cancels[n_cancels] = r->take;
        cancels[n_cancels++].number += i * (uint64_t)r->number_step;
    }
    return true;
}

/* Reads all of it.  NULL, or why it cannot be used. */
static const char *look_through(struct reader r, bool is_closed)
{
    static char damage[128];
    const uint8_t *begin = r.at, *at = r.at;
    enum next is;
    r.block = begin;
    while ((is = next(&r)) == NEXT) {
        at = r.at;
        if (r.event == TAKE && !is_took(&r) && !cancels_of(&r)) {
            is = BAD;
            break;
        }
    }
    free(r.indices);
    if (is == NO && is_closed && r.block != r.end) is = OTHER;
    if (is == BAD)
        snprintf(damage, sizeof damage, "it is damaged: there is no event at byte %td",
                 at - begin + (ptrdiff_t)sizeof(struct head));
    if (is == OTHER)
        snprintf(damage, sizeof damage, "it is damaged: the bytes from %td on are not those that were written",
                 r.block - begin + (ptrdiff_t)sizeof(struct head));
    if (is != NO) return damage;
    unsummed[0] = sizeof(struct head) + (uint64_t)(r.block - begin);
    unsummed[1] = sizeof(struct head) + (uint64_t)(r.end - begin);
    if (n_cancels) qsort(cancels, n_cancels, sizeof *cancels, by_number);
    return NULL;
}

/* Behind what is used.  NULL, or what nobody has recorded. */
static const char *look_behind(const struct head *h, uint64_t used, size_t bytes)
{
    static char more[128];
    const char *begin = (const char *)h, *at = begin + sizeof *h + used, *end = begin + bytes, *byte = at;
    size_t n_zeros = 0; /* an event has not as many one after the other */
    if (!h->closed)
        for (; byte < end && (n_zeros < SLACK || *byte == 0); byte++) n_zeros = *byte ? 0 : n_zeros + 1;
    if (byte == end) return NULL;
    snprintf(more, sizeof more, "it is damaged: the bytes from %td on are none of those that were written", byte - begin);
    return more;
}

/* Why these bytes are no record, which may stand behind others. */
static const char *no_record(const char *bytes, size_t n)
{
    static char where[96];
    const char *at = bytes ? memmem(bytes, n, magic, sizeof magic) : NULL;
    if (!at) return "it is no record of this version's mpiexec --record";
    snprintf(where, sizeof where, "it is damaged: what was written begins at byte %td, behind something else", at - bytes);
    return where;
}

/* The file as it is now: read and not mapped, as a program ends that reads a mapped file which somebody shortens.  NULL: errno. */
static struct head *file_read(const char *path, size_t *bytes_out)
{
    struct stat is;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return NULL;
    bool is_file = fstat(fd, &is) == 0 && S_ISREG(is.st_mode);
    size_t size = is_file ? (size_t)is.st_size : 0, n = 0;
    char *bytes = is_file ? calloc(1, size + sizeof(struct head)) : NULL;
    int why = is_file ? ENOMEM : EINVAL;
    while (bytes && n < size) {
        ssize_t got = read(fd, bytes + n, size - n);
        if (got < 0 && errno == EINTR) continue;
        why = errno;
        if (got < 0) {
            free(bytes);
            bytes = NULL;
        }
        if (got <= 0) break;
        n += (size_t)got;
    }
    close(fd);
    errno = why;
    *bytes_out = n;
    return (struct head *)(void *)bytes;
}

const char *replay_file_open(const char *path)
{
    size_t bytes;
    struct head *h = file_read(path, &bytes);
    if (!h && errno != EINVAL) return strerror(errno);
    if (!h || bytes < sizeof *h || memcmp(h->magic, magic, sizeof magic) != 0) return no_record((const char *)h, bytes);
    uint64_t n = atomic_load_explicit(&h->used, memory_order_acquire), most = bytes - sizeof *h;
    if (h->closed && h->closed != head_sum(h, n)) return "it is damaged: its head, the first 32 bytes, is not what was written";
    static char other[128];
    if (h->ranks != replay.ranks || h->rank != replay.rank) {
        snprintf(other, sizeof other, "it is of rank %d of %d, not of rank %d of %d%s", h->rank, h->ranks, replay.rank,
                 replay.ranks, h->ranks != replay.ranks ? ": start as many ranks as were recorded" : "");
        return other;
    }
    if (n > most) {
        snprintf(other, sizeof other, "it is damaged: it is shorter than its head says: it ends at byte %zu, not %" PRIu64, bytes,
                 n + sizeof *h);
        return other;
    }
    takes.at = (const uint8_t *)(h + 1);
    takes.end = takes.at + n;
    calls = takes;
    const char *why = look_through(takes, h->closed != 0);
    if (!why) why = look_behind(h, n, bytes);
    if (!why) next_call();
    return why;
}

void replay_unsummed(uint64_t range_out[2]) { memcpy(range_out, unsummed, sizeof unsummed); }
bool replay_is_whole(void) { return is_whole; }
uint64_t replay_recorded_receives(void) { return whole_receives; }

/* Is it one of `n` numbers that begin with `first`? */
static bool is_among(uint64_t number, uint64_t first, uint64_t step, uint64_t n)
{
    int64_t far = (int64_t)(number - first), by = (int64_t)step;
    return n == 1 ? far == 0 : far % by == 0 && far / by >= 0 && (uint64_t)(far / by) < n;
}

/* Takes it from those in a list. */
static bool find_in(struct ahead **list, uint64_t number, struct replay_take *take_out)
{
    for (struct ahead **at = list; *at; at = &(*at)->next) {
        struct ahead *a = *at;
        if (!is_among(number, a->take.number, a->step, a->n)) continue;
        *take_out = (struct replay_take){number, a->take.source, a->take.tag};
        if (--a->left > 0) return true;
        *at = a->next;
        free(a);
        n_ahead--;
        return true;
    }
    return false;
}

/* Keeps what takes has read, of which `left` were not asked for. */
static bool keep(uint64_t left)
{
    struct ahead *a = left ? malloc(sizeof *a) : NULL;
    if (!a) return left == 0;
    struct ahead **list = takes.times == 1 ? &single[takes.take.number % BUCKETS] : &several;
    *a = (struct ahead){*list, takes.take, (uint64_t)takes.number_step, takes.times, left};
    *list = a;
    n_ahead++;
    return true;
}

/* Reads ahead as far as the window goes, and then on without keeping anything; one that names source and tag is no reason to read more than
 * what came before it. */
static bool find_on(uint64_t number, bool is_any, struct replay_take *take_out)
{
    bool is_found = false;
    while (!is_found && n_ahead < WINDOW && (is_any || takes.take.number < number) && next(&takes) == NEXT) {
        if (!is_took(&takes)) continue;
        is_found = is_among(number, takes.take.number, (uint64_t)takes.number_step, takes.times);
        if (is_found) *take_out = (struct replay_take){number, takes.take.source, takes.take.tag};
        if (!keep(takes.times - is_found)) return false;
    }
    if (is_found || !is_any) return is_found;
    struct reader far = takes;
    far.indices = NULL, far.indices_cap = 0;
    while (!is_found && next(&far) == NEXT) {
        is_found = is_took(&far) && is_among(number, far.take.number, (uint64_t)far.number_step, far.times);
        if (is_found) *take_out = (struct replay_take){number, far.take.source, far.take.tag};
    }
    free(far.indices);
    return is_found;
}

bool replay_find(uint64_t number, bool is_any, struct replay_take *take_out)
{
    replay_lock();
    bool is_found = find_in(&single[number % BUCKETS], number, take_out) || find_in(&several, number, take_out) ||
        find_on(number, is_any, take_out);
    replay_unlock();
    return is_found;
}

bool replay_find_cancel(uint64_t number, bool *is_kept_out)
{
    struct replay_take wanted = {.number = number};
    struct replay_take *t = n_cancels ? bsearch(&wanted, cancels, n_cancels, sizeof *cancels, by_number) : NULL;
    if (t) *is_kept_out = t->source == REPLAY_KEPT;
    return t;
}

static enum replay_due due_now(enum replay_kind kind, struct replay_call *call_out)
{
    bool may_say_no = kind != REPLAY_WAITANY && kind != REPLAY_WAITSOME && kind != REPLAY_PROBE;
    if (!has_call) {
        if (may_say_no && noes_repeated < whole_noes) {
            noes_repeated++;
            return REPLAY_NO;
        }
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
        if (may_say_no) return REPLAY_NO;
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

enum replay_due replay_due(enum replay_kind kind, struct replay_call *call_out)
{
    replay_lock();
    enum replay_due is = due_now(kind, call_out);
    replay_unlock();
    return is;
}

bool replay_has_calls(void) { return has_call || noes_repeated < whole_noes; }
