/* offer.h -- which of the ways that libfabric offers is taken, and why: a pure function over a list.
 *
 * An offer is one entry of fi_getinfo's list, as data.  Offers are told apart by what they can do (capabilities, protocol, hardware,
 * interface), never by the provider's name; names count only in the user's own lists.  Nothing here opens anything, so tests show it
 * the NICs that a machine lacks.
 *
 * Best first: hardware before software, one-sided copies (RMA) before none, one that reaches other nodes, the better
 * interface (iface.h), the protocol with less between us and the network, the faster link, IPv4 before IPv6, and at last libfabric's
 * own order.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_OFFER_H
#define GW_NET_OFFER_H

#include "base/base.h"

enum { OFI_NAME = 64, OFI_ADDRESS = 96, OFI_WHY = 128 };

struct ofi_offer {
    char provider[OFI_NAME], fabric[OFI_NAME], domain[OFI_NAME]; /* "verbs;ofi_rxm"; "192.0.2.0/24"; "mlx5_0" */
    char address[OFI_ADDRESS];                                   /* as a reader wants it; "": it has none yet */
    uint64_t caps, mode, msg_order, mem_tag_format;              /* FI_... of <rdma/fabric.h> */
    int ep_type, mr_mode;
    uint32_t protocol, addr_format;
    bool is_loopback, is_link_local; /* of its address */
    size_t inject_size, max_msg_size, cq_data_size, mr_key_size;
    bool has_bus, is_link_down; /* it tells which PCI device it uses; that one's link is down */
    uint16_t pci_domain;
    uint8_t pci_bus, pci_device, pci_function;
    uint64_t bits_per_s;     /* of the link; 0: unknown */
    int iface_order;         /* of its network interface, 0 the best; 0 for those without one */
    char iface_why[OFI_WHY]; /* "": may be used; else why not */
};

/* What the wire can live with. */
struct ofi_wish {
    const char *include, *exclude; /* the user's lists with commas; NULL or "": none.  A word with ^ before it excludes */
    const char *include_from;      /* the variable that said so, for texts */
    bool is_far;                   /* ranks on other nodes are to be reached */
    uint64_t caps, order;          /* what must be there */
    uint64_t modes;                /* mode bits that we serve; any other refuses */
    int mr_modes;                  /* the same for registration, where the offer has RMA */
    size_t msg_bytes;              /* the longest message that we send */
    bool matches;                  /* it is to match messages with receives (GODWIT_MATCH_MODE=hardware) */
};
extern const struct ofi_wish ofi_wish_usual; /* any list, far, FI_MSG in order */

struct ofi_verdict {
    int offer; /* its index */
    bool is_refused;
    char why[OFI_WHY]; /* refused: why; else by what it stands before the next provider, or the next of its own ("" for the last) */
};

bool ofi_is_hardware(const struct ofi_offer *o);
/* A message that nobody waits for yet stays on its connection, and what comes behind it waits: not for matching. */
bool ofi_stops_at_unexpected(uint32_t protocol);
/* "tcp" in a list means itself and what is made of it: "tcp;ofi_rxm". */
bool ofi_list_has(const char *list, const char *provider);
/* Fills verdicts[n], the usable ones first and best first, then the refused in the order of the list; the number of usable ones. */
int ofi_offers_rank(const struct ofi_offer *offers, int n, const struct ofi_wish *wish, struct ofi_verdict *verdicts_out);
/* The list in some lines: chosen, why, and why not the others.  Offers refused for one reason share a line. */
void ofi_offers_text(const struct ofi_offer *offers, const struct ofi_verdict *verdicts, int n, char *out, size_t cap);
/* The sentence when nothing is usable: what was found, why it was refused, what to do. */
void ofi_offers_none_text(const struct ofi_offer *offers, const struct ofi_verdict *verdicts, int n, const struct ofi_wish *wish,
                          char *out, size_t cap);

#endif
