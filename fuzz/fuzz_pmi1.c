/* fuzz_pmi1.c -- a PMI-1 server that answers anything: raw bytes, or lines that begin as they should.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "boot/boot.h"
#include "boot/boot_private.h"

#include "fuzz.h"

#include <sys/socket.h>
#include <unistd.h>

/* The answers in the order in which the client asks, with a good mapping and without. */
static const char *const answers[] = {"response_to_init rc=0", "maxes rc=0",      "appnum rc=0",
                                      "universe_size rc=0",    "my_kvsname rc=0", "get_result rc=0",
                                      "put_result rc=0",       "barrier_out",     "get_result rc=0"};

static void serve(int fd, const char *text, size_t n) { FUZZ_CHECK(n == 0 || write(fd, text, n) == (ssize_t)n); }

static void serve_lines(int fd, struct input *in)
{
    enum { MAX_LINES = 60 };
    static char lines[MAX_LINES * 40 + (1 << 16)];
    size_t n = 0;
    for (size_t i = 0; in_more(in) && i < MAX_LINES && n < sizeof lines / 2; i++) {
        char *rest = in_text(in, 8500), *end = strchr(rest, '\n');
        if (end) *end = 0;
        const char *answer = answers[i < GW_ARRAY_LEN(answers) ? i : GW_ARRAY_LEN(answers) - 1];
        n += (size_t)snprintf(lines + n, sizeof lines - n, "cmd=%s %s\n", answer, rest);
        free(rest);
    }
    serve(fd, lines, n);
}

static void use(void)
{
    char value[64];
    FUZZ_CHECK(gw_boot.nlocal >= 1 && gw_boot.nlocal <= gw_boot.size);
    FUZZ_CHECK(gw_boot.local_rank >= 0 && gw_boot.local_rank < gw_boot.nlocal);
    FUZZ_CHECK(gw_boot.local_to_world[gw_boot.local_rank] == gw_boot.rank);
    for (int i = 1; i < gw_boot.nlocal; i++) FUZZ_CHECK(gw_boot.local_to_world[i - 1] < gw_boot.local_to_world[i]);
    boot_backend_pmi1.put("k e=y", "50% of a\tvalue\n");
    boot_backend_pmi1.fence();
    memset(value, 0x7f, sizeof value);
    if (boot_backend_pmi1.get(0, "key", value, sizeof value) == GW_OK) FUZZ_CHECK(memchr(value, 0, sizeof value));
    boot_backend_pmi1.leave();
    free((void *)gw_boot.local_to_world);
}

/* hydra's mapping alone. */
static void mapping(struct input *in)
{
    int size = 1 + in_below(in, 60), rank = in_below(in, size), n = 0;
    char *text = in_text(in, 4000);
    int *ranks = boot_mapping_locals(text, size, rank, &n);
    bool found = false;
    for (int i = 0; ranks && i < n; i++) {
        found = found || ranks[i] == rank;
        FUZZ_CHECK(ranks[i] >= 0 && ranks[i] < size && (i == 0 || ranks[i - 1] < ranks[i]));
    }
    FUZZ_CHECK(found == (ranks != NULL));
    free(ranks);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = in_open(data, size);
    unsigned mode = in_byte(&in);
    if (mode % 4 == 3) {
        mapping(&in);
        return 0;
    }
    int fds[2];
    char text[16];
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    int ranks = 1 + in_below(&in, 30), rank = in_below(&in, ranks);
    if (mode % 4 == 0)
        serve(fds[1], (const char *)in.at, (size_t)(in.end - in.at));
    else
        serve_lines(fds[1], &in);
    FUZZ_CHECK(shutdown(fds[1], SHUT_WR) == 0);
    snprintf(text, sizeof text, "%d", fds[0]);
    setenv("PMI_FD", text, 1);
    snprintf(text, sizeof text, "%d", ranks);
    setenv("PMI_SIZE", text, 1);
    snprintf(text, sizeof text, "%d", rank);
    setenv("PMI_RANK", text, 1);
    gw_boot = (struct boot_info){.shm_fd = -1, .host = "here"};
    FUZZ_CHECK(boot_backend_pmi1.offered());
    if (boot_backend_pmi1.join() == GW_OK)
        use(); /* closes its end */
    else
        close(fds[0]);
    close(fds[1]);
    return 0;
}
