/* tcp_door.c -- the process's listening socket, and which connections are accepted.
 *
 * The gate (boot_gate.c) accepts connections and reads their secret, nothing else.  Of a connection with the right secret the rest of the hello
 * is read here; it names a lane, in whose inbox the connection then waits.  Any lane's progress does this, under the door's lock.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/count.h"
#include "base/lock.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/port.h"
#include "node/node.h"
#include "wire_tcp/tcp_private.h"

enum { NEW_MOST = 16, PATIENCE_S = 3, SECRET_DIGITS = 32, REPLY_DIGITS = 16 };

/* A connection with the right secret: munged reads its credential, then makes the answer's. */
struct asked {
    struct asked *next;
    int fd;
    bool is_read;
    struct tcp_hello_rest rest;
    struct tcp_ask *ask;
};

static struct {
    struct gw_lock lock;
    bool is_open, is_far;
    struct boot_gate gate;
    uint64_t n_told; /* refused connections that have been counted: gate.n_refused then */
    struct tcp_place place;
    char text[TCP_PLACE];
    int n_new; /* connections with the right secret whose hello is not complete */
    struct tcp_new {
        int fd;
        uint32_t got;
        uint64_t until_ns;
        struct tcp_new_said {
            struct tcp_hello_rest rest;
            char proof[TCP_MUNGE_TEXT]; /* with MUNGE */
        } said;
    } new[NEW_MOST];
    struct asked *asked;                /* connections about which munged is asked */
    struct wire *wires[GW_MAX_LANES];   /* by lane; NULL: it does not take connections */
    struct tcp_in *inbox[GW_MAX_LANES]; /* of each lane: connections that it has not taken yet, the newest first */
} door;

/* ---- addresses ---------------------------------------------------------------------------------------------------------------- */
void tcp_place_text(const struct tcp_place *p, char out[TCP_PLACE])
{
    char at[BOOT_ADDRESS_TEXT];
    boot_address_text(&p->at, at);
    int n = snprintf(out, TCP_PLACE, "@tcp:%s#%016" PRIx64 "%016" PRIx64 "%016" PRIx64, at, p->secret.word[0], p->secret.word[1],
                     p->reply);
    for (int i = 0; i < TCP_TLS_WORDS && p->has_tls; i++)
        n += snprintf(out + n, TCP_PLACE - (size_t)n, "%016" PRIx64, p->tls.word[i]);
    if (p->has_munge) n += snprintf(out + n, TCP_PLACE - (size_t)n, "+munge");
    assert(n < TCP_PLACE);
}

bool tcp_place_read(const char *text, struct tcp_place *out)
{
    char at[BOOT_ADDRESS_TEXT], again[TCP_PLACE];
    struct tcp_place p = {0};
    const char *digits = strchr(text, '#');
    if (strncmp(text, "@tcp:", 5) != 0 || !digits || digits - text - 5 >= BOOT_ADDRESS_TEXT) return false;
    snprintf(at, sizeof at, "%.*s", (int)(digits - text - 5), text + 5);
    if (!boot_address_parse(at, &p.at)) return false;
    int n = sscanf(digits, "#%16" SCNx64 "%16" SCNx64 "%16" SCNx64 "%16" SCNx64 "%16" SCNx64 "%16" SCNx64 "%16" SCNx64,
                   &p.secret.word[0], &p.secret.word[1], &p.reply, &p.tls.word[0], &p.tls.word[1], &p.tls.word[2], &p.tls.word[3]);
    p.has_tls = n == 3 + TCP_TLS_WORDS;
    if (n != 3 && !p.has_tls) return false;
    p.has_munge = strchr(digits, '+') != NULL;
    tcp_place_text(&p, again);
    if (strcmp(again, text) != 0) return false;
    *out = p;
    return true;
}

/* ---- open and close ------------------------------------------------------------------------------------------------------------- */
int tcp_door_open(bool is_far)
{
    struct tcp_place *p = &door.place;
    struct boot_secret more;
    if (door.is_open) return GW_OK;
    if (!network_address(is_far, &p->at))
        return gw_fail(GW_EUNSUPPORTED, "no network interface of %s is fit for other hosts (godwit-info --network)", gw_boot.host);
    int rc = boot_secret_make(&p->secret);
    if (rc == GW_OK) rc = boot_secret_make(&more);
    if (rc != GW_OK) return rc;
    p->reply = more.word[0];
    p->has_tls = gw_set.net_tls;
    p->has_munge = gw_set.net_auth == GW_SET_NET_AUTH_MUNGE;
    for (int i = 0; i < TCP_TLS_WORDS && p->has_tls; i += 2) {
        if ((rc = boot_secret_make(&more)) != GW_OK) return rc;
        memcpy(&p->tls.word[i], more.word, sizeof more.word);
    }
    if (boot_gate_open_far_only(&door.gate, &p->secret, &p->at) != 0) {
        char at[BOOT_ADDRESS_TEXT];
        boot_address_text(&p->at, at);
        return gw_fail(GW_EOTHER, "no socket for messages from other nodes at %s of %s: %s", at, gw_boot.host, strerror(errno));
    }
    tcp_place_text(p, door.text);
    door.is_open = true;
    door.is_far = is_far;
    return GW_OK;
}

bool tcp_door_is_open(void) { return door.is_open; }
bool tcp_door_is_far(void) { return door.is_far; }
const char *tcp_door_text(void) { return door.text; }
const struct tcp_place *tcp_door_place(void) { return &door.place; }

static int new_take(int i)
{
    int fd = door.new[i].fd;
    epoll_ctl(door.gate.fd, EPOLL_CTL_DEL, fd, NULL);
    door.n_new--;
    memmove(&door.new[i], &door.new[i + 1], sizeof door.new[0] * (size_t)(door.n_new - i));
    return fd;
}

void tcp_door_close(void)
{
    if (!door.is_open) return;
    while (door.n_new) close(new_take(door.n_new - 1));
    for (struct asked *a = door.asked, *next; a; a = next) {
        next = a->next;
        tcp_ask_drop(&a->ask);
        close(a->fd);
        free(a);
    }
    for (int i = 0; i < GW_MAX_LANES; i++)
        for (struct tcp_in *in = door.inbox[i], *next; in; in = next) {
            next = in->next;
            close(in->fd);
            free(in->answer);
            free(in);
        }
    boot_gate_close(&door.gate);
    memset(&door, 0, sizeof door);
}

/* There is a connection in the lane's inbox. */
static void ring(struct wire *w) { (void)!write(w->bell, &(uint64_t){1}, sizeof(uint64_t)); }

int tcp_door_watch(struct wire *w, bool is_on)
{
    gw_lock(&door.lock);
    door.wires[w->lane] = is_on ? w : NULL;
    int rc = is_on ? tcp_watch(w, door.gate.fd, EPOLLIN, &w->door_is) : GW_OK;
    if (is_on && door.inbox[w->lane]) ring(w); /* of a rank that has opened this lane earlier */
    gw_unlock(&door.lock);
    return rc;
}

/* ---- who comes ------------------------------------------------------------------------------------------------------------------ */
void tcp_drop(uint64_t n, const char *why)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    char at[BOOT_ADDRESS_TEXT];
    gw_counted(&gw_count.net_dropped, n);
    if (atomic_flag_test_and_set(&is_said)) return;
    boot_address_text(&door.place.at, at);
    gw_warn(
        "rank %d (host %s): something came over the network to %s that no rank of this job sent: %s. It is dropped, and so is "
        "what else comes like it (MPI_T counts it as net_dropped). Who else reaches this port? GODWIT_NET_IFACE names a network that only "
        "the job's hosts are on",
        gw_boot.rank, gw_boot.host, at, why);
}

/* answer: the lane frees it. */
static void admit(int fd, const struct tcp_hello_rest *rest, char *answer)
{
    struct wire *w = door.wires[rest->lane];
    struct tcp_in *in = gw_xcalloc(1, sizeof *in);
    *in = (struct tcp_in){
        .what = TCP_IS_IN, .fd = fd, .as = rest->as, .nonce = rest->nonce, .answer = answer, .next = door.inbox[rest->lane]};
    door.inbox[rest->lane] = in;
    if (w) ring(w);
}

static bool is_sound(const struct tcp_hello_rest *r)
{
    return r->magic == TCP_MAGIC && r->lane >= 0 && r->lane < GW_MAX_LANES && r->as >= 0 && r->as < node_numbers_max() && r->nonce;
}

static void asked_add(int fd, const struct tcp_new_said *said)
{
    struct asked *a = gw_xcalloc(1, sizeof *a);
    *a = (struct asked){
        .fd = fd, .rest = said->rest, .ask = tcp_ask_check(said->proof, sizeof(struct tcp_proof)), .next = door.asked};
    door.asked = a;
}

/* Is it this user's, and made for this connection?  False: the one who called is told why not; he has the job's key. */
static bool proof_take(struct asked *a, struct tcp_proof *out)
{
    char why[400];
    int reason = tcp_ask_take(&a->ask, out);
    bool is_meant = reason == 0 && out->way == TCP_PROOF_CALLS && boot_secret_equal(&out->secret, &door.place.secret) &&
        memcmp(&out->rest, &a->rest, sizeof out->rest) == 0;
    if (is_meant) return true;
    if (reason == 0) reason = TCP_MUNGE_OTHER;
    struct tcp_welcome no = {.reply = door.place.reply, .magic = TCP_MAGIC, .refused = (uint32_t)reason};
    (void)boot_port_write(a->fd, &no, sizeof no);
    snprintf(why, sizeof why, "a connection whose MUNGE credential is refused: %s", tcp_munge_why(reason, "here"));
    tcp_drop(1, why);
    return false;
}

/* True: it is here no more. */
static bool asked_step(struct asked *a)
{
    struct tcp_proof proof;
    if (!tcp_ask_is_done(a->ask)) return false;
    if (!a->is_read) {
        if (!proof_take(a, &proof)) {
            close(a->fd);
            return true;
        }
        proof.way = TCP_PROOF_ANSWERS;
        a->is_read = true;
        a->ask = tcp_ask_make(&proof, sizeof proof);
        return false; /* the bells ring again */
    }
    char *answer = gw_xmalloc(TCP_MUNGE_TEXT);
    int reason = tcp_ask_take(&a->ask, answer);
    if (reason) gw_die("rank %d cannot be answered: %s", (int)a->rest.as, tcp_munge_why(reason, "here"));
    tcp_tune(a->fd);
    admit(a->fd, &a->rest, answer);
    return true;
}

static GW_COLD void asked_look(void)
{
    for (struct asked **at = &door.asked, *a; (a = *at);) {
        if (asked_step(a)) {
            *at = a->next;
            free(a);
        } else {
            at = &a->next;
        }
    }
}

/* True: it is here no more. */
static bool new_step(int i, uint64_t now)
{
    struct tcp_new *c = &door.new[i];
    size_t all = door.place.has_munge ? sizeof c->said : sizeof c->said.rest;
    int64_t n = boot_port_read(c->fd, (char *)&c->said + c->got, all - c->got);
    if (n > 0) c->got += (uint32_t)n;
    bool is_whole = c->got == all, is_gone = n < 0 || (!is_whole && now >= c->until_ns);
    if (!is_whole && !is_gone) return false;
    struct tcp_new_said said = c->said;
    int fd = new_take(i);
    if (!is_whole || !is_sound(&said.rest)) {
        tcp_drop(1, "it does not say what it is");
        close(fd);
    } else if (door.place.has_munge) {
        asked_add(fd, &said);
    } else {
        tcp_tune(fd);
        admit(fd, &said.rest, NULL);
    }
    return true;
}

static void new_add(int fd, uint64_t now)
{
    struct epoll_event e = {.events = EPOLLIN};
    if (door.place.has_tls) {
        tcp_tune(fd);
        if ((fd = tcp_tls_wrap(fd, true, &door.place.tls)) < 0) return;
    }
    if (door.n_new == NEW_MOST) {
        tcp_drop(1, "it does not say what it is");
        close(new_take(0));
    }
    if (epoll_ctl(door.gate.fd, EPOLL_CTL_ADD, fd, &e) != 0) {
        close(fd);
        return;
    }
    door.new[door.n_new++] = (struct tcp_new){.fd = fd, .until_ns = now + (uint64_t)PATIENCE_S * 1000000000};
    new_step(door.n_new - 1,
             now); /* the rest of the hello comes with the secret: many ranks that call at once do not fill the table */
}

static void accept_failed(int err)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    const char *more = err == EMFILE ? "; with many ranks on other nodes each needs two descriptors" : "";
    if (door.gate.is_stuck)
        gw_die("the connections of other ranks cannot be accepted (accept4: %s)%s%s", strerror(err), gw_error_advice(err), more);
    if (err == EAGAIN || err == EBADF || atomic_flag_test_and_set(&is_said)) return;
    gw_warn("rank %d (host %s) cannot take a connection from the network now: %s%s%s", gw_boot.rank, gw_boot.host, strerror(err),
            gw_error_advice(err), more);
}

int tcp_door_look(struct wire *w)
{
    enum { AT_ONCE = 64 };
    struct tcp_in *mine, *next;
    int n = 0;
    gw_lock(&door.lock);
    uint64_t now = gw_now_ns();
    int fd = 0;
    for (int i = 0; i < AT_ONCE && (fd = boot_gate_accept(&door.gate)) >= 0; i++) new_add(fd, now);
    if (fd < 0) accept_failed(errno);
    for (int i = 0; i < door.n_new; i += !new_step(i, now)) {}
    if (unlikely(door.asked != NULL)) asked_look();
    if (unlikely(door.gate.n_refused != door.n_told)) {
        tcp_drop(door.gate.n_refused - door.n_told, "a connection that did not begin with the key of this job");
        door.n_told = door.gate.n_refused;
    }
    mine = door.inbox[w->lane];
    door.inbox[w->lane] = NULL;
    gw_unlock(&door.lock);
    for (; mine; mine = next, n++) {
        next = mine->next;
        tcp_in_begin(w, mine);
    }
    return n;
}
