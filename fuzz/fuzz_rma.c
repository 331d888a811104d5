/* fuzz_rma.c -- requests of windows, as origins send them and as nobody would: those of the true functions, those that a target reads
 * from made-up bytes, and true ones of which a field is another, in windows of every flavour.
 *
 * A window's memory is an allocation of its own, so that a sanitizer sees what lies around it.  Where nothing was forged, a model of the
 * window says what is in it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../test/rma_rooms.h"

#include "base/base.h"
#include "base/count.h"
#include "base/lock.h"
#include "../test/data.h"
#include "fuzz.h"

enum { STEPS = 64, MOST = 24 << 10 };
static struct rma_win *w;
static int flavor;
static char *base, *model;
static char message[MOST + 64] GW_ALIGNED(16);
static bool is_forged;

/* Messages to the target, true ones and others: FUZZ_COUNT=FILE says at the end how many, one line a process. */
static uint64_t n_said;
static void count_say(void)
{
    const char *path = getenv("FUZZ_COUNT");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f) return;
    fprintf(f, "%llu requests, %llu refused\n", (unsigned long long)n_said,
            (unsigned long long)atomic_load(&gw_count.messages_refused));
    fclose(f);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    rooms_up();
    atexit(count_say);
    return 0;
}

/* ---- true ones ---- */
static int64_t some_run(struct input *in, int64_t most, int64_t *bytes_out)
{
    int64_t from = in_below(in, WIN_BYTES), bytes = 1 + in_below(in, (int)most);
    *bytes_out = gw_min64(bytes, WIN_BYTES - from);
    return from;
}

/* An answer to what was forged may have come in the place of a true one. */
static void fine(int rc) { FUZZ_CHECK(rc == GW_OK || is_forged); }

/* Not of a request. */
static struct rma_packed packed(char *at) { return (struct rma_packed){.at = at}; }

/* Forged changes have this rank's own numbers: a long one whose data never come is before the true ones, so a flush would wait for ever. */
static void flush(void)
{
    struct rma_target *t = &w->targets[0];
    if (is_forged) atomic_store(&t->known, atomic_load(&t->sent));
    fine(rma_deferred_flush_all(w));
}

static void true_one(struct input *in)
{
    char data[WIN_BYTES], got[WIN_BYTES];
    unsigned what = in_byte(in);
    int64_t bytes, from = some_run(in, what & 64 ? WIN_BYTES : 100, &bytes);
    uint64_t at = (uint64_t)(uintptr_t)base + (uint64_t)from;
    memset(data, (int)what, sizeof data);
    switch (what & 7) {
    case 0:
        fine(rma_ask_move(w, 0, true, at, bytes, gw_type_byte, bytes, packed(data)));
        memcpy(model + from, data, (size_t)bytes);
        break;
    case 1:
        fine(rma_ask_move(w, 0, false, at, bytes, gw_type_byte, bytes, packed(got)));
        fine(rma_deferred_settle(w));
        if (!is_forged) FUZZ_CHECK(memcmp(got, model + from, (size_t)bytes) == 0);
        break;
    case 2: {
        bool is_swap = bytes >= 8;
        if (!is_swap) break;
        memcpy(data, model + from, 8);
        int rc = rma_ask_swap(w, 0, at, "new text", data, packed(got), 8);
        fine(rc);
        if (!is_forged) FUZZ_CHECK(memcmp(got, data, 8) == 0);
        memcpy(model + from, "new text", 8);
        break;
    }
    case 3: {
        int64_t n = bytes / 4;
        int32_t sum;
        if (n == 0) break;
        fine(rma_ask_update(w, 0, gw_op_sum, at, n, gw_type_int, data, packed(what & 128 ? got : NULL)));
        for (int64_t i = 0; i < n; i++) {
            int32_t add;
            memcpy(&sum, model + from + 4 * i, 4);
            memcpy(&add, data + 4 * i, 4);
            sum = (int32_t)((uint32_t)sum + (uint32_t)add);
            memcpy(model + from + 4 * i, &sum, 4);
        }
        break;
    }
    case 4: flush(); break;
    case 5: {
        enum lock_kind kind = (enum lock_kind)(what >> 4 & 1);
        if (is_forged) break; /* somebody may have it for ever */
        fine(rma_ask_lock(w, 0, kind));
        fine(rma_ask_unlock(w, 0, kind));
        break;
    }
    default: look(2);
    }
    fine(rma_deferred_settle(w));
}

/* ---- others ---- */
/* As an origin makes it, more or less: how long it is. */
static int64_t some_request(struct input *in, int64_t at)
{
    static const uint8_t whats[] = {ASK_READ,  ASK_WRITE, ASK_UPDATE, ASK_SWAP,  ASK_READ,
                                    ASK_WRITE, ASK_FLUSH, ASK_LOCK,   ASK_UNLOCK};
    static const uint32_t ops[] = {GW_H_SUM, GW_H_REPLACE, GW_H_NO_OP, GW_H_BXOR, GW_H_MAXLOC, GW_H_LAND};
    static const uint8_t elems[] = {GW_ELEM_I32, GW_ELEM_BYTE, GW_ELEM_F64, GW_ELEM_DOUBLE_INT, GW_ELEM_C32, GW_ELEM_BOOL};
    unsigned how = in_byte(in);
    struct ask_head h = {.what = whats[how % GW_ARRAY_LEN(whats)], .number = in_below(in, 65536)};
    struct ask_run runs[ASK_RUNS];
    unsigned kind = in_byte(in);
    h.kind = (uint8_t)(kind % 3);
    h.op = ops[kind % GW_ARRAY_LEN(ops)];
    h.basic = elems[kind / 8 % GW_ARRAY_LEN(elems)];
    h.flags = (uint8_t)(in_byte(in) & 63);
    if (h.what <= ASK_SWAP) {
        h.n_runs = how & 128 ? 1 + in_below(in, 6) : 1;
        for (int i = 0; i < h.n_runs; i++) {
            int64_t bytes, from = some_run(in, h.what == ASK_SWAP ? 16 : 900, &bytes);
            bytes = gw_max64(16, bytes & ~(int64_t)15);
            from = gw_min64(from, WIN_BYTES - bytes);
            runs[i] = (struct ask_run){(uint64_t)(uintptr_t)base + (uint64_t)from, (uint64_t)bytes};
            h.bytes += bytes;
        }
    }
    int64_t length = (int64_t)ask_bytes(&h, 0), data = rma_request_data(&h);
    if (at + length + data > MOST) return 0;
    rma_ask_fill(message + at, &h, runs, NULL, 0);
    memset(message + at + length, (int)how, (size_t)data);
    return length + data;
}

/* Another number in one of its fields: of the head, or of a run. */
static void change(struct input *in, int64_t at, int64_t length)
{
    static const struct {
        uint8_t at, size;
    } fields[] = {
        {offsetof(struct ask_head, what), 1},   {offsetof(struct ask_head, flags), 1},  {offsetof(struct ask_head, kind), 1},
        {offsetof(struct ask_head, basic), 1},  {offsetof(struct ask_head, op), 4},     {offsetof(struct ask_head, origin), 4},
        {offsetof(struct ask_head, number), 4}, {offsetof(struct ask_head, n_runs), 4}, {offsetof(struct ask_head, bytes), 8},
        {sizeof(struct ask_head), 8},           {sizeof(struct ask_head) + 8, 8},       {sizeof(struct ask_head) + 16, 8},
        {sizeof(struct ask_head) + 24, 8}};
    unsigned n = in_byte(in), which = n % GW_ARRAY_LEN(fields);
    uint64_t v = 0;
    if (fields[which].at + fields[which].size > length) return;
    char *field = message + at + fields[which].at;
    memcpy(&v, field, fields[which].size);
    v = n & 128 ? v + (uint64_t)in_number(in) : (uint64_t)in_number(in);
    memcpy(field, &v, fields[which].size);
}

static void forged(struct input *in)
{
    unsigned how = in_byte(in);
    int64_t n = 0, at = 0, last;
    is_forged = true;
    for (int i = how & 3; i >= 0 && (last = some_request(in, at)) > 0; i--) {
        struct ask_head *h = (struct ask_head *)(message + at);
        if (i > 0)
            h->flags |= ASK_MORE;
        else if (!(how & 4))
            h->flags &= (uint8_t)~ASK_MORE;
        n = at + last;
        if (how & 8) change(in, at, last);
        at = (int64_t)gw_align_up((uint64_t)n, 16);
    }
    if (how & 16) n = in_below(in, (int)n + 64);
    if (how & 32) n = gw_min64(n, 4000); /* what nobody receives must not have to ask */
    say_bytes(w, how & 32 && n ? TAG_DATA + in_below(in, 65536) : TAG_REQUEST, message, n);
}

static void bytes_only(struct input *in)
{
    int64_t n = in_below(in, 200);
    is_forged = true;
    for (int64_t i = 0; i < n; i++) message[i] = (char)in_byte(in);
    say_bytes(w, TAG_REQUEST, message, n);
}

/* An answer of nobody's, before the true one: the call says so, or has what it asked for. */
static void answer(struct input *in)
{
    char got[64];
    struct ask_reply how = {in_number(in), 0};
    int64_t n = in_below(in, 90);
    uint64_t at = (uint64_t)(uintptr_t)base;
    memset(message, 3, 128);
    memcpy(message, &how, sizeof how);
    is_forged = true;
    say_bytes(w, TAG_REPLY + (int)(atomic_load(&w->reply_tag) % ASK_NUMBERS), message, n);
    rma_ask_move(w, 0, false, at, 40, gw_type_byte, 40, packed(got));
    rma_deferred_settle(w);
}

/* What nobody received, so that no later window finds it. */
static void leftovers_drop(void)
{
    static char bytes[1 << 16];
    struct proto_addr a = {.lane = w->comm->lane, .ctx = w->comm->ctx | GW_STREAM_P2P, .rank = GW_ANY_SOURCE, .tag = GW_ANY_TAG};
    struct proto_msg *m;
    struct gw_req *r;
    look(8);
    gw_lock(&w->comm->lane->lock);
    while ((m = proto_improbe(&a, NULL))) {
        FUZZ_CHECK(proto_mrecv(w->comm->lane, m, AS_DATA(bytes, sizeof bytes, gw_type_byte), NULL, &r) == GW_POSTED);
        gw_unlock(&w->comm->lane->lock);
        req_wait(&r, NULL);
        gw_lock(&w->comm->lane->lock);
    }
    gw_unlock(&w->comm->lane->lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = in_open(data, size);
    char *memory = gw_xmalloc(WIN_BYTES);
    flavor = (int)in_byte(&in) % FLAVORS;
    is_forged = false;
    memset(memory, 7, WIN_BYTES);
    w = win_of(flavor, memory, &base);
    memset(base, 7, WIN_BYTES);
    model = gw_xmalloc(WIN_BYTES);
    memcpy(model, base, WIN_BYTES);
    for (int step = 0; step < STEPS && in_more(&in); step++) {
        unsigned what = in_byte(&in);
        n_said++;
        if ((what & 7) < 3)
            true_one(&in);
        else if ((what & 7) < 6)
            forged(&in);
        else if ((what & 7) == 6)
            bytes_only(&in);
        else
            answer(&in);
    }
    look(8);
    flush();
    if (!is_forged) FUZZ_CHECK(memcmp(base, model, WIN_BYTES) == 0);
    leftovers_drop();
    FUZZ_CHECK(rma_win_free(&w) == GW_OK || is_forged);
    free(memory);
    free(model);
    return 0;
}
