/* ofi_ondemand.c -- see ofi_ondemand.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_ondemand.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/time.h"
#include "base/settings.h"
#include "boot/port.h"
#include "wire_ofi/ofi_private.h"

enum { UNASKED_MS = 500, COME_MS = 1000, EVERY_MS = 50, KEY_DIGITS = 16, AT_ONCE = 64 };

static const char magic[8] = {'g', 'w', 'k', 'n', 'o', 'c', 'k', '3'};
_Static_assert(sizeof(struct ofi_ondemand_request) == 32 + ONDEMAND_FROM * ADMIT_IP, "no holes");
_Static_assert(offsetof(struct ofi_ondemand_reply, text) == ONDEMAND_REPLY_HEAD, "no holes");
_Static_assert(1 + BOOT_ADDRESS_TEXT + 1 + KEY_DIGITS < ONDEMAND_AT, "there is room for a name");

static struct {
    int s, stop; /* the socket; an eventfd */
    pthread_t thread;
    bool is_on;
    uint64_t key; /* of this rank; only the ranks of the job get it, from the launcher */
    int n_lanes;
    ofi_ondemand_open_fn open;
    ofi_ondemand_come_fn come;
    _Atomic bool is_resting;
} door = {.s = -1, .stop = -1};

/* The addresses of this host's usable interfaces, from which connections of this process may come. */
static struct {
    struct gw_lock lock;
    bool is_known;
    int n;
    uint8_t from[ONDEMAND_FROM][ADMIT_IP];
} own;

/* False: the kernel has no random numbers (a number that can be guessed must not be used instead). */
static bool random_get(uint64_t *out)
{
    ssize_t n;
    do n = getrandom(out, sizeof *out, 0);
    while (n < 0 && errno == EINTR);
    return n == sizeof *out;
}

/* ---- where connections come from --------------------------------------------------------------------------------------------- */
/* Can another host see this address as a source? */
static bool is_fit(const uint8_t ip[ADMIT_IP])
{
    struct in6_addr six;
    memcpy(&six, ip, sizeof six);
    if (ofi_admit_is_ipv4(ip)) return ip[12] != 0 && ip[12] != IN_LOOPBACKNET && ip[12] < 224;
    return !IN6_IS_ADDR_UNSPECIFIED(&six) && !IN6_IS_ADDR_LOOPBACK(&six) && !IN6_IS_ADDR_MULTICAST(&six);
}

int ofi_ondemand_from_ifaces(const struct iface *all, const struct iface_verdict *verdicts, int n,
                             uint8_t out[ONDEMAND_FROM][ADMIT_IP])
{
    static const uint8_t four_head[ADMIT_IP - 4] = {[10] = 0xff, [11] = 0xff};
    int n_out = 0;
    for (int v = 0; v < n; v++) {
        const struct iface *i = &all[verdicts[v].iface];
        for (int k = 0; k < i->n_addresses && n_out < ONDEMAND_FROM; k++) {
            const struct iface_address *a = &i->addresses[k];
            uint8_t ip[ADMIT_IP];
            memcpy(ip, a->family == AF_INET6 ? a->bytes : four_head, a->family == AF_INET6 ? ADMIT_IP : sizeof four_head);
            if (a->family == AF_INET) memcpy(ip + sizeof four_head, a->bytes, 4);
            if (!iface_is_link_local(a) && is_fit(ip)) memcpy(out[n_out++], ip, ADMIT_IP);
        }
    }
    return n_out;
}

/* Notes this host's addresses.  If no interface is usable, all are noted: then all ranks are on this host. */
static void own_note(const struct iface_list *f)
{
    gw_lock(&own.lock);
    own.n = ofi_ondemand_from_ifaces(f->all, f->verdicts, f->n_usable > 0 ? f->n_usable : f->n, own.from);
    own.is_known = true;
    gw_unlock(&own.lock);
}

static void own_read(void)
{
    struct iface_list f;
    iface_list_read(&f);
    own_note(&f);
    iface_list_free(&f);
}

static void own_find(void)
{
    gw_lock(&own.lock);
    bool is_known = own.is_known;
    gw_unlock(&own.lock);
    if (!is_known) own_read();
}

/* ---- messages ---------------------------------------------------------------------------------------------------------------- */
void ofi_ondemand_request_make(struct ofi_ondemand_request *q, uint64_t key, uint64_t nonce, int lane,
                               const uint8_t (*from)[ADMIT_IP], int n)
{
    *q = (struct ofi_ondemand_request){.key = key, .nonce = nonce, .lane = lane};
    memcpy(q->magic, magic, sizeof magic);
    for (int i = 0; i < n && q->n_from < ONDEMAND_FROM; i++)
        if (is_fit(from[i])) memcpy(q->from[q->n_from++], from[i], ADMIT_IP);
}

bool ofi_ondemand_request_read(const void *bytes, size_t n, uint64_t key, struct ofi_ondemand_request *out)
{
    static const uint8_t none[ADMIT_IP];
    struct ofi_ondemand_request q;
    if (n != sizeof q) return false;
    memcpy(&q, bytes, sizeof q);
    /* Keys are compared in constant time, so that the time of an answer does not show how much of a guess was right. */
    if ((q.key ^ key) != 0 || memcmp(q.magic, magic, sizeof magic) != 0 || q.n_from < 0 || q.n_from > ONDEMAND_FROM) return false;
    for (int i = 0; i < ONDEMAND_FROM; i++)
        if (i < q.n_from ? !is_fit(q.from[i]) : memcmp(q.from[i], none, sizeof none) != 0) return false;
    *out = q;
    return true;
}

bool ofi_ondemand_reply_read(const void *bytes, size_t n, uint64_t nonce, int lane, struct ofi_ondemand_reply *out)
{
    if (n <= ONDEMAND_REPLY_HEAD || n > sizeof *out) return false;
    size_t text = n - ONDEMAND_REPLY_HEAD - 1;
    const struct ofi_ondemand_reply *r = bytes;
    const char *at = (const char *)bytes + ONDEMAND_REPLY_HEAD;
    if ((r->nonce ^ nonce) != 0 || memcmp(r->magic, magic, sizeof magic) != 0 || r->lane != lane) return false;
    if (r->rc != GW_OK && (r->rc <= GW_EFIRST_ || r->rc >= GW_ELAST_)) return false;
    if (text == 0 || strnlen(at, text + 1) != text) return false;
    for (size_t i = 0; i < text; i++)
        if ((unsigned char)at[i] < ' ' || at[i] == 0x7f) return false; /* it is printed in messages */
    memcpy(out, bytes, n);
    return true;
}

/* ---- addresses --------------------------------------------------------------------------------------------------------------- */
static socklen_t bytes_of(const struct sockaddr_storage *a)
{
    return a->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/* "@192.0.2.2:40000#0123456789abcdef" */
static void name_text(const struct sockaddr_storage *a, uint64_t key, char to[ONDEMAND_AT])
{
    char text[BOOT_ADDRESS_TEXT];
    boot_address_text(a, text);
    snprintf(to, ONDEMAND_AT, "@%s#%016llx", text, (unsigned long long)key);
}

bool ofi_ondemand_is_name(const char *at) { return at[0] == '@'; }

/* Accepts exactly what name_text() writes. */
bool ofi_ondemand_name_read(const char *at, struct sockaddr_storage *out, uint64_t *key_out)
{
    char text[BOOT_ADDRESS_TEXT], again[ONDEMAND_AT];
    const char *digits = strchr(at, '#');
    struct sockaddr_storage address;
    unsigned long long key;
    if (!ofi_ondemand_is_name(at) || !digits || digits - at > BOOT_ADDRESS_TEXT) return false;
    snprintf(text, sizeof text, "%.*s", (int)(digits - at - 1), at + 1);
    if (!boot_address_parse(text, &address) || sscanf(digits, "#%16llx", &key) != 1) return false;
    name_text(&address, key, again);
    if (strcmp(again, at) != 0) return false;
    *out = address;
    *key_out = key;
    return true;
}

/* ---- the side that answers --------------------------------------------------------------------------------------------------- */
static void reply_send(const struct ofi_ondemand_request *q, const struct sockaddr *to, socklen_t bytes)
{
    struct ofi_ondemand_reply r = {.nonce = q->nonce, .lane = q->lane};
    struct ofi_ondemand_client asker = {0};
    asker.n = ofi_admit_address_of(to, asker.from[0]);
    for (int i = 0; i < q->n_from; i++) memcpy(asker.from[asker.n++], q->from[i], ADMIT_IP);
    memcpy(r.magic, magic, sizeof magic);
    gw_fail_clear();
    if (q->lane >= 0 && q->lane < door.n_lanes)
        r.rc = door.open(q->lane, &asker, r.text);
    else
        r.rc = gw_fail(GW_EARG, "there is no lane %d here, only %d: %s is not the same on all ranks", (int)q->lane, door.n_lanes,
                       gw_setting_said("GODWIT_LANES"));
    if (r.rc != GW_OK) snprintf(r.text, sizeof r.text, "%s", gw_fail_text());
    for (char *c = r.text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = ' ';
    (void)!sendto(door.s, &r, ONDEMAND_REPLY_HEAD + strlen(r.text) + 1, 0, to, bytes); /* the peer will ask again */
}

/* Reads and answers one request.  A request without our key is not answered, so that nobody can make this process send to a third
 * host, or send more than it received. */
static bool answer(void)
{
    struct ofi_ondemand_request q;
    bool any = false;
    char got[sizeof q + 1]; /* one byte more, to notice requests that are too long */
    for (int i = 0; i < AT_ONCE; i++) {
        struct sockaddr_storage from;
        socklen_t bytes = sizeof from;
        ssize_t n = recvfrom(door.s, got, sizeof got, MSG_DONTWAIT, (struct sockaddr *)&from, &bytes);
        if (n < 0) break;
        if (!ofi_ondemand_request_read(got, (size_t)n, door.key, &q)) continue;
        reply_send(&q, (struct sockaddr *)&from, bytes);
        any = true;
    }
    return any;
}

/* Milliseconds until due_ns, at least 0; -1: never (due_ns is 0). */
static int ms_until(uint64_t due_ns, uint64_t now_ns)
{
    return !due_ns ? -1 : due_ns > now_ns ? (int)((due_ns - now_ns) / 1000000) + 1 : 0;
}

static void *listen_on(void *unused)
{
    (void)unused;
    char value[ONDEMAND_VALUE];
    /* open_ns: when to open lane 0 if no peer asks.  come_ns: when the peers that asked will have connected.  0: never. */
    uint64_t open_ns = gw_now_ns() + (uint64_t)UNASKED_MS * 1000000, come_ns = 0, now;
    struct pollfd of[] = {{.fd = door.s, .events = POLLIN}, {.fd = door.stop, .events = POLLIN}};
    for (;;) {
        now = gw_now_ns();
        int to_open = ms_until(open_ns, now), to_come = ms_until(come_ns, now);
        int n = poll(of, GW_ARRAY_LEN(of), to_open < 0 || (to_come >= 0 && to_come < to_open) ? to_come : to_open);
        if (of[1].revents) return NULL;
        if (n > 0 && of[0].revents && answer() && !come_ns) come_ns = gw_now_ns() + (uint64_t)COME_MS * 1000000;
        now = gw_now_ns();
        if (open_ns && now >= open_ns) {
            if (!atomic_load_explicit(&door.is_resting, memory_order_relaxed)) door.open(0, NULL, value);
            open_ns = 0;
        }
        if (come_ns && now >= come_ns) {
            door.come();
            come_ns = 0;
        }
    }
}

bool ofi_ondemand_begin(bool is_far, int n_lanes, ofi_ondemand_open_fn open, ofi_ondemand_come_fn come, char at_out[ONDEMAND_AT],
                        struct sockaddr_storage *address_out)
{
    struct sockaddr *at = (struct sockaddr *)address_out;
    if (!random_get(&door.key) || !network_address(is_far, address_out)) return false;
    if (is_far) own_read();
    socklen_t bytes = bytes_of(address_out);
    door.s = socket(at->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    door.stop = eventfd(0, EFD_CLOEXEC);
    door.n_lanes = n_lanes;
    door.open = open;
    door.come = come;
    door.is_on = door.s >= 0 && door.stop >= 0 && bind(door.s, at, bytes) == 0 && getsockname(door.s, at, &bytes) == 0 &&
        gw_thread_start(&door.thread, listen_on, NULL) == GW_OK;
    name_text(address_out, door.key, at_out);
    if (door.is_on) return true;
    if (door.s >= 0) close(door.s);
    if (door.stop >= 0) close(door.stop);
    door.s = door.stop = -1;
    return false;
}

bool ofi_ondemand_is_on(void) { return door.is_on; }

void ofi_ondemand_rest(bool is_resting) { atomic_store_explicit(&door.is_resting, is_resting, memory_order_relaxed); }

void ofi_ondemand_end(void)
{
    if (!door.is_on) return;
    door.is_on = false;
    (void)!write(door.stop, &(uint64_t){1}, sizeof(uint64_t));
    pthread_join(door.thread, NULL);
    close(door.s);
    close(door.stop);
    door.s = door.stop = -1;
}

/* ---- the side that asks ------------------------------------------------------------------------------------------------------ */
static void ask(struct ofi_ondemand_call *c)
{
    struct ofi_ondemand_request q;
    gw_lock(&own.lock);
    ofi_ondemand_request_make(&q, c->key, c->nonce, c->lane, own.from, own.n);
    gw_unlock(&own.lock);
    c->asked_ns = gw_now_ns();
    (void)!send(c->s, &q, sizeof q, MSG_DONTWAIT);
}

/* Connects a socket to the peer's; 0 or errno. */
static int way_open(struct ofi_ondemand_call *c)
{
    c->s = socket(c->to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int err = c->s >= 0 && connect(c->s, (struct sockaddr *)&c->to, bytes_of(&c->to)) == 0 ? 0 : errno;
    if (err) ofi_ondemand_cancel(c);
    return err;
}

int ofi_ondemand_call(struct ofi_ondemand_call *c, int rank, const char *at, int lane)
{
    static const uint64_t patience_ns = 2000000000;
    *c = (struct ofi_ondemand_call){.s = -1, .rank = rank, .lane = lane, .begun_ns = gw_now_ns()};
    if (!ofi_ondemand_name_read(at, &c->to, &c->key))
        return gw_fail(GW_EOTHER, "rank %d does not say where it can be asked for its address: \"%.*s\"", rank,
                       (int)strcspn(at, "#"), at);
    if (!random_get(&c->nonce))
        return gw_fail(GW_EOTHER, "the kernel has no random number for a question to rank %d: %s", rank, strerror(errno));
    own_find();
    boot_address_text(&c->to, c->at);
    int err;
    while ((err = way_open(c)) != 0 && gw_now_ns() - c->begun_ns < patience_ns)
        usleep(EVERY_MS * 1000); /* the link may just be down for a moment */
    if (err)
        return gw_fail(GW_EOTHER, "asking for the address of rank %d (%s, on %s of %s) failed: %s", rank, c->at, network_iface(),
                       gw_boot.host, strerror(err));
    ask(c);
    return GW_OK;
}

int ofi_ondemand_answer(struct ofi_ondemand_call *c, char value_out[ONDEMAND_VALUE])
{
    struct ofi_ondemand_reply r;
    char got[sizeof r + 1] GW_ALIGNED(8);
    struct pollfd of = {.fd = c->s, .events = POLLIN};
    poll(&of, 1, EVERY_MS);
    ssize_t n = recv(c->s, got, sizeof got, MSG_DONTWAIT); /* from the peer that was asked: the socket is connected */
    if (n > 0 && ofi_ondemand_reply_read(got, (size_t)n, c->nonce, c->lane, &r)) {
        snprintf(value_out, ONDEMAND_VALUE, "%s", r.text);
        return r.rc == GW_OK ? GW_OK : gw_fail(r.rc, "rank %d: %.900s", c->rank, r.text);
    }
    if (gw_now_ns() - c->asked_ns >= (uint64_t)EVERY_MS * 1000000) ask(c);
    return GW_AGAIN;
}

void ofi_ondemand_cancel(struct ofi_ondemand_call *c)
{
    if (c->s >= 0) close(c->s);
    c->s = -1;
}
