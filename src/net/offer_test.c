/* offer_test.c -- the choice among offers of libfabric on clusters that are not here.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/offer.h"

#include <stdio.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "../../test/unit.h"

enum { MOST = 16 };
static struct net_offer offers[MOST];
static struct offer_verdict verdicts[MOST];
static int n;

static struct net_offer *offer(const char *provider, const char *domain, uint32_t protocol, uint32_t addr_format)
{
    struct net_offer *o = &offers[n++];
    *o = (struct net_offer){.caps = FI_MSG | FI_TAGGED | FI_RMA,
                            .msg_order = FI_ORDER_SAS,
                            .ep_type = FI_EP_RDM,
                            .protocol = protocol,
                            .addr_format = addr_format,
                            .inject_size = 64,
                            .max_msg_size = SIZE_MAX,
                            .mr_key_size = 8};
    snprintf(o->provider, sizeof o->provider, "%s", provider);
    snprintf(o->domain, sizeof o->domain, "%s", domain);
    return o;
}

/* What a machine with Ethernet alone answers (libfabric 1.17), in the library's order. */
static void ethernet(void)
{
    static const char *const at[] = {"eth0", "lo"};
    for (int i = 0; i < 2; i++) offer("tcp;ofi_rxm", at[i], FI_PROTO_RXM, FI_SOCKADDR_IN)->is_loopback = i;
    for (int i = 0; i < 2; i++) offer("net", at[i], FI_PROTO_XNET, FI_SOCKADDR_IN)->is_loopback = i;
    offer("udp;ofi_rxd", "eth0", FI_PROTO_RXD, FI_SOCKADDR_IN);
    offer("shm", "shm", FI_PROTO_SHM, FI_ADDR_STR);
    offer("sockets", "eth0", FI_PROTO_SOCK_TCP, FI_SOCKADDR_IN);
}

static struct net_offer *card(const char *provider, const char *domain, uint32_t protocol, uint32_t addr_format, double gbit)
{
    struct net_offer *o = offer(provider, domain, protocol, addr_format);
    o->has_bus = true;
    o->bits_per_s = (uint64_t)(gbit * 1e9);
    return o;
}

static const char *best(const struct offer_wish *w) /* "provider domain" */
{
    static char text[160];
    int usable = offer_rank(offers, n, w ? w : &offer_wish_default, verdicts);
    if (!usable) return "none";
    const struct net_offer *o = &offers[verdicts[0].offer];
    snprintf(text, sizeof text, "%s %s", o->provider, o->domain);
    return text;
}

static const char *order_of(int usable)
{
    static char text[256];
    *text = 0;
    for (int i = 0; i < usable; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s", i ? " " : "", offers[verdicts[i].offer].provider);
    }
    return text;
}

static const char *why_of(const char *provider)
{
    for (int i = 0; i < n; i++)
        if (strcmp(offers[verdicts[i].offer].provider, provider) == 0) return verdicts[i].why;
    return "not there";
}

static void software_is_ranked(void)
{
    n = 0;
    ethernet();
    int usable = offer_rank(offers, n, &offer_wish_default, verdicts);
    CHECK_STR(order_of(usable), "net tcp;ofi_rxm udp;ofi_rxd sockets");
    CHECK_STR(verdicts[0].why, "fewer layers");
    CHECK_STR(verdicts[usable - 1].why, "");
    CHECK_EQ(verdicts[usable].is_refused, true);
    CHECK_STR(why_of("shm"), "reaches only this node");
    /* every offer is judged once */
    unsigned seen = 0;
    for (int i = 0; i < n; i++) seen |= 1u << verdicts[i].offer;
    CHECK_EQ(seen, (1u << n) - 1);
    struct offer_wish matching = offer_wish_default;
    matching.needs.matching = "GODWIT_MATCH_MODE=hardware";
    usable = offer_rank(offers, n, &matching, verdicts);
    CHECK_STR(order_of(usable), "tcp;ofi_rxm udp;ofi_rxd sockets");
    CHECK(strstr(why_of("net"), "nobody waits for"));
    struct offer_wish near = offer_wish_default;
    near.is_far = false;
    usable = offer_rank(offers, n, &near, verdicts);
    CHECK_EQ(usable, n - 1); /* shared memory is no network, even between nodes that are faked on one host */
    CHECK_STR(why_of("shm"), "reaches only this node");
    CHECK_STR(offers[verdicts[0].offer].domain, "eth0"); /* though the node alone is asked for */
}

static const char *why_with(struct offer_needs needs, const char *provider)
{
    struct offer_wish w = offer_wish_default;
    w.needs = needs;
    offer_rank(offers, n, &w, verdicts);
    return why_of(provider);
}

/* What a setting needs and a provider lacks is a reason against it, and known to be one of that kind. */
static void needs_hold(void)
{
    struct offer_wish w = offer_wish_default;
    n = 0;
    offer("plain", "0", FI_PROTO_EFA, FI_ADDR_EFA)->caps = FI_MSG;
    offer("tagged", "0", FI_PROTO_EFA, FI_ADDR_EFA)->caps = FI_MSG | FI_TAGGED;
    offer("directed", "0", FI_PROTO_EFA, FI_ADDR_EFA)->caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV;
    offer("full", "0", FI_PROTO_EFA, FI_ADDR_EFA)->caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV | FI_RMA;
    offers[3].cq_data_size = 8;
    offer("amo", "0", FI_PROTO_EFA, FI_ADDR_EFA)->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    offer("udp;ofi_rxd", "eth0", FI_PROTO_RXD, FI_SOCKADDR_IN);
    offer("net", "eth0", FI_PROTO_XNET, FI_SOCKADDR_IN)->caps |= FI_ATOMIC;
    w.needs.matching = "A=1";
    CHECK_STR(best(&w), "full 0"); /* the first with all, and one-sided copies before none */
    CHECK_STR(why_of("plain"), "matches no messages (FI_TAGGED): not for A=1");
    CHECK_STR(why_of("amo"), "matches no messages (FI_TAGGED): not for A=1");
    CHECK_STR(why_of("net"), "stops a connection at a message that nobody waits for: not for A=1");
    for (int i = 0; i < n; i++) CHECK_EQ(verdicts[i].is_by_need, verdicts[i].is_refused);
    w.needs.full_tags = "B=1";
    CHECK_EQ(offer_rank(offers, n, &w, verdicts), 1);
    CHECK_STR(best(&w), "full 0");
    CHECK_STR(why_of("tagged"), "does not tell sources apart (FI_DIRECTED_RECV): not for B=1");
    CHECK_STR(why_of("directed"), "has no room beside the tag (FI_REMOTE_CQ_DATA of 4 bytes): not for B=1");
    offers[5].caps |= FI_DIRECTED_RECV;
    offers[5].cq_data_size = 8;
    CHECK_STR(why_with(w.needs, "udp;ofi_rxd"), "loses what is beside the tag (FI_REMOTE_CQ_DATA): not for B=1");
    CHECK_STR(why_with((struct offer_needs){.memory = "C=1"}, "udp;ofi_rxd"),
              "has no one-sided access (FI_RMA) that is sound: not for C=1");
    w.needs = (struct offer_needs){.atomics = "D=1"};
    CHECK_STR(best(&w), "amo 0");
    CHECK_STR(why_of("full"), "has no atomic operations (FI_ATOMIC): not for D=1");
    CHECK_STR(why_of("net"), "offers atomic operations (FI_ATOMIC) and refuses each: not for D=1");
    /* Other reasons stand before, and are not of that kind. */
    w.exclude = "net";
    CHECK_EQ(offer_rank(offers, n, &w, verdicts), 1);
    CHECK_STR(why_of("net"), "excluded by GODWIT_OFI_PROVIDER_EXCLUDE=net");
    for (int i = 0; i < n; i++)
        if (strcmp(offers[verdicts[i].offer].provider, "net") == 0) CHECK(!verdicts[i].is_by_need);
}

/* Nothing has all: as few needs as will do are given up, and those alone are told. */
static void needs_are_lowered(void)
{
    char told[512] = "";
    struct offer_wish w = offer_wish_default;
    const struct offer_needs all = {.matching = "A=1", .memory = "C=1", .atomics = "D=1"};
    n = 0;
    offer("amo", "0", FI_PROTO_EFA, FI_ADDR_EFA)->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    w.needs = all;
    CHECK_EQ(offer_rank_lowered(offers, n, &w, true, verdicts, told, sizeof told), 1);
    CHECK(!w.needs.matching && w.needs.memory && w.needs.atomics);
    CHECK_STR(told, "A=1: no provider of libfabric that may be used has that: Godwit matches messages itself");
    w.needs = all, *told = 0; /* who must match cannot do without, and the rest is given up in vain */
    CHECK_EQ(offer_rank_lowered(offers, n, &w, false, verdicts, told, sizeof told), 0);
    CHECK(w.needs.matching);
    CHECK_STR(why_of("amo"), "matches no messages (FI_TAGGED): not for A=1");
    w.needs = all, w.needs.full_tags = "B=1";
    CHECK_EQ(offer_rank_lowered(offers, n, &w, true, verdicts, told, sizeof told), 0);
    CHECK(w.needs.matching && w.needs.full_tags);
    /* each is there, but not both */
    offer("tagged", "0", FI_PROTO_EFA, FI_ADDR_EFA)->caps = FI_MSG | FI_TAGGED | FI_RMA;
    w.needs = all, *told = 0;
    CHECK_EQ(offer_rank_lowered(offers, n, &w, true, verdicts, told, sizeof told), 1);
    CHECK(w.needs.matching && w.needs.memory && !w.needs.atomics);
    CHECK_STR(offers[verdicts[0].offer].provider, "tagged");
    CHECK_STR(told,
              "D=1: no provider of libfabric that may be used has that with what else is needed: the ranks do what the network "
              "would have done at the target");
    n = 0; /* two of them, and not the third */
    offer("tagged", "0", FI_PROTO_EFA, FI_ADDR_EFA)->caps = FI_MSG | FI_TAGGED;
    w.needs = all, *told = 0;
    CHECK_EQ(offer_rank_lowered(offers, n, &w, true, verdicts, told, sizeof told), 1);
    CHECK(w.needs.matching && !w.needs.memory && !w.needs.atomics);
    CHECK(strstr(told, "D=1: ") && strstr(told, "; C=1: ") && !strstr(told, "A=1"));
}

/* Memory that the processes of a node share is no network, whatever it says of itself; of a libfabric newer than this one, too (sm2). */
static void shared_memory_is_no_network(void)
{
    for (int is_far = 0; is_far < 2; is_far++) {
        struct offer_wish w = offer_wish_default;
        w.is_far = is_far;
        n = 0;
        offer("shm", "shm", FI_PROTO_SHM, FI_ADDR_STR)->caps |= FI_LOCAL_COMM | FI_REMOTE_COMM;
        offer("sm2", "sm2", FI_PROTO_XNET + 4, FI_ADDR_STR)->caps |= FI_LOCAL_COMM | FI_REMOTE_COMM;
        CHECK_STR(best(&w), "none");
        offer("net", "eth0", FI_PROTO_XNET, FI_SOCKADDR_IN);
        w.include = "shm,sm2";
        CHECK_STR(best(&w), "none");
        CHECK_STR(why_of("shm"), "reaches only this node");
        CHECK_STR(why_of("sm2"), "reaches only this node");
        w.include = NULL;
        CHECK_STR(best(&w), "net eth0");
    }
}

/* Each kind of card stands before Ethernet, wherever libfabric lists it. */
static void cards_win(void)
{
    static const struct {
        const char *provider, *domain;
        uint32_t protocol, format;
        bool tells_bus;
    } kinds[] = {
        {"verbs;ofi_rxm", "mlx5_0-xrc", FI_PROTO_RXM, FI_SOCKADDR_IN, true},
        {"psm3", "irdma0", FI_PROTO_PSMX3, FI_ADDR_PSMX3, false},
        {"opx", "hfi1_0", FI_PROTO_OPX, FI_ADDR_OPX, false},
        {"efa", "rdmap0s6-rdm", FI_PROTO_EFA, FI_ADDR_EFA, true},
        {"cxi", "cxi0", FI_PROTO_CXI, FI_ADDR_CXI, true},
    };
    char want[160];
    for (size_t i = 0; i < GW_ARRAY_LEN(kinds); i++) {
        n = 0;
        ethernet();
        offer(kinds[i].provider, kinds[i].domain, kinds[i].protocol, kinds[i].format)->has_bus = kinds[i].tells_bus;
        snprintf(want, sizeof want, "%s %s", kinds[i].provider, kinds[i].domain);
        CHECK_STR(best(NULL), want);
        CHECK_STR(verdicts[0].why, "a network card of its own");
    }
    /* the name says nothing: what calls itself cxi, but answers like tcp, is software */
    n = 0;
    offer("cxi", "eth0", FI_PROTO_RXM, FI_SOCKADDR_IN);
    card("mine", "m0", FI_PROTO_RXM, FI_SOCKADDR_IN, 100);
    CHECK_STR(best(NULL), "mine m0");
    CHECK(!offer_is_hardware(&offers[0]));
}

static void cards_are_ranked(void)
{
    n = 0;
    card("verbs;ofi_rxm", "mlx5_0", FI_PROTO_RXM, FI_SOCKADDR_IN, 25);
    card("verbs;ofi_rxm", "mlx5_1", FI_PROTO_RXM, FI_SOCKADDR_IN, 200);
    CHECK_STR(best(NULL), "verbs;ofi_rxm mlx5_1");
    CHECK_STR(verdicts[0].why, "the faster link");
    card("efa", "e0", FI_PROTO_EFA, FI_ADDR_EFA, 100)->caps &= ~FI_RMA;
    CHECK_STR(best(NULL), "verbs;ofi_rxm mlx5_1");
    offers[1].is_link_down = true;
    CHECK_STR(best(NULL), "verbs;ofi_rxm mlx5_0");
    CHECK_STR(verdicts[2].why, "the link of mlx5_1 is down");
    /* registration that we cannot do is as none */
    offers[0].mr_mode = FI_MR_RMA_EVENT;
    offers[2].caps |= FI_RMA;
    CHECK_STR(best(NULL), "efa e0");
}

static void lists_hold(void)
{
    struct offer_wish w = offer_wish_default;
    n = 0;
    ethernet();
    w.include = "tcp";
    w.include_from = "MPICH_OFI_USE_PROVIDER";
    CHECK_STR(best(&w), "tcp;ofi_rxm eth0");
    CHECK_STR(why_of("net"), "not in MPICH_OFI_USE_PROVIDER=tcp");
    w.include = "verbs, SOCKETS";
    CHECK_STR(best(&w), "sockets eth0");
    w.include = "tcp;ofi_rxm,net";
    w.exclude = "net";
    CHECK_STR(best(&w), "tcp;ofi_rxm eth0");
    CHECK_STR(why_of("net"), "excluded by GODWIT_OFI_PROVIDER_EXCLUDE=net");
    w.include = "^net,^ofi_rxm"; /* as FI_PROVIDER writes it */
    w.exclude = NULL;
    CHECK_STR(best(&w), "udp;ofi_rxd eth0");
    CHECK(offer_list_has("a,tcp", "tcp;ofi_rxm") && !offer_list_has("tc,p", "tcp") && !offer_list_has("", "tcp") &&
          !offer_list_has(NULL, "tcp") && !offer_list_has("tcp;ofi_rxm", "tcp") && !offer_list_has("^tcp", "tcp"));
}

static void unfit_is_refused(void)
{
    n = 0;
    offer("a", "0", FI_PROTO_EFA, FI_ADDR_EFA)->ep_type = FI_EP_MSG;
    offer("b", "0", FI_PROTO_EFA, FI_ADDR_EFA)->caps = FI_TAGGED;
    offer("c", "0", FI_PROTO_EFA, FI_ADDR_EFA)->msg_order = 0;
    offer("d", "0", FI_PROTO_EFA, FI_ADDR_EFA)->mode = FI_MSG_PREFIX;
    offer("e", "0", FI_PROTO_EFA, FI_ADDR_EFA)->max_msg_size = 1024;
    offer("f", "docker0", FI_PROTO_XNET, FI_SOCKADDR_IN);
    strcpy(offers[5].iface_why, "docker0 is a bridge");
    offer("g", "eth0", FI_PROTO_XNET, FI_SOCKADDR_IN6)->is_link_local = true;
    CHECK_STR(best(NULL), "none");
    CHECK_STR(why_of("a"), "has no reliable datagrams (FI_EP_RDM)");
    CHECK_STR(why_of("b"), "lacks FI_MSG");
    CHECK_STR(why_of("c"), "does not keep messages in order (FI_ORDER_SAS)");
    CHECK_STR(why_of("d"), "asks for FI_MSG_PREFIX, which Godwit does not serve");
    CHECK_STR(why_of("e"), "messages of at most 1024 B, 4096 are needed");
    CHECK_STR(why_of("f"), "docker0 is a bridge");
    CHECK_STR(why_of("g"), "has only a link-local address on eth0");
    for (int i = 0; i < n; i++) CHECK_EQ(verdicts[i].offer, i); /* as the library lists them */
}

static void better_interface_wins(void)
{
    n = 0;
    offer("net", "eth1", FI_PROTO_XNET, FI_SOCKADDR_IN)->iface_order = 1;
    offer("tcp;ofi_rxm", "eth0", FI_PROTO_RXM, FI_SOCKADDR_IN);
    offer("net", "eth0", FI_PROTO_XNET, FI_SOCKADDR_IN6);
    offer("net", "eth0", FI_PROTO_XNET, FI_SOCKADDR_IN);
    CHECK_STR(best(NULL), "net eth0");
    CHECK_EQ(verdicts[0].offer, 3);
    CHECK_STR(verdicts[0].why, "fewer layers"); /* than the next provider has */
    CHECK_STR(verdicts[2].why, "the better interface");
    n = 0;
    strcpy(offer("net", "eth0", FI_PROTO_XNET, FI_SOCKADDR_IN6)->address, "fd00::1");
    offer("net", "eth0", FI_PROTO_XNET, FI_SOCKADDR_IN);
    CHECK_STR(best(NULL), "net eth0");
    CHECK_EQ(verdicts[0].offer, 1);
    CHECK_STR(verdicts[0].why, "IPv4 rather than IPv6");
    offers[0].caps |= FI_MULTI_RECV;
    CHECK_STR(best(NULL), "net eth0");
    CHECK_EQ(verdicts[0].offer, 0);
    CHECK_STR(verdicts[0].why, "one buffer for many messages");
}

static void texts(void)
{
    char text[2048];
    n = 0;
    ethernet();
    strcpy(offers[2].address, "192.0.2.2:0");
    offer_rank(offers, n, &offer_wish_default, verdicts);
    offer_list_text(offers, verdicts, n, text, sizeof text);
    CHECK_STR(text,
              "chosen net on eth0, 192.0.2.2:0 (software, RMA, tagged, inject 64 B); before the next by fewer layers\n"
              "then   tcp;ofi_rxm on eth0 (software, RMA, tagged, inject 64 B); before the next by one-sided copies\n"
              "then   udp;ofi_rxd on eth0 (software, RMA, tagged, inject 64 B); before the next by fewer layers\n"
              "then   sockets on eth0 (software, RMA, tagged, inject 64 B)\n"
              "refused shm: reaches only this node\n");
    char small[40];
    offer_list_text(offers, verdicts, n, small, sizeof small);
    CHECK_EQ(strlen(small), sizeof small - 1);
}

static void none_says_what_to_do(void)
{
    char text[1024];
    struct offer_wish w = offer_wish_default;
    n = 0;
    offer_none_text(offers, verdicts, 0, &w, text, sizeof text);
    CHECK_STR(text,
              "libfabric offers no provider at all; install one (Debian: libfabric1 has tcp), bring an interface up, or ask "
              "`fi_info` what it sees");
    offer("shm", "shm", FI_PROTO_SHM, FI_ADDR_STR);
    CHECK_EQ(offer_rank(offers, n, &w, verdicts), 0);
    offer_none_text(offers, verdicts, n, &w, text, sizeof text);
    CHECK_STR(text,
              "no provider of libfabric can be used: shm: reaches only this node. Install a libfabric with tcp, or with the "
              "provider of your network card; `godwit-info --network` shows all of this");
    n = 0;
    ethernet();
    w.include = "psm3";
    w.include_from = "GODWIT_OFI_PROVIDER";
    CHECK_EQ(offer_rank(offers, n, &w, verdicts), 0);
    offer_none_text(offers, verdicts, n, &w, text, sizeof text);
    CHECK(strstr(text,
                 " used: tcp;ofi_rxm, net, udp;ofi_rxd, shm, sockets: not in GODWIT_OFI_PROVIDER=psm3. Change "
                 "GODWIT_OFI_PROVIDER; "));
    w.include = "net"; /* the one that may be used cannot do what a setting needs */
    w.needs.matching = "FI_CXI_RX_MATCH_MODE=hardware";
    strcpy(offers[2].iface_why, "eth0 is a bridge");
    CHECK_EQ(offer_rank(offers, n, &w, verdicts), 0);
    offers[2].iface_why[0] = 0;
    CHECK_EQ(offer_rank(offers, n, &w, verdicts), 0);
    offer_none_text(offers, verdicts, n, &w, text, sizeof text);
    CHECK(strstr(text, "net: stops a connection at a message that nobody waits for: not for FI_CXI_RX_MATCH_MODE=hardware"));
    CHECK(strstr(text, ". Allow another provider, or change the setting that needs this one to do more; "));
    w.needs.matching = NULL;
    n = 0;
    strcpy(offer("net", "tun0", FI_PROTO_XNET, FI_SOCKADDR_IN)->iface_why, "tun0 is a tunnel");
    w.include = NULL;
    CHECK_EQ(offer_rank(offers, n, &w, verdicts), 0);
    offer_none_text(offers, verdicts, n, &w, text, sizeof text);
    CHECK_STR(text,
              "no provider of libfabric can be used: tun0 is a tunnel. Bring another interface up, or name one in "
              "GODWIT_NET_IFACE; `godwit-info --network` shows all of this");
}

/* A host that has nothing but its loopback, of which the interfaces may be known, or not. */
static void only_loopback(const char *iface_why)
{
    char text[1024];
    struct offer_wish w = offer_wish_default;
    n = 0;
    struct net_offer *lo = offer("net", "lo", FI_PROTO_XNET, FI_SOCKADDR_IN);
    lo->is_loopback = true;
    strcpy(lo->iface_why, iface_why);
    offer("shm", "shm", FI_PROTO_SHM, FI_ADDR_STR);
    CHECK_EQ(offer_rank(offers, n, &w, verdicts), 0);
    offer_none_text(offers, verdicts, n, &w, text, sizeof text);
    CHECK_STR(text,
              "no provider of libfabric can be used: net, shm: reaches only this node. Bring another interface up, or name one in "
              "GODWIT_NET_IFACE; `godwit-info --network` shows all of this");
}

int main(void)
{
    software_is_ranked();
    needs_hold();
    needs_are_lowered();
    shared_memory_is_no_network();
    cards_win();
    cards_are_ranked();
    lists_hold();
    unfit_is_refused();
    better_interface_wins();
    texts();
    only_loopback("");
    only_loopback("lo reaches only this machine");
    none_says_what_to_do();
    return unit_end();
}
