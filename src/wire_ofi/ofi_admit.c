/* ofi_admit.c -- see ofi_admit.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_admit.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

enum { WORDS = ADMIT_IP / 4 };
static const uint8_t four_head[ADMIT_IP - 4] = {[10] = 0xff, [11] = 0xff};
static const struct {
    int four, six; /* bits */
} levels[] = {{32, 128}, {28, 112}, {24, 96}, {20, 80}, {16, 64}, {8, 48}, {0, 0}};
_Static_assert(sizeof levels / sizeof *levels == ADMIT_WIDEST + 1, "as many as the header says");

bool ofi_admit_address_of(const struct sockaddr *at, uint8_t out[ADMIT_IP])
{
    const struct sockaddr_in *four = (const void *)at;
    const struct sockaddr_in6 *six = (const void *)at;
    if (at->sa_family == AF_INET) {
        memcpy(out, four_head, sizeof four_head);
        memcpy(out + sizeof four_head, &four->sin_addr, 4);
    } else if (at->sa_family == AF_INET6) {
        memcpy(out, &six->sin6_addr, ADMIT_IP);
    }
    return at->sa_family == AF_INET || at->sa_family == AF_INET6;
}

bool ofi_admit_is_ipv4(const uint8_t ip[ADMIT_IP]) { return memcmp(ip, four_head, sizeof four_head) == 0; }

/* ---- the set ----------------------------------------------------------------------------------------------------------------- */
/* Word i, in host byte order, of a network mask of `bits` bits. */
static uint32_t mask_of(int bits, int i)
{
    int here = bits - 32 * i;
    return here >= 32 ? UINT32_MAX : here <= 0 ? 0 : UINT32_MAX << (32 - here);
}

static uint32_t word_of(const uint8_t *ip, int i)
{
    return (uint32_t)ip[4 * i] << 24 | (uint32_t)ip[4 * i + 1] << 16 | (uint32_t)ip[4 * i + 2] << 8 | ip[4 * i + 3];
}

static void cut(uint8_t ip[ADMIT_IP], int level)
{
    int bits = ofi_admit_is_ipv4(ip) ? 96 + levels[level].four : levels[level].six;
    for (int i = 0; i < ADMIT_IP; i++) ip[i] &= (uint8_t)(mask_of(bits, i / 4) >> (24 - i % 4 * 8));
}

static bool has(const struct ofi_admit *a, const uint8_t ip[ADMIT_IP])
{
    for (int i = 0; i < a->n; i++)
        if (memcmp(a->of[i], ip, ADMIT_IP) == 0) return true;
    return false;
}

bool ofi_admit_widen(struct ofi_admit *a)
{
    int n = a->n;
    if (a->level == ADMIT_WIDEST) return false;
    a->level++;
    a->n = 0;
    for (int i = 0; i < n; i++) {
        uint8_t ip[ADMIT_IP];
        memcpy(ip, a->of[i], ADMIT_IP);
        cut(ip, a->level);
        if (!has(a, ip)) memcpy(a->of[a->n++], ip, ADMIT_IP);
    }
    return true;
}

bool ofi_admit_add(struct ofi_admit *a, const uint8_t ip[ADMIT_IP])
{
    uint8_t mine[ADMIT_IP];
    memcpy(mine, ip, ADMIT_IP);
    cut(mine, a->level);
    if (has(a, mine)) return false;
    while (a->n == ADMIT_MOST && ofi_admit_widen(a)) cut(mine, a->level); /* at the widest level at most two are left */
    if (!has(a, mine)) memcpy(a->of[a->n++], mine, ADMIT_IP);
    return true;
}

/* ---- the program ------------------------------------------------------------------------------------------------------------- */
static const struct sock_filter yes = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX), no = BPF_STMT(BPF_RET | BPF_K, 0);

static int four_program(const struct ofi_admit *a, struct sock_filter *out)
{
    enum { SOURCE = 12 };
    int at = 0;
    out[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)SKF_NET_OFF + SOURCE);
    out[at++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask_of(levels[a->level].four, 0));
    for (int i = 0; i < a->n; i++) {
        if (!ofi_admit_is_ipv4(a->of[i])) continue;
        out[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word_of(a->of[i], WORDS - 1), 0, 1);
        out[at++] = yes;
    }
    out[at++] = no;
    return at;
}

static int six_program(const struct ofi_admit *a, struct sock_filter *out)
{
    enum { SOURCE = 8, ENTRY = 2 * WORDS + 1 };
    int at = 0;
    for (int w = 0; w < WORDS; w++) {
        out[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_NET_OFF + SOURCE + 4 * w));
        out[at++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask_of(levels[a->level].six, w));
        out[at++] = (struct sock_filter)BPF_STMT(BPF_ST, (uint32_t)w);
    }
    for (int i = 0; i < a->n; i++) {
        if (ofi_admit_is_ipv4(a->of[i])) continue;
        for (int w = 0; w < WORDS; w++) { /* a mismatch jumps to the next entry */
            out[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_MEM, (uint32_t)w);
            out[at++] =
                (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word_of(a->of[i], w), 0, (uint8_t)(ENTRY - 2 * (w + 1)));
        }
        out[at++] = yes;
    }
    out[at++] = no;
    return at;
}

int ofi_admit_program(const struct ofi_admit *a, struct sock_filter out[ADMIT_PROGRAM])
{
    enum { HEAD = 6 };
    int at = HEAD;
    at += four_program(a, out + at);
    int six = at;
    at += six_program(a, out + at);
    out[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)SKF_NET_OFF);
    out[1] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4); /* the version */
    out[2] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, HEAD - 3, 0);
    out[3] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 6, 0, 1);
    out[4] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)(six - 5));
    out[5] = no;
    return at;
}

/* ---- the socket -------------------------------------------------------------------------------------------------------------- */
int ofi_admit_attach(struct ofi_admit *a, int fd)
{
    struct sock_filter code[ADMIT_PROGRAM];
    int err;
    do {
        struct sock_fprog program = {.len = (unsigned short)ofi_admit_program(a, code), .filter = code};
        err = setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 ? 0 : errno;
    } while (err == ENOMEM && ofi_admit_widen(a));
    if (err) (void)setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &(int){0}, sizeof(int));
    return err;
}
