/* network.c -- see network.h: this machine's networks as they would be used, for tools.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>

#include "net/net_private.h"
#include "base/plain.h"
#include "base/settings.h"

static void ifaces_print(FILE *to, const struct iface_list *f)
{
    char text[256];
    fprintf(to, "interfaces\n");
    for (int i = 0; i < f->n; i++) {
        const struct iface_verdict *v = &f->verdicts[i];
        iface_text(&f->all[v->iface], text, sizeof text);
        gw_print(to, "  %s%s%s\n", v->is_refused ? "refused: " : "", v->is_refused ? v->why : text,
                 i == 0 && !v->is_refused ? ": the first choice" : "");
    }
    if (f->n == 0) fprintf(to, "  none that can be seen\n");
}

static void nics_print(FILE *to, const struct fabric_infos *m)
{
    int offers[NIC_MOST], n = fabric_infos_nics(m, offers);
    struct nic_device d;
    gw_print(to, "NICs (policy %s%s)\n", nic_policy_names[gw_set.nic_policy], n == 1 ? ", of no effect with one" : "");
    for (int i = 0; i < n; i++) {
        nic_locate("", &m->offers[offers[i]], &d);
        gw_print(to, "  index=%d, domain_name=%s, numa_node=%d, address=[%s]\n", i, d.name, d.numa, d.address);
    }
}

static int version_print(FILE *to)
{
    int rc = fabric_lib_open(true);
    if (rc == GW_OK)
        fprintf(to, "libfabric %u.%u\n", FI_MAJOR(fabric_lib.version()), FI_MINOR(fabric_lib.version()));
    else
        gw_print(to, "libfabric: %s\n", gw_fail_text());
    return rc;
}

/* ---- which wire: as the rows of `nets` in peer.c have it ---- */
enum choice { BY_NOTHING, BY_TCP, BY_LIBFABRIC };

/* Which wire would be used, and why. */
static enum choice wire_choose(char *why_out, size_t cap)
{
    const char *against = network_wants_libfabric();
    bool has_tcp = gw_set_lists(gw_set.wires, "tcp"), has_ofi = gw_set_lists(gw_set.wires, "ofi");
    *why_out = 0;
    if (!has_tcp && !has_ofi) return BY_NOTHING;
    if (has_tcp && !(against && has_ofi)) {
        if (has_ofi) snprintf(why_out, cap, "no card and no setting asks for libfabric");
        if (!has_ofi) snprintf(why_out, cap, "GODWIT_WIRES=%s does not list ofi", gw_set.wires);
        return BY_TCP;
    }
    if (has_tcp) snprintf(why_out, cap, "because of %s", against);
    if (!has_tcp) snprintf(why_out, cap, "GODWIT_WIRES=%s does not list tcp", gw_set.wires);
    return BY_LIBFABRIC;
}

/* Writes the address that TCP would use. */
static int tcp_text(char *out, size_t cap)
{
    struct iface_list f;
    char at[INET6_ADDRSTRLEN] = "";
    iface_list_read(&f);
    const struct iface_address *a = f.n_usable > 0 ? iface_best_address(&f.all[f.verdicts[0].iface]) : NULL;
    bool is_fit = a && !iface_is_link_local(a);
    if (is_fit) inet_ntop(a->family, a->bytes, at, sizeof at);
    if (is_fit) snprintf(out, cap, "TCP on %s, %s", f.all[f.verdicts[0].iface].name, at);
    if (!is_fit) snprintf(out, cap, "TCP: no network interface is fit for other hosts (godwit-info --network)");
    iface_list_free(&f);
    return is_fit ? GW_OK : GW_EUNSUPPORTED;
}

/* Prints the wire.  An error only if libfabric is needed and not usable. */
static int wire_print(FILE *to)
{
    char why[256], text[256];
    enum choice by = wire_choose(why, sizeof why);
    int rc = by == BY_TCP ? tcp_text(text, sizeof text) : GW_EUNSUPPORTED;
    if (by == BY_TCP) gw_print(to, "between nodes: %s (%s)\n", text, why);
    if (by == BY_LIBFABRIC) gw_print(to, "between nodes: libfabric (%s)\n", why);
    if (by == BY_NOTHING) gw_print(to, "between nodes: nothing, GODWIT_WIRES=%s lists neither tcp nor ofi\n", gw_set.wires);
    return rc;
}

static int libfabric_print(FILE *to, network_more_fn more)
{
    struct fabric_infos m;
    char text[4096];
    int rc = version_print(to);
    if (rc == GW_OK && (rc = fabric_infos_open(&m, true)) != GW_OK) gw_print(to, "%s\n", gw_fail_text());
    if (rc != GW_OK) return rc;
    ifaces_print(to, &m.ifaces);
    fprintf(to, "providers\n");
    offer_list_text(m.offers, m.verdicts, m.n, text, sizeof text);
    for (char *line = text, *save; (line = strtok_r(line, "\n", &save)); line = NULL) gw_print(to, "  %s\n", line);
    if (*m.told) gw_print(to, "  %s\n", m.told);
    if (m.n_usable > 0) {
        nics_print(to, &m);
        more(to, &m.offers[m.verdicts[0].offer]);
    } else {
        offer_none_text(m.offers, m.verdicts, m.n, &m.wish, text, sizeof text);
        gw_print(to, "%s\n", text);
        rc = GW_EUNSUPPORTED;
    }
    fabric_infos_close(&m);
    return rc;
}

int network_print(FILE *to, network_more_fn more)
{
    char why[256];
    int rc = wire_print(to), by_libfabric = libfabric_print(to, more);
    return wire_choose(why, sizeof why) == BY_TCP ? rc : by_libfabric;
}

int network_line(char *out, size_t cap)
{
    struct fabric_infos m;
    char why[256];
    enum choice by = wire_choose(why, sizeof why);
    if (by == BY_TCP) return tcp_text(out, cap);
    if (by == BY_NOTHING) {
        snprintf(out, cap, "GODWIT_WIRES=%s lists neither tcp nor ofi", gw_set.wires);
        return GW_EUNSUPPORTED;
    }
    int rc = fabric_lib_open(true);
    if (rc == GW_OK) rc = fabric_infos_open(&m, true);
    if (rc != GW_OK) {
        snprintf(out, cap, "%s", gw_fail_text());
        return rc;
    }
    if (m.n_usable > 0) {
        const struct net_offer *o = &m.offers[m.verdicts[0].offer];
        int offers[NIC_MOST], n = fabric_infos_nics(&m, offers);
        snprintf(out, cap, "libfabric %u.%u, %s on %s%s%s", FI_MAJOR(fabric_lib.version()), FI_MINOR(fabric_lib.version()),
                 o->provider, o->domain, *o->address ? ", " : "", o->address);
        if (n > 1) snprintf(out + strlen(out), cap - strlen(out), ", %d NICs", n);
    } else {
        offer_none_text(m.offers, m.verdicts, m.n, &m.wish, out, cap);
        rc = GW_EUNSUPPORTED;
    }
    fabric_infos_close(&m);
    return rc;
}
