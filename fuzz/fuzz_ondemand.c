/* fuzz_ondemand.c -- datagrams to the socket where a rank is asked for its address, answers that anybody may send, and names of such sockets
 * in the launcher's store.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_ondemand.h"

#include "fuzz.h"

enum { KEY = 0x6b6b6b6b, MOST = sizeof(struct ofi_ondemand_reply) + 64 };

static void name(const uint8_t *data, size_t size)
{
    struct input in = in_open(data, size);
    struct sockaddr_storage address;
    uint64_t key = KEY;
    char *text = in_text(&in, size);
    if (ofi_ondemand_name_read(text, &address, &key))
        FUZZ_CHECK(ofi_ondemand_is_name(text) && strlen(text) < ONDEMAND_AT && strchr(text, '#'));
    free(text);
}

/* What is taken is what would be sent, and all of it goes into the set of hosts that may connect. */
static void question(const struct ofi_ondemand_request *q, const void *bytes, size_t n)
{
    static struct ofi_admit admitted; /* of all inputs */
    static struct sock_filter code[ADMIT_PROGRAM];
    struct ofi_ondemand_request again;
    FUZZ_CHECK(n == sizeof *q && q->key == KEY && memcmp(q, bytes, n) == 0);
    FUZZ_CHECK(q->n_from >= 0 && q->n_from <= ONDEMAND_FROM);
    ofi_ondemand_request_make(&again, KEY, q->nonce, q->lane, q->from, q->n_from);
    FUZZ_CHECK(memcmp(&again, q, sizeof again) == 0);
    for (int i = 0; i < q->n_from; i++) {
        ofi_admit_add(&admitted, q->from[i]);
        FUZZ_CHECK(admitted.n > 0 && admitted.n <= ADMIT_MOST && !ofi_admit_add(&admitted, q->from[i]));
    }
    int length = ofi_admit_program(&admitted, code);
    FUZZ_CHECK(length > 0 && length <= ADMIT_PROGRAM && code[length - 1].code == (BPF_RET | BPF_K));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = in_open(data, size);
    unsigned mode = in_byte(&in);
    size_t n = (size_t)(in.end - in.at);
    struct ofi_ondemand_request q = {.lane = -7};
    struct ofi_ondemand_reply r = {.lane = -7};
    if (n > MOST) n = MOST;
    uint64_t *bytes = malloc(n ? n : 1); /* as long as what came, so that what lies behind is not read */
    FUZZ_CHECK(bytes);
    if (n) memcpy(bytes, in.at, n);
    switch (mode % 3) {
    case 0:
        if (ofi_ondemand_request_read(bytes, n, KEY, &q))
            question(&q, bytes, n);
        else
            FUZZ_CHECK(q.lane == -7);
        break;
    case 1:
        if (ofi_ondemand_reply_read(bytes, n, KEY, 1, &r))
            FUZZ_CHECK(r.nonce == KEY && r.lane == 1 && strnlen(r.text, sizeof r.text) == n - ONDEMAND_REPLY_HEAD - 1 && r.rc <= 0);
        else
            FUZZ_CHECK(r.lane == -7);
        break;
    default: name(in.at, n);
    }
    free(bytes);
    return 0;
}
