/* iface_test.c -- interfaces of machines that are not here, and whether those that are here can be read.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/iface.h"

#include <arpa/inet.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../test/unit.h"

enum { MOST = 16 };
static struct iface all[MOST];
static struct iface_verdict verdicts[MOST];
static int n;

static struct iface *with(const char *name, const char *kind, int type, const char *address)
{
    struct iface *i = &all[n++];
    *i = (struct iface){.index = n, .type = type, .is_up = true, .has_carrier = true, .mtu = 1500};
    snprintf(i->name, sizeof i->name, "%s", name);
    snprintf(i->kind, sizeof i->kind, "%s", kind);
    if (!*address) return i;
    struct iface_address *a = &i->addresses[i->n_addresses++];
    a->family = strchr(address, ':') ? AF_INET6 : AF_INET;
    a->prefix = 24;
    CHECK_EQ(inet_pton(a->family, address, a->bytes), 1);
    return i;
}

static const char *usable(const char *list) /* names, best first */
{
    static char text[256];
    int k = iface_rank(all, n, list, verdicts);
    *text = 0;
    for (int i = 0; i < k; i++) {
        strcat(text, i ? " " : "");
        strcat(text, all[verdicts[i].iface].name);
    }
    return text;
}

static const char *why_not(const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(all[verdicts[i].iface].name, name) == 0) return verdicts[i].is_refused ? verdicts[i].why : "it is used";
    return "not there";
}

/* A workstation: docker, libvirt, a VPN, a second card without cable. */
static void workstation(void)
{
    n = 0;
    with("lo", "", ARPHRD_LOOPBACK, "127.0.0.1")->is_loopback = true;
    with("docker0", "bridge", ARPHRD_ETHER, "172.17.0.1");
    with("veth12ab", "veth", ARPHRD_ETHER, "")->is_member = true;
    with("tun0", "tun", ARPHRD_NONE, "10.8.0.6")->is_p2p = true;
    with("wg0", "wireguard", ARPHRD_NONE, "10.9.0.2");
    with("eno2", "", ARPHRD_ETHER, "")->has_carrier = false;
    with("eno3", "", ARPHRD_ETHER, "192.168.9.1")->is_up = false;
    with("vxlan7", "vxlan", ARPHRD_ETHER, "10.7.0.1");
    with("ppp0", "", ARPHRD_PPP, "10.6.0.1");
    with("usb0", "", 99, "10.5.0.1")->is_p2p = true;
    with("eno4", "", ARPHRD_ETHER, "");
    with("eno1", "", ARPHRD_ETHER, "192.0.2.7")->is_hardware = true;
}

static void only_what_reaches_others(void)
{
    workstation();
    CHECK_STR(usable(NULL), "eno1");
    CHECK_STR(why_not("lo"), "lo reaches only this machine");
    CHECK_STR(why_not("docker0"), "docker0 is a bridge of this machine");
    CHECK_STR(why_not("veth12ab"), "veth12ab is part of a bridge or bond");
    CHECK_STR(why_not("tun0"), "tun0 is a tunnel (tun)");
    CHECK_STR(why_not("wg0"), "wg0 is a tunnel (wireguard)");
    CHECK_STR(why_not("eno2"), "eno2 has no carrier: the cable is out, or its other end down");
    CHECK_STR(why_not("eno3"), "eno3 is down");
    CHECK_STR(why_not("eno4"), "eno4 has no address");
    CHECK_STR(why_not("vxlan7"), "vxlan7 is a tunnel (vxlan)");
    CHECK_STR(why_not("ppp0"), "ppp0 is a tunnel (a type of them)");
    CHECK_STR(why_not("usb0"), "usb0 is a point-to-point link");
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) CHECK(verdicts[i].iface != verdicts[k].iface);
}

static void lists_override_guesses_only(void)
{
    workstation();
    CHECK_STR(usable("docker0,tun0"), "docker0 tun0");
    CHECK_STR(usable("tun0, docker0"), "tun0 docker0");
    CHECK_STR(why_not("eno1"), "eno1 is not in GODWIT_NET_IFACE=tun0, docker0");
    CHECK_STR(usable("eno3,eno1"), "eno1"); /* down stays down */
    CHECK_STR(why_not("eno3"), "eno3 is down");
    CHECK_STR(usable("^eno1"), "");
    CHECK_STR(why_not("eno1"), "eno1 is excluded by GODWIT_NET_IFACE=^eno1");
    CHECK_STR(usable("10.0.0.0/8"), "wg0 vxlan7 ppp0 usb0 tun0");
    CHECK_STR(usable("10.0.0.0/8,^10.8.0.0/16,^wg0"), "vxlan7 ppp0 usb0");
    CHECK_STR(usable("192.0.2.7"), "eno1");
    CHECK_STR(usable("127.0.0.0/8"), "lo");
    CHECK_STR(usable("10.0.0.0/99,eno"), "");
    CHECK_STR(usable("0.0.0.0/0"), "eno1 lo docker0 wg0 vxlan7 ppp0 usb0 tun0");
}

static void best_first(void)
{
    n = 0;
    with("lo", "", ARPHRD_LOOPBACK, "127.0.0.1")->is_loopback = true;
    with("tap0", "tun", ARPHRD_ETHER, "10.1.0.1");
    with("eth0", "veth", ARPHRD_ETHER, "10.2.0.1");
    with("eth1", "", ARPHRD_ETHER, "169.254.3.4")->is_hardware = true;
    with("eth2", "", ARPHRD_ETHER, "10.3.0.1")->is_hardware = true;
    with("eth3", "", ARPHRD_ETHER, "10.4.0.1")->is_hardware = true;
    with("eth4", "", ARPHRD_ETHER, "fd00::1")->is_hardware = true;
    with("ib0", "", ARPHRD_INFINIBAND, "10.5.0.1")->is_hardware = true;
    all[4].mbit_per_s = 1000, all[5].mbit_per_s = 25000, all[6].mbit_per_s = 25000, all[7].mbit_per_s = 100000;
    CHECK_STR(usable(""), "ib0 eth3 eth4 eth2 eth0 tap0 eth1");
    n = 2; /* a host made of a namespace, with a TAP device for its delay */
    CHECK_STR(usable(NULL), "tap0");
}

static void found_by_address(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    struct sockaddr_in6 b = {.sin6_family = AF_INET6};
    char text[128];
    workstation();
    with("eth9", "", ARPHRD_ETHER, "fd00::7");
    all[n - 1].mbit_per_s = 10000;
    inet_pton(AF_INET, "192.0.2.7", &a.sin_addr);
    inet_pton(AF_INET6, "fd00::7", &b.sin6_addr);
    CHECK_STR(all[iface_of_address(all, n, (struct sockaddr *)&a)].name, "eno1");
    CHECK_STR(all[iface_of_address(all, n, (struct sockaddr *)&b)].name, "eth9");
    inet_pton(AF_INET, "192.0.2.8", &a.sin_addr);
    CHECK_EQ(iface_of_address(all, n, (struct sockaddr *)&a), -1);
    iface_text(&all[n - 1], text, sizeof text);
    CHECK_STR(text, "eth9 fd00::7 (10000 Mbit/s, mtu 1500)");
    iface_text(&all[10], text, sizeof text);
    CHECK_STR(text, "eno4 no address (mtu 1500)");
}

/* Whatever machine this is: there is a loopback, and what is read twice is the same. */
static void this_machine(void)
{
    struct iface *here = NULL, *again = NULL;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9)};
    char text[128];
    int k = iface_read(&here), loops = 0;
    CHECK(k >= 1);
    for (int i = 0; i < k; i++) {
        loops += here[i].is_loopback;
        CHECK(*here[i].name && here[i].index > 0);
        CHECK(here[i].mtu >= 0);
    }
    CHECK_EQ(loops, 1);
    CHECK_EQ(iface_read(&again), k);
    CHECK(k < 1 || strcmp(here[k - 1].name, again[k - 1].name) == 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int at = iface_of_address(here, k > 0 ? k : 0, (struct sockaddr *)&a);
    if (at >= 0) {
        CHECK(here[at].is_loopback);
        CHECK_EQ(iface_towards((struct sockaddr *)&a, sizeof a, text, sizeof text), GW_OK);
        CHECK(strstr(text, here[at].name) == text && strstr(text, " 127.0.0.1"));
    }
    free(here);
    free(again);
}

int main(void)
{
    only_what_reaches_others();
    lists_override_guesses_only();
    best_first();
    found_by_address();
    this_machine();
    return unit_end();
}
