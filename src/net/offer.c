/* offer.c -- see offer.h: refuses offers, ranks the others, and writes the texts about both.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/offer.h"
#include "base/settings.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <strings.h>

const struct offer_wish offer_wish_default = {
    .is_far = true,
    .caps = FI_MSG,
    .order = FI_ORDER_SAS,
    .modes = FI_CONTEXT | FI_CONTEXT2,
    .mr_modes = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_MMU_NOTIFY | FI_MR_BASIC |
        FI_MR_SCALABLE,
    .msg_bytes = 4096,
};

/* ---- the user's lists --------------------------------------------------------------------------- */
static bool word_is(const char *word, size_t n, const char *text, size_t m) { return n == m && strncasecmp(word, text, n) == 0; }

/* Is `word` the provider's whole name, or one of its parts separated by `;`? */
static bool word_names(const char *word, size_t n, const char *provider)
{
    if (word_is(word, n, provider, strlen(provider))) return true;
    for (const char *p = provider; *p;) {
        size_t m = strcspn(p, ";");
        if (word_is(word, n, p, m)) return true;
        p += m + (p[m] == ';');
    }
    return false;
}

/* Does a word of the list, of those with or of those without ^, name the provider?  *any_out: there are such words. */
static bool list_names(const char *list, bool is_not, const char *provider, bool *any_out)
{
    *any_out = false;
    for (const char *p = list ? list : ""; *p;) {
        p += strspn(p, ", ");
        bool not_this = *p == '^';
        p += not_this;
        size_t n = strcspn(p, ", ");
        if (n && not_this == is_not) {
            *any_out = true;
            if (word_names(p, n, provider)) return true;
        }
        p += n;
    }
    return false;
}

bool offer_list_has(const char *list, const char *provider)
{
    bool any;
    return list_names(list, false, provider, &any);
}

/* ---- refusals ----------------------------------------------------------------------------------- */
bool offer_is_hardware(const struct net_offer *o)
{
    switch (o->addr_format) {
    case FI_FORMAT_UNSPEC:
    case FI_SOCKADDR:
    case FI_SOCKADDR_IN:
    case FI_SOCKADDR_IN6:
    case FI_ADDR_STR: return o->has_bus;
    default: return true; /* an address format that only NICs have */
    }
}

bool offer_stops_at_unexpected(uint32_t protocol)
{
    return protocol == FI_PROTO_XNET; /* net of 1.17, tcp of 2.1: these buffer up to 64 small messages per connection */
}

bool offer_loses_data(uint32_t protocol)
{
    return protocol == FI_PROTO_RXD; /* fi_tsendmsg(FI_INJECT | FI_REMOTE_CQ_DATA) sends 0 */
}

bool offer_fails_at_memory(uint32_t protocol)
{
    return protocol == FI_PROTO_RXD /* udp;ofi_rxd crashes while it serves it */
        || protocol == FI_PROTO_SOCK_TCP /* sockets forgets some of many accesses that are under way */;
}

/* Memory that the processes of one node share (shm, sm2): no network, even between nodes that are faked on one host. */
static bool is_shared_memory(const struct net_offer *o)
{
    return o->protocol == FI_PROTO_SHM || (o->addr_format == FI_ADDR_STR && o->protocol != FI_PROTO_UNSPEC && !o->has_bus);
}

static bool is_node_only(const struct net_offer *o)
{
    return o->is_loopback || is_shared_memory(o) || ((o->caps & FI_LOCAL_COMM) && !(o->caps & FI_REMOTE_COMM));
}

static bool has_rma(const struct net_offer *o, const struct offer_wish *w)
{
    return (o->caps & FI_RMA) && !offer_fails_at_memory(o->protocol) && o->mr_key_size <= sizeof(uint64_t) &&
        !(o->mr_mode & ~w->mr_modes);
}

static const char *cap_lacking(uint64_t caps)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } names[] = {
        {FI_MSG, "FI_MSG"},
        {FI_TAGGED, "FI_TAGGED"},
        {FI_RMA, "FI_RMA"},
        {FI_ATOMIC, "FI_ATOMIC"},
        {FI_DIRECTED_RECV, "FI_DIRECTED_RECV"},
        {FI_MULTI_RECV, "FI_MULTI_RECV"},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(names); i++)
        if (caps & names[i].bit) return names[i].name;
    return "a capability";
}

static const char *mode_wanted(uint64_t modes)
{
    return modes & FI_MSG_PREFIX ? "FI_MSG_PREFIX"
        : modes & FI_ASYNC_IOV   ? "FI_ASYNC_IOV"
        : modes & FI_RX_CQ_DATA  ? "FI_RX_CQ_DATA"
                                 : "a mode";
}

static bool refuse(struct offer_verdict *v, const char *fmt, ...) GW_PRINTF(2, 3);
static bool refuse(struct offer_verdict *v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(v->why, sizeof v->why, fmt, ap);
    va_end(ap);
    return v->is_refused = true;
}

static bool refuse_by_list(const struct net_offer *o, const struct offer_wish *w, struct offer_verdict *v)
{
    bool any;
    const char *from = w->include_from ? w->include_from : "the include list";
    if (offer_list_has(w->exclude, o->provider))
        return refuse(v, "excluded by %s=%s", gw_setting_said("GODWIT_OFI_PROVIDER_EXCLUDE"), w->exclude);
    if (list_names(w->include, true, o->provider, &any)) return refuse(v, "excluded by %s=%s", from, w->include);
    bool is_in = list_names(w->include, false, o->provider, &any);
    return any && !is_in && refuse(v, "not in %s=%s", from, w->include);
}

static bool refuse_by_nature(const struct net_offer *o, const struct offer_wish *w, struct offer_verdict *v)
{
    if (o->ep_type != FI_EP_RDM) return refuse(v, "has no reliable datagrams (FI_EP_RDM)");
    if (w->caps & ~o->caps) return refuse(v, "lacks %s", cap_lacking(w->caps & ~o->caps));
    if (w->order & ~o->msg_order) return refuse(v, "does not keep messages in order (FI_ORDER_SAS)");
    if (o->mode & ~w->modes) return refuse(v, "asks for %s, which Godwit does not serve", mode_wanted(o->mode & ~w->modes));
    if (o->max_msg_size < w->msg_bytes)
        return refuse(v, "messages of at most %zu B, %zu are needed", o->max_msg_size, w->msg_bytes);
    if (is_shared_memory(o) || (w->is_far && is_node_only(o))) return refuse(v, "reaches only this node");
    if (w->is_far && o->is_link_local) return refuse(v, "has only a link-local address on %s", o->domain);
    if (o->is_link_down) return refuse(v, "the link of %s is down", o->domain);
    if (*o->iface_why) return refuse(v, "%s", o->iface_why);
    return false;
}

/* Does the offer lack what a setting asks for? */
static bool refuse_by_need(const struct net_offer *o, const struct offer_wish *w, struct offer_verdict *v)
{
    enum { SOURCE_BYTES = 4 };
    const struct offer_needs *need = &w->needs;
    const struct {
        const char *by;
        bool is_lacking;
        const char *what;
    } rows[] = {
        {need->matching, !(o->caps & FI_TAGGED), "matches no messages (FI_TAGGED)"},
        {need->matching, offer_stops_at_unexpected(o->protocol), "stops a connection at a message that nobody waits for"},
        {need->full_tags, !(o->caps & FI_DIRECTED_RECV), "does not tell sources apart (FI_DIRECTED_RECV)"},
        {need->full_tags, offer_loses_data(o->protocol), "loses what is beside the tag (FI_REMOTE_CQ_DATA)"},
        {need->full_tags, o->cq_data_size < SOURCE_BYTES, "has no room beside the tag (FI_REMOTE_CQ_DATA of 4 bytes)"},
        {need->memory, !has_rma(o, w), "has no one-sided access (FI_RMA) that is sound"},
        {need->atomics, !(o->caps & FI_ATOMIC), "has no atomic operations (FI_ATOMIC)"},
        {need->atomics, !has_rma(o, w), "has no one-sided access (FI_RMA) that is sound"},
        {need->atomics, o->protocol == FI_PROTO_XNET, "offers atomic operations (FI_ATOMIC) and refuses each"},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        if (!rows[i].by || !rows[i].is_lacking) continue;
        v->is_by_need = true;
        return refuse(v, "%s: not for %s", rows[i].what, rows[i].by);
    }
    return false;
}

/* ---- ranking ------------------------------------------------------------------------------------ */
/* Software layers between this library and the network: fewer are better. */
static int layers(const struct net_offer *o)
{
    switch (o->protocol) {
    case FI_PROTO_RXM:
    case FI_PROTO_RXM_TCP:
    case FI_PROTO_MRAIL: return 1;    /* messages over connections of another provider */
    case FI_PROTO_RXD: return 2;      /* software retransmits lost packets */
    case FI_PROTO_SOCK_TCP: return 3; /* a separate thread handles each message */
    default: return 0;
    }
}

/* > 0: `a` is better.  *why_out: the criterion that decided, as text. */
static int compare(const struct net_offer *a, const struct net_offer *b, const struct offer_wish *w, const char **why_out)
{
    const struct {
        int64_t a, b;
        const char *why;
    } rows[] = {
        {offer_is_hardware(a), offer_is_hardware(b), "a network card of its own"},
        {has_rma(a, w), has_rma(b, w), "one-sided copies"},
        {!is_node_only(a), !is_node_only(b), "reaching other nodes"},
        {!!(a->caps & FI_MULTI_RECV), !!(b->caps & FI_MULTI_RECV), "one buffer for many messages"},
        {-a->iface_order, -b->iface_order, "the better interface"},
        {-layers(a), -layers(b), "fewer layers"},
        {(int64_t)(a->bits_per_s / 1000), (int64_t)(b->bits_per_s / 1000), "the faster link"},
        {a->addr_format != FI_SOCKADDR_IN6, b->addr_format != FI_SOCKADDR_IN6, "IPv4 rather than IPv6"},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        *why_out = rows[i].why;
        if (rows[i].a != rows[i].b) return rows[i].a > rows[i].b ? 1 : -1;
    }
    *why_out = "libfabric's order";
    return 0;
}

static bool is_same_provider(const struct net_offer *offers, const struct offer_verdict *a, const struct offer_verdict *b)
{
    return strcmp(offers[a->offer].provider, offers[b->offer].provider) == 0;
}

/* Do two offers differ only in the capabilities that were asked for? */
static bool is_same_way(const struct net_offer *a, const struct net_offer *b)
{
    return strcmp(a->provider, b->provider) == 0 && strcmp(a->domain, b->domain) == 0 && strcmp(a->address, b->address) == 0;
}

int offer_rank(const struct net_offer *offers, int n, const struct offer_wish *wish, struct offer_verdict *verdicts_out)
{
    int usable = 0, refused = n;
    const char *why;
    assert(n >= 0);
    for (int i = n - 1; i >= 0; i--) { /* refused offers, from the last to the first */
        struct offer_verdict v = {.offer = i};
        if (refuse_by_list(&offers[i], wish, &v) || refuse_by_nature(&offers[i], wish, &v) || refuse_by_need(&offers[i], wish, &v))
            verdicts_out[--refused] = v;
    }
    for (int i = 0, r = refused; i < n; i++) {
        if (r < n && verdicts_out[r].offer == i) {
            r++;
            continue;
        }
        assert(usable < refused); /* no refused one is overwritten */
        int at = usable++;
        for (; at > 0 && compare(&offers[i], &offers[verdicts_out[at - 1].offer], wish, &why) > 0; at--)
            verdicts_out[at] = verdicts_out[at - 1];
        verdicts_out[at] = (struct offer_verdict){.offer = i};
    }
    assert(usable == refused);
    for (int i = 0; i + 1 < usable; i++) {
        int k = i + 1; /* the next provider, or else the next offer of the same */
        while (k + 1 < usable && is_same_provider(offers, &verdicts_out[i], &verdicts_out[k])) k++;
        if (is_same_provider(offers, &verdicts_out[i], &verdicts_out[k])) k = i + 1;
        if (is_same_way(&offers[verdicts_out[i].offer], &offers[verdicts_out[k].offer])) continue;
        compare(&offers[verdicts_out[i].offer], &offers[verdicts_out[k].offer], wish, &why);
        snprintf(verdicts_out[i].why, sizeof verdicts_out[i].why, "%s", why);
    }
    return usable;
}

/* ---- needs that are given up -------------------------------------------------------------------- */
enum { ATOMICS = 1, MEMORY = 2, MATCHING = 4, ALL = ATOMICS | MEMORY | MATCHING };
static const char **need_at(struct offer_needs *needs, int which)
{
    return which == ATOMICS ? &needs->atomics : which == MEMORY ? &needs->memory : &needs->matching;
}

static void tell_given_up(const struct net_offer *offers, int n, const struct offer_wish *wish, int which,
                          struct offer_verdict *verdicts, char *told, size_t cap)
{
    const char *then = which == ATOMICS ? "the ranks do what the network would have done at the target"
        : which == MEMORY               ? "long messages and windows go by messages"
                                        : "Godwit matches messages itself";
    struct offer_wish alone = *wish;
    const char *by = *need_at(&alone.needs, which);
    alone.needs = (struct offer_needs){0};
    *need_at(&alone.needs, which) = by;
    bool has_it = offer_rank(offers, n, &alone, verdicts) > 0;
    gw_text_add(told, cap, "%s%s: no provider of libfabric that may be used has that%s: %s", *told ? "; " : "", by,
                has_it ? " with what else is needed" : "", then);
}

int offer_rank_lowered(const struct net_offer *offers, int n, struct offer_wish *wish, bool may_match_itself,
                       struct offer_verdict *verdicts_out, char *told, size_t cap)
{
    static const int sets[] = {ATOMICS, MEMORY, MATCHING, ATOMICS | MEMORY, ATOMICS | MATCHING, MEMORY | MATCHING, ALL};
    const struct offer_wish asked = *wish;
    struct offer_wish lower = asked;
    int may = 0, given_up = 0;
    for (int k = ATOMICS; k <= MATCHING; k *= 2)
        if (*need_at(&lower.needs, k) && (k != MATCHING || (may_match_itself && !asked.needs.full_tags))) may |= k;
    for (size_t i = 0; i < GW_ARRAY_LEN(sets) && !given_up; i++) {
        if (sets[i] & ~may) continue;
        lower = asked;
        for (int k = ATOMICS; k <= MATCHING; k *= 2)
            if (sets[i] & k) *need_at(&lower.needs, k) = NULL;
        if (offer_rank(offers, n, &lower, verdicts_out) > 0 || sets[i] == may) given_up = sets[i];
    }
    if (given_up) *wish = lower;
    for (int k = ATOMICS; k <= MATCHING; k *= 2)
        if (given_up & k) tell_given_up(offers, n, &asked, k, verdicts_out, told, cap);
    return offer_rank(offers, n, wish, verdicts_out);
}

/* ---- texts -------------------------------------------------------------------------------------- */
/* Describes an offer: "tcp;ofi_rxm on eth0, 192.0.2.2:0 (software, FI_MSG FI_RMA, inject 64 B, ...)". */
static void offer_text(const struct net_offer *o, char *out, size_t cap)
{
    *out = 0;
    gw_text_add(out, cap, "%s on %s", o->provider, o->domain);
    if (*o->address) gw_text_add(out, cap, ", %s", o->address);
    gw_text_add(out, cap, " (%s%s%s%s, inject %zu B", offer_is_hardware(o) ? "hardware" : "software",
                o->caps & FI_RMA ? ", RMA" : "", o->caps & FI_TAGGED ? ", tagged" : "", o->caps & FI_ATOMIC ? ", atomics" : "",
                o->inject_size);
    if (o->bits_per_s) gw_text_add(out, cap, ", %.4g Gbit/s", (double)o->bits_per_s * 1e-9);
    gw_text_add(out, cap, ")");
}

/* Was the offer refused because of its interface?  Then all providers on it are. */
static bool is_by_iface(const struct net_offer *offers, const struct offer_verdict *v)
{
    return v->is_refused && strcmp(v->why, offers[v->offer].iface_why) == 0;
}

static bool is_usable_before(const struct net_offer *offers, const struct offer_verdict *v, int i)
{
    for (int k = 0; k < i && !v[k].is_refused; k++)
        if (is_same_provider(offers, &v[k], &v[i])) return true;
    return false;
}

/* Is refusal i left out?  Yes if its reason was printed before, or if the provider is usable elsewhere. */
static bool is_told(const struct net_offer *offers, const struct offer_verdict *v, int i)
{
    if (is_usable_before(offers, v, i)) return true;
    for (int k = 0; k < i; k++)
        if (v[k].is_refused && strcmp(v[k].why, v[i].why) == 0 && !is_usable_before(offers, v, k)) return true;
    return false;
}

/* Appends "net, sockets: reaches only this node", with all providers that are refused for the reason of v[i]. */
static void refusal_add(const struct net_offer *offers, const struct offer_verdict *v, int n, int i, char *out, size_t cap)
{
    for (int k = i; k < n && !is_by_iface(offers, &v[i]); k++) {
        bool is_named = strcmp(v[k].why, v[i].why) != 0 || is_usable_before(offers, v, k);
        for (int e = i; e < k && !is_named; e++)
            is_named = is_same_provider(offers, &v[e], &v[k]) && strcmp(v[e].why, v[k].why) == 0;
        if (!is_named) gw_text_add(out, cap, "%s%s", k == i ? "" : ", ", offers[v[k].offer].provider);
    }
    gw_text_add(out, cap, "%s%s", is_by_iface(offers, &v[i]) ? "" : ": ", v[i].why);
}

void offer_list_text(const struct net_offer *offers, const struct offer_verdict *verdicts, int n, char *out, size_t cap)
{
    char line[512];
    *out = 0;
    for (int i = 0; i < n; i++) {
        if (is_told(offers, verdicts, i)) continue;
        if (verdicts[i].is_refused) {
            gw_text_add(out, cap, "refused %s", is_by_iface(offers, &verdicts[i]) ? "all on one interface: " : "");
            refusal_add(offers, verdicts, n, i, out, cap);
            gw_text_add(out, cap, "\n");
            continue;
        }
        offer_text(&offers[verdicts[i].offer], line, sizeof line);
        gw_text_add(out, cap, "%s %s%s%s\n", i ? "then  " : "chosen", line, *verdicts[i].why ? "; before the next by " : "",
                    verdicts[i].why);
    }
}

void offer_none_text(const struct net_offer *offers, const struct offer_verdict *verdicts, int n, const struct offer_wish *wish,
                     char *out, size_t cap)
{
    const char *from = wish->include_from ? wish->include_from : gw_setting_said("GODWIT_OFI_PROVIDER");
    bool any, by_list = false, by_iface = false, by_loopback = false, by_need = false, is_all_here = true;
    *out = 0;
    if (n == 0) {
        bool is_named = wish->include && *wish->include;
        gw_text_add(out, cap,
                    "libfabric offers no provider at all%s%s%s; install one (Debian: libfabric1 has tcp), %s, or ask `fi_info` "
                    "what it sees",
                    is_named ? " with " : "", is_named ? from : "", is_named ? " set" : "",
                    is_named ? "clear that variable" : "bring an interface up");
        return;
    }
    gw_text_add(out, cap, "no provider of libfabric can be used: ");
    for (int i = 0; i < n; i++) {
        const struct net_offer *o = &offers[verdicts[i].offer];
        bool is_listed = offer_list_has(wish->exclude, o->provider) || list_names(wish->include, true, o->provider, &any) ||
            (!list_names(wish->include, false, o->provider, &any) && any);
        by_list |= is_listed;
        by_iface |= !is_listed && (*o->iface_why || o->is_link_down);
        by_loopback |= !is_listed && o->is_loopback;
        by_need |= verdicts[i].is_by_need;
        is_all_here &= is_listed || is_node_only(o);
    }
    by_iface |= by_loopback && is_all_here;
    int told = 0;
    for (int i = 0; i < 2 * n && (i < n || !told); i++) { /* a second pass prints all, if the first printed none */
        const struct net_offer *o = &offers[verdicts[i % n].offer];
        bool is_noise = i < n && by_iface && !verdicts[i % n].is_by_need && (o->is_loopback || o->is_link_local) &&
            !is_by_iface(offers, &verdicts[i]);
        if (is_noise || is_told(offers, verdicts, i % n)) continue;
        if (told++) gw_text_add(out, cap, "; ");
        refusal_add(offers, verdicts, n, i % n, out, cap);
    }
    if (by_need)
        gw_text_add(out, cap, ". Allow another provider, or change the setting that needs this one to do more");
    else if (by_list)
        gw_text_add(out, cap, ". Change %s%s",
                    wish->include && *wish->include ? from : gw_setting_said("GODWIT_OFI_PROVIDER_EXCLUDE"),
                    by_iface ? ", or the interface" : "");
    else if (by_iface)
        gw_text_add(out, cap, ". Bring another interface up, or name one in GODWIT_NET_IFACE");
    else
        gw_text_add(out, cap, ". Install a libfabric with tcp, or with the provider of your network card");
    gw_text_add(out, cap, "; `godwit-info --network` shows all of this");
}
