/* ofi_tag.c -- see ofi_tag.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_tag.h"
#include "base/settings.h"
#include "obj/consts_gen.h"

enum { SYNC_BITS = 2, CID_BITS_MIN = 8, SOURCE_BYTES = 4 };

const char *const ofi_tag_mode_names[OFI_TAG_MODES] = {"auto", "ofi_tag_1", "ofi_tag_2", "ofi_tag_full"};

static const struct {
    uint8_t cid, src, tag;
} widths[OFI_TAG_MODES] = {
    [OFI_TAG_1] = {12, 18, 32},
    [OFI_TAG_2] = {24, 18, 20},
    [OFI_TAG_FULL] = {30, 0, 32},
};

static uint64_t ones(int bits) { return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1; }

int ofi_tag_layout_make(enum ofi_tag_mode wanted, const struct ofi_tag_means *means, struct ofi_tag_layout *layout_out)
{
    assert(wanted < OFI_TAG_MODES);
    bool can_full = means->cq_data_bytes >= SOURCE_BYTES && means->directed_recv;
    if (wanted == OFI_TAG_FULL && !can_full)
        return gw_fail(GW_EUNSUPPORTED, "%s=ofi_tag_full needs a provider with %s, which this one lacks: leave it at auto",
                       gw_setting_said("GODWIT_OFI_TAG_MODE"),
                       means->directed_recv ? "FI_REMOTE_CQ_DATA of 4 bytes" : "FI_DIRECTED_RECV");
    enum ofi_tag_mode mode = wanted != OFI_TAG_AUTO ? wanted : can_full ? OFI_TAG_FULL : OFI_TAG_1;
    /* The highest set bit of mem_tag_format is the highest that applications may use; 0 means all bits. */
    int reserved = means->mem_tag_format ? __builtin_clzll(means->mem_tag_format) : 0;
    int cid_bits = widths[mode].cid - reserved;
    if (cid_bits < CID_BITS_MIN)
        return gw_fail(GW_EUNSUPPORTED,
                       "the provider keeps %d of 64 tag bits for itself: %s leaves %d for context ids, %d are needed%s", reserved,
                       ofi_tag_mode_names[mode], cid_bits < 0 ? 0 : cid_bits, CID_BITS_MIN,
                       mode == OFI_TAG_1 ? "; try GODWIT_OFI_TAG_MODE=ofi_tag_2" : "; let Godwit match");
    *layout_out = (struct ofi_tag_layout){
        .mode = mode,
        .cid_bits = (uint8_t)cid_bits,
        .src_bits = widths[mode].src,
        .tag_bits = widths[mode].tag,
        .reserved_bits = (uint8_t)reserved,
        .src_shift = widths[mode].tag,
        .cid_shift = (uint8_t)(widths[mode].tag + widths[mode].src),
        .sync_shift = (uint8_t)(widths[mode].tag + widths[mode].src + cid_bits),
        .cid_max = (uint32_t)ones(cid_bits),
        .src_max = widths[mode].src ? (uint32_t)ones(widths[mode].src) : INT32_MAX,
        .tag_max = (int32_t)ones(widths[mode].tag - 1),
    };
    assert(layout_out->sync_shift + SYNC_BITS + reserved <= 64);
    return GW_OK;
}

/* ---- limits ------------------------------------------------------------------------------------- */
int ofi_tag_check_size(const struct ofi_tag_layout *l, int64_t ranks)
{
    if (ranks - 1 <= (int64_t)l->src_max) return GW_OK;
    return gw_fail(GW_EUNSUPPORTED,
                   "%lld ranks do not fit into the %d bits that %s has for the source (at most %lld): "
                   "GODWIT_OFI_TAG_MODE=ofi_tag_full has no such limit",
                   (long long)ranks, l->src_bits, ofi_tag_mode_names[l->mode], (long long)l->src_max + 1);
}

int ofi_tag_check_cid(const struct ofi_tag_layout *l, uint32_t cid)
{
    if (cid <= l->cid_max) return GW_OK;
    return gw_fail(GW_EUNSUPPORTED,
                   "a communicator's context id is %u, %s has ids up to %u%s: GODWIT_OFI_TAG_MODE=%s may have more", cid,
                   ofi_tag_mode_names[l->mode], l->cid_max, l->reserved_bits ? " since the provider keeps tag bits for itself" : "",
                   l->mode == OFI_TAG_1 ? "ofi_tag_2" : "ofi_tag_full");
}

int ofi_tag_check_tag(const struct ofi_tag_layout *l, int64_t tag)
{
    if (tag <= l->tag_max) return GW_OK;
    return gw_fail(GW_ETAG, "tag %lld is larger than %d, the largest of %s: use smaller tags, or GODWIT_OFI_TAG_MODE=ofi_tag_1",
                   (long long)tag, l->tag_max, ofi_tag_mode_names[l->mode]);
}

/* ---- bits --------------------------------------------------------------------------------------- */
uint64_t ofi_tag_bits(const struct ofi_tag_layout *l, uint32_t cid, uint32_t src, int32_t tag, enum ofi_tag_sync sync)
{
    assert(cid <= l->cid_max && src <= l->src_max);
    assert(tag <= l->tag_max && tag >= -l->tag_max - 1);
    uint64_t bits = (uint64_t)sync << l->sync_shift | (uint64_t)cid << l->cid_shift | ((uint32_t)tag & ones(l->tag_bits));
    return l->src_bits ? bits | (uint64_t)src << l->src_shift : bits;
}

void ofi_tag_wanted(const struct ofi_tag_layout *l, uint32_t cid, int32_t src, int32_t tag, uint64_t *bits_out,
                    uint64_t *ignore_out)
{
    bool any_src = src == GW_ANY_SOURCE, any_tag = tag == GW_ANY_TAG;
    *bits_out = ofi_tag_bits(l, cid, any_src ? 0 : (uint32_t)src, any_tag ? 0 : tag, OFI_TAG_PLAIN);
    *ignore_out = (uint64_t)OFI_TAG_SYNC << l->sync_shift;
    if (any_src) *ignore_out |= ones(l->src_bits) << l->src_shift;
    if (any_tag) *ignore_out |= ones(l->tag_bits - 1); /* not the top bit: negative tags are the library's own */
}

void ofi_tag_everything(const struct ofi_tag_layout *l, uint64_t *bits_out, uint64_t *ignore_out)
{
    *bits_out = 0;
    *ignore_out = ones(64 - l->reserved_bits) & ~ofi_tag_apart(l);
}

uint64_t ofi_tag_apart(const struct ofi_tag_layout *l) { return 2ull << l->sync_shift; }

uint32_t ofi_tag_cid(const struct ofi_tag_layout *l, uint64_t bits) { return (uint32_t)(bits >> l->cid_shift & ones(l->cid_bits)); }

uint32_t ofi_tag_src(const struct ofi_tag_layout *l, uint64_t bits, uint64_t cq_data)
{
    return l->src_bits ? (uint32_t)(bits >> l->src_shift & ones(l->src_bits)) : (uint32_t)cq_data;
}

int32_t ofi_tag_tag(const struct ofi_tag_layout *l, uint64_t bits)
{
    int unused = 32 - l->tag_bits;
    return (int32_t)((uint32_t)(bits & ones(l->tag_bits)) << unused) >> unused;
}

enum ofi_tag_sync ofi_tag_sync_of(const struct ofi_tag_layout *l, uint64_t bits)
{
    return (enum ofi_tag_sync)(bits >> l->sync_shift & ones(SYNC_BITS));
}
