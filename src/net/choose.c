/* choose.c -- choice of libfabric's provider, of its address, and of this rank's network card.
 *
 * libfabric is queried several times, for all capabilities that are useful and for fewer, since it omits providers that lack one
 * of them.  All answers are ranked together (offer.h).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/plain.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/boot.h"
#include "boot/world.h"
#include "net/net_private.h"
#include "net/tclass.h"

struct nic_node fabric_nics;
static int own_nic; /* index in fabric_nics.nics of this rank's card */
bool fabric_is_hardware;

struct fi_info *fabric_hints(uint64_t caps)
{
    struct fi_info *h = fabric_lib.dupinfo(NULL);
    if (!h) return NULL;
    h->ep_attr->type = FI_EP_RDM;
    h->caps = caps;
    h->mode = FI_CONTEXT | FI_CONTEXT2;
    h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    h->domain_attr->threading = FI_THREAD_DOMAIN; /* each lane has one domain, under the lane's lock */
    h->domain_attr->control_progress = h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
    return h;
}

/* ---- libfabric's offers ------------------------------------------------------------------------- */
static int list_get(uint64_t caps, struct fi_info **list_out)
{
    struct fi_info *hints = fabric_hints(caps);
    *list_out = NULL;
    if (!hints) return gw_fail(GW_ENOMEM, "no memory to ask libfabric for its providers");
    int rc = fabric_lib.getinfo(FABRIC_API, NULL, NULL, 0, hints, list_out);
    fabric_lib.freeinfo(hints);
    if (rc == 0 || rc == -FI_ENODATA) return GW_OK;
    return gw_fail(GW_EUNSUPPORTED, "libfabric cannot say which networks there are: %s", fabric_lib.strerror(-rc));
}

/* Is `by` the same way as `i`, with at least its capabilities? */
static bool is_covered(const struct fi_info *by, const struct fi_info *i)
{
    return !(i->caps & ~by->caps) && i->mode == by->mode && i->addr_format == by->addr_format &&
        i->ep_attr->protocol == by->ep_attr->protocol && i->ep_attr->max_msg_size == by->ep_attr->max_msg_size &&
        i->domain_attr->mr_mode == by->domain_attr->mr_mode && strcmp(i->fabric_attr->prov_name, by->fabric_attr->prov_name) == 0 &&
        strcmp(i->domain_attr->name, by->domain_attr->name) == 0 && i->src_addrlen == by->src_addrlen &&
        (!i->src_addrlen || memcmp(i->src_addr, by->src_addr, i->src_addrlen) == 0);
}

/* Appends to `all` what is new in `more`, and frees the rest.  The five answers are nearly equal, and keeping them all would make
 * the heap grow by a quarter of a megabyte for good. */
static void list_add(struct fi_info **all, struct fi_info *more)
{
    struct fi_info *fresh = NULL, **end = &fresh, *next;
    for (struct fi_info *i = more; i; i = next) {
        const struct fi_info *k = *all;
        next = i->next;
        i->next = NULL;
        while (k && !is_covered(k, i)) k = k->next;
        if (k) {
            fabric_lib.freeinfo(i);
        } else {
            *end = i;
            end = &i->next;
        }
    }
    while (*all) all = &(*all)->next;
    *all = fresh;
}

/* Those who are asked for more come first, as what lacks something is left out where the whole is there. */
static int lists_get(const struct offer_needs *needs, struct fi_info **all_out)
{
    static const uint64_t wishes[] = {FI_MSG | FI_TAGGED | FI_RMA | FI_MULTI_RECV, FI_MSG | FI_RMA | FI_MULTI_RECV, FI_MSG | FI_RMA,
                                      FI_MSG | FI_MULTI_RECV, FI_MSG};
    const struct {
        const char *by;
        uint64_t caps;
    } more_wishes[] = {
        {needs->full_tags, FI_MSG | FI_TAGGED | FI_RMA | FI_MULTI_RECV | FI_DIRECTED_RECV},
        {needs->full_tags, FI_MSG | FI_TAGGED | FI_DIRECTED_RECV},
        {needs->atomics, FI_MSG | FI_TAGGED | FI_RMA | FI_MULTI_RECV | FI_ATOMIC},
        {needs->atomics, FI_MSG | FI_RMA | FI_ATOMIC},
        {needs->matching, FI_MSG | FI_TAGGED},
    };
    const size_t n_more = GW_ARRAY_LEN(more_wishes);
    for (size_t i = 0; i < n_more + GW_ARRAY_LEN(wishes); i++) {
        struct fi_info *more;
        if (i < n_more && !more_wishes[i].by) continue;
        int rc = list_get(i < n_more ? more_wishes[i].caps : wishes[i - n_more], &more);
        if (rc != GW_OK) return rc;
        list_add(all_out, more);
    }
    return GW_OK;
}

static void origin_of(const char *setting, char *out, size_t cap, bool with_value)
{
    struct gw_setting_info info;
    const char *origin;
    char value[256];
    for (int i = 0; i < gw_settings_count(); i++) {
        gw_settings_get(i, &info, value, sizeof value, &origin);
        if (strcmp(info.name, setting) == 0) snprintf(out, cap, with_value ? "%s=%s" : "%s", origin ? origin : info.env, value);
    }
}

/* What the settings ask a provider for, with the words that asked. */
static void needs_read(struct fabric_infos *m)
{
    bool matches = gw_set.match_mode != GW_SET_MATCH_MODE_SOFTWARE && !gw_checking;
    const struct need {
        bool is_asked;
        const char *setting;
        const char **by;
    } rows[] = {
        {matches, "match_mode", &m->wish.needs.matching},
        {matches && gw_set.ofi_tag_mode == GW_SET_OFI_TAG_MODE_OFI_TAG_FULL, "ofi_tag_mode", &m->wish.needs.full_tags},
        {gw_set.net_rendezvous == GW_SET_NET_RENDEZVOUS_ENABLED, "net_rendezvous", &m->wish.needs.memory},
        gw_set.rma_network_atomics ? (struct need){true, "rma_network_atomics", &m->wish.needs.atomics}
                                   : (struct need){network_counts_barriers(), "coll", &m->wish.needs.atomics},
    };
    _Static_assert(GW_ARRAY_LEN(rows) == GW_ARRAY_LEN(m->needs), "a text each");
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        origin_of(rows[i].setting, m->needs[i].by, sizeof m->needs[i].by, true);
        *rows[i].by = rows[i].is_asked ? m->needs[i].by : NULL;
    }
}

/* Ranks the offers, with what settings need and without. */
static void infos_rank(struct fabric_infos *m)
{
    struct offer_wish plain = m->wish;
    plain.needs = (struct offer_needs){0};
    m->first = offer_rank(m->offers, m->n, &plain, m->verdicts) > 0 ? m->verdicts[0].offer : -1;
    m->n_usable = offer_rank(m->offers, m->n, &m->wish, m->verdicts);
    bool may_match_itself = gw_set.match_mode == GW_SET_MATCH_MODE_HYBRID;
    if (m->n_usable == 0 && m->first >= 0)
        m->n_usable = offer_rank_lowered(m->offers, m->n, &m->wish, may_match_itself, m->verdicts, m->told, sizeof m->told);
    if (m->n_usable == 0 || m->first < 0) return;
    const char *first = m->offers[m->first].provider, *taken = m->offers[m->verdicts[0].offer].provider;
    for (int i = m->n_usable; i < m->n; i++)
        if (m->verdicts[i].offer == m->first && m->verdicts[i].is_by_need && strcmp(first, taken) != 0)
            gw_text_add(m->told, sizeof m->told, "%sprovider %s is passed over, which %s; %s is taken", *m->told ? "; " : "", first,
                        m->verdicts[i].why, taken);
}

int fabric_infos_open(struct fabric_infos *m, bool is_far)
{
    *m = (struct fabric_infos){.wish = offer_wish_default};
    m->wish.is_far = is_far;
    needs_read(m);
    m->wish.include = gw_set.ofi_provider;
    m->wish.exclude = gw_set.ofi_provider_exclude;
    m->wish.include_from = m->from;
    origin_of("ofi_provider", m->from, sizeof m->from, false);
    int rc = lists_get(&m->wish.needs, &m->list);
    if (rc != GW_OK) {
        fabric_infos_close(m);
        return rc;
    }
    for (const struct fi_info *i = m->list; i; i = i->next) m->n++;
    m->offers = gw_xcalloc((size_t)m->n + 1, sizeof *m->offers);
    m->verdicts = gw_xcalloc((size_t)m->n + 1, sizeof *m->verdicts);
    int k = 0;
    for (const struct fi_info *i = m->list; i; i = i->next) offer_of_info(i, &m->offers[k++]);
    iface_list_read(&m->ifaces);
    offer_match_ifaces(m->offers, m->list, m->n, &m->ifaces, is_far);
    assert(k == m->n);
    infos_rank(m);
    return GW_OK;
}

void fabric_infos_close(struct fabric_infos *m)
{
    if (m->list) fabric_lib.freeinfo(m->list);
    free(m->offers);
    free(m->verdicts);
    iface_list_free(&m->ifaces);
    *m = (struct fabric_infos){0};
}

static struct fi_info *infos_at(const struct fabric_infos *m, int offer)
{
    struct fi_info *i = m->list;
    assert(offer >= 0 && offer < m->n);
    while (offer-- > 0) i = i->next;
    return i;
}

/* ---- cards -------------------------------------------------------------------------------------- */
static bool is_same_card(const struct net_offer *a, const struct net_offer *b)
{
    if (strcmp(a->domain, b->domain) == 0) return true;
    return a->has_bus && b->has_bus && a->pci_domain == b->pci_domain && a->pci_bus == b->pci_bus &&
        a->pci_device == b->pci_device && a->pci_function == b->pci_function;
}

/* May an offer be used beside the best one?  Interfaces without a card mostly belong to different networks: only if the user asks
 * for several (nic_count). */
static bool is_like(const struct net_offer *best, const struct net_offer *o)
{
    bool is_asked = gw_set.nic_count && *gw_set.nic_count;
    return (offer_is_hardware(best) || is_asked) && strcmp(o->provider, best->provider) == 0 && o->caps == best->caps &&
        o->addr_format == best->addr_format && o->bits_per_s == best->bits_per_s;
}

int fabric_infos_nics(const struct fabric_infos *m, int offers_out[NIC_MOST])
{
    const struct net_offer *best = &m->offers[m->verdicts[0].offer];
    int n = 0;
    assert(m->n_usable > 0 && m->n_usable <= m->n);
    offers_out[n++] = m->verdicts[0].offer;
    for (int i = 1; i < m->n_usable && n < NIC_MOST; i++) {
        const struct net_offer *o = &m->offers[m->verdicts[i].offer];
        bool is_known = !is_like(best, o);
        for (int k = 0; k < n; k++) is_known |= is_same_card(&m->offers[offers_out[k]], o);
        if (is_known) continue;
        int at = n++;
        for (; at > 0 && strverscmp(o->domain, m->offers[offers_out[at - 1]].domain) < 0; at--) offers_out[at] = offers_out[at - 1];
        offers_out[at] = m->verdicts[i].offer;
    }
    return n;
}

static void nics_tell(const int *nic_of, const char *note)
{
    char text[4096];
    bool is_first = gw_boot.local_rank == 0;
    if (*note && is_first) gw_warn("%s", note);
    for (int i = 0; gw_set.nic_verbose >= 1 && is_first && i < fabric_nics.n_nics; i++) {
        nic_text(gw_boot.host, gw_boot.rank, &fabric_nics.nics[i], i, fabric_nics.n_nics, text, sizeof text);
        gw_print(stderr, "%s\n", text);
    }
    if (gw_set.nic_verbose >= 1 && is_first) {
        nic_ranks_text(gw_boot.host, gw_boot.rank, &fabric_nics, nic_of, gw_boot.local_to_world, text, sizeof text);
        gw_print(stderr, "%s\n", text);
    }
    if (gw_set.nic_verbose >= 2) {
        nic_rank_text(gw_boot.host, gw_boot.rank, &fabric_nics.nics[own_nic], own_nic, text, sizeof text);
        gw_print(stderr, "%s\n", text);
    }
    if (!is_first || !(gw_log_mask & GW_LOG_WIRE)) return;
    nic_load_text(&fabric_nics, nic_of, text, sizeof text);
    GW_EXPLAIN(GW_LOG_WIRE, "%s", text);
}

/* Picks this rank's card among those of the chosen provider. */
static int nic_pick(const struct fabric_infos *m, int *offer_out)
{
    int offers[NIC_MOST], list[NIC_MOST], n = 0, rc = nic_select(gw_set.nic_count, fabric_infos_nics(m, offers), list, &n);
    if (rc != GW_OK) return rc;
    assert(!fabric_nics.ranks); /* they are there while cards are assigned */
    char note[256];
    size_t ranks = (size_t)gw_boot.nlocal;
    struct nic_place *places = gw_xcalloc(ranks, sizeof *places);
    int *nic_of = gw_xcalloc(ranks, sizeof *nic_of);
    fabric_nics = (struct nic_node){.n_nics = n, .n_ranks = gw_boot.nlocal, .ranks = places};
    fabric_is_hardware = offer_is_hardware(&m->offers[offers[0]]);
    for (int i = 0; i < n; i++) nic_locate("", &m->offers[offers[list[i]]], &fabric_nics.nics[i]);
    for (size_t r = 0; r < ranks; r++) places[r] = (struct nic_place){NIC_UNKNOWN, NIC_UNKNOWN};
    if (n > 1 && (gw_set.nic_policy == NIC_NUMA || gw_set.nic_policy == NIC_GPU)) {
        nic_distances("", &fabric_nics);
        nic_gpus("", &fabric_nics);
        nic_places(&fabric_nics, places);
    }
    rc = nic_assign(&fabric_nics, n > 1 || gw_set.nic_policy == NIC_USER ? (enum nic_policy)gw_set.nic_policy : NIC_BLOCK,
                    gw_set.nic_mapping, nic_of, note, sizeof note);
    if (rc == GW_OK) {
        own_nic = nic_of[gw_boot.local_rank];
        assert(own_nic >= 0 && own_nic < n);
        *offer_out = offers[list[own_nic]];
        nics_tell(nic_of, note);
    }
    fabric_nics.ranks = NULL;
    free(places);
    free(nic_of);
    return rc;
}

/* ---- a second query of the chosen provider ------------------------------------------------------ */
/* The chosen provider's answer to these hints, which are freed; NULL: it has none. */
static struct fi_info *again_with(struct fi_info *hints)
{
    struct fi_info *got = NULL;
    int rc = fabric_lib.getinfo(FABRIC_API, NULL, NULL, 0, hints, &got);
    fabric_lib.freeinfo(hints);
    struct fi_info *first = rc == 0 && got ? fabric_lib.dupinfo(got) : NULL;
    if (got) fabric_lib.freeinfo(got);
    return first;
}

/* The same of what is chosen, with more capabilities.  Of order it need not promise more than all are asked for (fabric_hints): with atomic
 * operations tcp;ofi_rxm does not. */
static struct fi_info *again_with_caps(struct fi_info *hints, uint64_t caps)
{
    hints->caps |= caps;
    hints->tx_attr->caps = hints->rx_attr->caps = 0;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    return again_with(hints);
}

static void replace(struct fi_info **chosen, struct fi_info *by)
{
    fabric_lib.freeinfo(*chosen);
    *chosen = by;
}

/* Asks the provider for tagged messages, with the source of a message outside the tag if it can report that. */
static int tagged_take(struct fi_info **chosen)
{
    static const uint64_t wishes[] = {FI_TAGGED | FI_DIRECTED_RECV, FI_TAGGED};
    const char *name = (*chosen)->fabric_attr->prov_name;
    if (gw_set.match_mode == GW_SET_MATCH_MODE_SOFTWARE || gw_checking) return GW_OK;
    for (size_t i = 0; i < GW_ARRAY_LEN(wishes) && !offer_stops_at_unexpected((*chosen)->ep_attr->protocol); i++) {
        struct fi_info *hints = fabric_lib.dupinfo(*chosen), *got;
        if (!hints) return gw_fail(GW_ENOMEM, "no memory to ask libfabric for matching");
        if (!(got = again_with_caps(hints, wishes[i]))) continue;
        replace(chosen, got);
        return GW_OK;
    }
    if (gw_set.match_mode == GW_SET_MATCH_MODE_HARDWARE)
        return gw_fail(GW_EUNSUPPORTED,
                       "%s=hardware: provider %s does not match messages (FI_TAGGED); take software or hybrid, "
                       "or another provider with %s",
                       gw_setting_said("GODWIT_MATCH_MODE"), name, gw_setting_said("GODWIT_OFI_PROVIDER"));
    GW_EXPLAIN(GW_LOG_WIRE,
               "provider %s does not match messages, or stops a connection at one that nobody waits for: software matches", name);
    return GW_OK;
}

/* ---- atomic operations -------------------------------------------------------------------------- */
/* A card, and no layer of libfabric above it, which would do atomic operations by messages and the processors at both ends. */
static bool counts_by_itself(const struct fi_info *i)
{
    return i->domain_attr->mr_mode & (FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT) &&
        !strchr(i->fabric_attr->prov_name, ';');
}

/* Asks the provider for operations at the target, and goes on without: where a setting wants them, and of a card, for barriers. */
static void atomics_take(struct fi_info **chosen)
{
    bool is_wanted = gw_set.rma_network_atomics || network_counts_barriers() || counts_by_itself(*chosen);
    struct fi_info *hints = is_wanted ? fabric_lib.dupinfo(*chosen) : NULL;
    if (!hints) return;
    struct fi_info *got = again_with_caps(hints, FI_ATOMIC);
    if (got)
        replace(chosen, got);
    else
        GW_EXPLAIN(GW_LOG_WIRE, "provider %s does no atomic operations: the ranks do accumulates, and barriers by messages",
                   (*chosen)->fabric_attr->prov_name);
}

/* ---- traffic class ------------------------------------------------------------------------------ */
/* Queries the chosen provider again, with the traffic class that the user wants. */
static int tclass_take(struct fi_info **chosen)
{
    uint32_t want;
    enum tclass_errors errors = (enum tclass_errors)gw_set.ofi_tclass_errors;
    if (errors == TCLASS_WARN && gw_boot.rank > 0) errors = TCLASS_SILENT; /* the class is the job's: its first rank reports it */
    int rc = net_tclass_parse(gw_set.ofi_tclass, errors, &want);
    if (rc != GW_OK || want == FI_TC_UNSPEC) return rc;
    struct fi_info *hints = fabric_lib.dupinfo(*chosen);
    if (!hints) return gw_fail(GW_ENOMEM, "no memory to ask libfabric for a traffic class");
    hints->tx_attr->tclass = hints->domain_attr->tclass = want;
    struct fi_info *with = again_with(hints);
    if (with && (with->tx_attr->tclass == want || with->domain_attr->tclass == want)) {
        replace(chosen, with);
        return GW_OK;
    }
    if (with) fabric_lib.freeinfo(with);
    /* Without a choice of classes all traffic is best effort, so that wish is met. */
    return want == FI_TC_BEST_EFFORT ? GW_OK : net_tclass_refused(want, (*chosen)->fabric_attr->prov_name, errors);
}

/* ---- the choice --------------------------------------------------------------------------------- */
static void infos_explain(const struct fabric_infos *m)
{
    char text[4096];
    if (!(gw_log_mask & GW_LOG_WIRE) || gw_boot.local_rank > 0) return;
    offer_list_text(m->offers, m->verdicts, m->n, text, sizeof text);
    for (char *line = text, *save; (line = strtok_r(line, "\n", &save)); line = NULL) GW_EXPLAIN(GW_LOG_WIRE, "%s", line);
}

/* Is an interface up but without carrier?  The link may be down for a moment only. */
static bool may_come_back(const struct fabric_infos *m)
{
    bool any = false;
    for (int i = 0; i < m->ifaces.n; i++) {
        const struct iface *f = &m->ifaces.all[i];
        any = any || (f->is_up && !f->has_carrier && !f->is_loopback);
    }
    return any;
}

bool fabric_has_other_jobs;
bool fabric_is_far(void) { return fabric_has_other_jobs || (gw_boot.nnodes > 1 && !boot_is_on_one_host()); }

/* True if the interface was down when libfabric was asked for all capabilities, and up when it was asked for fewer: over IP all
 * providers can match messages, but here none of these offers can.  The other ranks have chosen an offer that matches, and all
 * must choose the same. */
static bool is_cut_short(const struct fabric_infos *m)
{
    if (m->first < 0) return false;
    const struct net_offer *best = &m->offers[m->first];
    bool is_by_ip = best->addr_format == FI_SOCKADDR_IN || best->addr_format == FI_SOCKADDR_IN6;
    return is_by_ip && !offer_is_hardware(best) && !(best->caps & FI_TAGGED);
}

/* Repeats the queries for a while if a link is down, so that a link that flaps neither ends the job nor
 * makes its ranks choose differently. */
static int infos_open_patiently(struct fabric_infos *m)
{
    static const uint64_t patience_ns = 3000000000, cut_ns = 1000000000;
    bool is_far = fabric_is_far();
    uint64_t since = gw_now_ns();
    int rc = fabric_infos_open(m, is_far);
    while (rc == GW_OK && is_far &&
           ((m->n_usable == 0 && may_come_back(m) && gw_now_ns() - since < patience_ns) ||
            (is_cut_short(m) && gw_now_ns() - since < cut_ns))) {
        usleep(50000);
        fabric_infos_close(m);
        rc = fabric_infos_open(m, is_far);
    }
    return rc;
}

int fabric_choose(struct fi_info **chosen_out)
{
    struct fabric_infos m;
    char text[1024];
    int offer, rc = infos_open_patiently(&m);
    if (rc != GW_OK) return rc;
    infos_explain(&m);
    if (*m.told && gw_boot.rank == 0) gw_warn("%s", m.told);
    if (m.n_usable == 0) {
        offer_none_text(m.offers, m.verdicts, m.n, &m.wish, text, sizeof text);
        rc = gw_fail(GW_EUNSUPPORTED, "%s", text);
    }
    if (rc == GW_OK) rc = nic_pick(&m, &offer);
    if (rc == GW_OK && !(*chosen_out = fabric_lib.dupinfo(infos_at(&m, offer))))
        rc = gw_fail(GW_ENOMEM, "no memory for the description of a network");
    fabric_infos_close(&m);
    if (rc == GW_OK) rc = tagged_take(chosen_out);
    if (rc == GW_OK) atomics_take(chosen_out);
    if (rc == GW_OK && gw_boot.rank == 0) network_unused_by_provider((*chosen_out)->fabric_attr->prov_name);
    return rc == GW_OK ? tclass_take(chosen_out) : rc;
}
