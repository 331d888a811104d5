/* offer.h -- selection among libfabric's fi_info entries (offers), with reasons: a pure function of a list.
 *
 * Offers are ranked by properties (capabilities, protocol, hardware, interface), never by the provider's name; names count only in the user's
 * lists.  Nothing is opened here, so tests can use descriptions of NICs that the machine lacks.
 *
 * Order: hardware before software; RMA before none; offers that reach other nodes; the better interface (iface.h); the protocol with fewer
 * layers; the faster link; IPv4 before IPv6; libfabric's order.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_OFFER_H
#define GW_NET_OFFER_H

#include "base/base.h"

enum { OFFER_NAME = 64, OFFER_ADDRESS = 96, OFFER_WHY = 128 };

struct net_offer {
    char provider[OFFER_NAME], fabric[OFFER_NAME], domain[OFFER_NAME]; /* "verbs;ofi_rxm"; "192.0.2.0/24"; "mlx5_0" */
    char address[OFFER_ADDRESS];                                       /* as readable text; "": none yet */
    uint64_t caps, mode, msg_order, mem_tag_format;                    /* FI_... of <rdma/fabric.h> */
    int ep_type, mr_mode;
    uint32_t protocol, addr_format;
    bool is_loopback, is_link_local; /* of its address */
    size_t inject_size, max_msg_size, cq_data_size, mr_key_size;
    bool has_bus, is_link_down; /* the PCI device is known; its link is down */
    uint16_t pci_domain;
    uint8_t pci_bus, pci_device, pci_function;
    uint64_t bits_per_s;       /* of the link; 0: unknown */
    int iface_order;           /* rank of its network interface, 0 is the best; 0: it has none */
    char iface_why[OFFER_WHY]; /* why the interface was rejected; "": usable */
};

/* Requirements of the wire. */
struct offer_wish {
    const char *include, *exclude; /* the user's comma-separated lists; NULL or "": none.  A leading ^ excludes */
    const char *include_from;      /* the environment variable that they come from, for messages */
    bool is_far;                   /* must reach other hosts */
    uint64_t caps, order;          /* required capabilities and message order */
    uint64_t modes;                /* supported mode bits; an offer with any other is rejected */
    int mr_modes;                  /* the same for mr_mode, if the offer has RMA */
    size_t msg_bytes;              /* required max_msg_size */
    /* What settings ask for beyond that, each by the words that asked ("FI_CXI_RX_MATCH_MODE=hardware"), for messages; NULL: nobody did. */
    struct offer_needs {
        const char *matching;  /* the provider matches messages by tag */
        const char *full_tags; /* and tells their source outside the tag */
        const char *memory;    /* it reads and writes the program's memory */
        const char *atomics;   /* and computes there */
    } needs;
};
extern const struct offer_wish offer_wish_default; /* any list, far, FI_MSG in order */

struct offer_verdict {
    int offer;                   /* index of the offer */
    bool is_refused, is_by_need; /* is_by_need: refused by wish.needs alone */
    char why
        [OFFER_WHY]; /* reason of rejection; else what ranks it before the next provider, or the next offer of its own ("": the last) */
};

bool offer_is_hardware(const struct net_offer *o);
/* Does an unexpected message block its connection, and the messages behind it?  Such a protocol cannot be used for tag matching. */
bool offer_stops_at_unexpected(uint32_t protocol);
/* Does such a provider lose the data beside the tag of an injected message?  Then sources lie in the tag. */
bool offer_loses_data(uint32_t protocol);
/* Does such a provider of libfabric 1.17 fail at reading and writing memory that it says it can?  Then messages do that. */
bool offer_fails_at_memory(uint32_t protocol);
/* "tcp" in a list also means providers layered over it: "tcp;ofi_rxm". */
bool offer_list_has(const char *list, const char *provider);
/* Fills verdicts_out[n]: the usable ones, best first, then the rejected ones in the order of the list.  Returns the number of usable ones. */
int offer_rank(const struct net_offer *offers, int n, const struct offer_wish *wish, struct offer_verdict *verdicts_out);
/* The same where nothing is usable: gives up as few as will do of the needs that can be done without (matching only if may_match_itself
 * and full_tags are not needed), in *wish, and adds to `told` which.  If nothing helps, all of them. */
int offer_rank_lowered(const struct net_offer *offers, int n, struct offer_wish *wish, bool may_match_itself,
                       struct offer_verdict *verdicts_out, char *told, size_t cap);
/* The list as text of a few lines: the chosen one and why, the others and why not.  Offers rejected for the same reason share a line. */
void offer_list_text(const struct net_offer *offers, const struct offer_verdict *verdicts, int n, char *out, size_t cap);
/* The message if nothing is usable: what was found, why it was rejected, what to do. */
void offer_none_text(const struct net_offer *offers, const struct offer_verdict *verdicts, int n, const struct offer_wish *wish,
                     char *out, size_t cap);

#endif
