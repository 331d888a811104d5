/* ofi_tag.h -- how a message's communicator, source and tag lie in the 64 tag bits of libfabric, for NICs that match.
 *
 *     | bits of the provider | synchronous: 2 | context id | source | tag |
 *
 * Of the two bits for synchronous messages one says that the sender waits for an answer; the answer itself is an ordinary
 * message, so the other one stays 0 (tickets for long messages have it, ofi_direct.c).  96 bits are wanted, 62 there are, and fewer where the provider keeps high bits for itself
 * (mem_tag_format): those are taken from the context id.  With FI_REMOTE_CQ_DATA and FI_DIRECTED_RECV the source travels outside the tag (ofi_tag_full).  The top bit of the
 * tag field is that of the library's own negative tags, which no wildcard of the user's matches.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_OFI_OFI_TAG_H
#define GW_WIRE_OFI_OFI_TAG_H

#include "base/base.h"

enum ofi_tag_mode { OFI_TAG_AUTO, OFI_TAG_1, OFI_TAG_2, OFI_TAG_FULL, OFI_TAG_MODES };
extern const char *const ofi_tag_mode_names[OFI_TAG_MODES];

enum ofi_tag_sync { OFI_TAG_PLAIN, OFI_TAG_SYNC /* the sender waits for an answer */ };

struct ofi_tag_layout {
    enum ofi_tag_mode mode; /* never AUTO */
    uint8_t cid_bits, src_bits, tag_bits, reserved_bits;
    uint8_t src_shift, cid_shift, sync_shift;
    uint32_t cid_max; /* largest context id, source and tag */
    uint32_t src_max;
    int32_t tag_max;
};

/* What the provider can do: its mem_tag_format, bytes of CQ data (FI_REMOTE_CQ_DATA), FI_DIRECTED_RECV. */
struct ofi_tag_means {
    uint64_t mem_tag_format;
    size_t cq_data_bytes;
    bool directed_recv;
};

/* GW_EUNSUPPORTED: ofi_tag_full is wanted and the provider cannot do it, or it leaves too few bits. */
int ofi_tag_layout_make(enum ofi_tag_mode wanted, const struct ofi_tag_means *means, struct ofi_tag_layout *layout_out);

/* Errors that name the limit and what to do. */
int ofi_tag_check_size(const struct ofi_tag_layout *l, int64_t ranks);
int ofi_tag_check_cid(const struct ofi_tag_layout *l, uint32_t cid);
int ofi_tag_check_tag(const struct ofi_tag_layout *l, int64_t tag);

/* `src` is the rank in the communicator of who sends; not in the bits with ofi_tag_full.  All have been checked. */
uint64_t ofi_tag_bits(const struct ofi_tag_layout *l, uint32_t cid, uint32_t src, int32_t tag, enum ofi_tag_sync sync);
/* What a receive looks for; `src` may be GW_ANY_SOURCE, `tag` GW_ANY_TAG.  Plain and synchronous messages match. */
void ofi_tag_wanted(const struct ofi_tag_layout *l, uint32_t cid, int32_t src, int32_t tag, uint64_t *bits_out,
                    uint64_t *ignore_out);

/* Above the tags for other uses, which none of these match. */
uint64_t ofi_tag_apart(const struct ofi_tag_layout *l);
/* What a receive looks for that takes every message with a tag of this layout. */
void ofi_tag_everything(const struct ofi_tag_layout *l, uint64_t *bits_out, uint64_t *ignore_out);

uint32_t ofi_tag_cid(const struct ofi_tag_layout *l, uint64_t bits);
uint32_t ofi_tag_src(const struct ofi_tag_layout *l, uint64_t bits, uint64_t cq_data);
int32_t ofi_tag_tag(const struct ofi_tag_layout *l, uint64_t bits); /* negative ones, too */
enum ofi_tag_sync ofi_tag_sync_of(const struct ofi_tag_layout *l, uint64_t bits);

#endif
