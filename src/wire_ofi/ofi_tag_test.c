/* ofi_tag_test.c -- layouts, limits, wildcards and bits that the provider keeps.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi_tag.h"
#include "obj/consts_gen.h"

#include "../../test/unit.h"

#define ALL_BITS 0xaaaaaaaaaaaaaaaaull
static struct ofi_tag_layout make(enum ofi_tag_mode mode, uint64_t format, size_t cq_data, bool directed, int *rc_out)
{
    struct ofi_tag_layout l = {0};
    struct ofi_tag_means means = {format, cq_data, directed};
    *rc_out = ofi_tag_layout_make(mode, &means, &l);
    return l;
}

static void auto_goes_by_capabilities(void)
{
    static const struct {
        size_t data;
        bool directed;
        enum ofi_tag_mode want;
    } rows[] = {{8, true, OFI_TAG_FULL}, {4, true, OFI_TAG_FULL}, {0, true, OFI_TAG_1},
                {2, true, OFI_TAG_1},    {8, false, OFI_TAG_1},   {0, false, OFI_TAG_1}};
    int rc;
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        CHECK_EQ(make(OFI_TAG_AUTO, ALL_BITS, rows[i].data, rows[i].directed, &rc).mode, rows[i].want);
        CHECK_EQ(rc, GW_OK);
        make(OFI_TAG_FULL, ALL_BITS, rows[i].data, rows[i].directed, &rc); /* forced */
        CHECK_EQ(rc, rows[i].want == OFI_TAG_FULL ? GW_OK : GW_EUNSUPPORTED);
        if (rc) CHECK(strstr(gw_fail_text(), rows[i].directed ? "FI_REMOTE_CQ_DATA" : "FI_DIRECTED_RECV"));
    }
}

static void limits_are_the_documents(void)
{
    int rc;
    struct ofi_tag_layout one = make(OFI_TAG_1, ALL_BITS, 8, true, &rc), two = make(OFI_TAG_2, ALL_BITS, 8, true, &rc),
                          full = make(OFI_TAG_FULL, ALL_BITS, 8, true, &rc);
    CHECK_EQ(one.cid_max, 4095);
    CHECK_EQ(one.src_max, 262143);
    CHECK_EQ(one.tag_max, INT32_MAX);
    CHECK_EQ(two.cid_max, 16777215);
    CHECK_EQ(two.src_max, 262143);
    CHECK_EQ(two.tag_max, 524287);
    CHECK(full.cid_max >= 268435455);
    CHECK_EQ(full.src_max, INT32_MAX);
    CHECK_EQ(full.tag_max, INT32_MAX);
    CHECK_EQ(one.sync_shift, 62);
    CHECK_EQ(two.sync_shift, 62);
    CHECK_EQ(full.sync_shift, 62);
    CHECK_EQ(ofi_tag_check_size(&one, 262144), GW_OK);
    CHECK_EQ(ofi_tag_check_size(&one, 262145), GW_EUNSUPPORTED);
    CHECK(strstr(gw_fail_text(), "262145 ranks") && strstr(gw_fail_text(), "at most 262144") &&
          strstr(gw_fail_text(), "=ofi_tag_full"));
    CHECK_EQ(ofi_tag_check_size(&full, INT32_MAX), GW_OK);
    CHECK_EQ(ofi_tag_check_cid(&one, 4095), GW_OK);
    CHECK_EQ(ofi_tag_check_cid(&one, 4096), GW_EUNSUPPORTED);
    CHECK(strstr(gw_fail_text(), "up to 4095") && strstr(gw_fail_text(), "=ofi_tag_2"));
    CHECK_EQ(ofi_tag_check_tag(&two, 524287), GW_OK);
    CHECK_EQ(ofi_tag_check_tag(&two, 524288), GW_ETAG);
    CHECK(strstr(gw_fail_text(), "tag 524288 is larger than 524287"));
    CHECK_EQ(ofi_tag_check_tag(&full, INT32_MAX), GW_OK);
}

/* k bits kept: the largest context id halves k times, and no bit of ours lies among them. */
static void provider_keeps_bits(void)
{
    int rc;
    for (int mode = OFI_TAG_1; mode < OFI_TAG_MODES; mode++) {
        struct ofi_tag_layout whole = make((enum ofi_tag_mode)mode, ALL_BITS, 8, true, &rc);
        for (int k = 0; k < 40; k++) {
            struct ofi_tag_layout l = make((enum ofi_tag_mode)mode, UINT64_MAX >> k, 8, true, &rc);
            if (whole.cid_bits - k < 8) {
                CHECK_EQ(rc, GW_EUNSUPPORTED);
                CHECK(strstr(gw_fail_text(), "tag bits for itself"));
                continue;
            }
            CHECK_EQ(rc, GW_OK);
            CHECK_EQ(l.cid_max, whole.cid_max >> k);
            CHECK_EQ(l.tag_max, whole.tag_max);
            uint64_t most = ofi_tag_bits(&l, l.cid_max, l.src_max, -1, OFI_TAG_SYNC), bits, ignore;
            CHECK_EQ(most, UINT64_MAX >> k & ~(2ull << l.sync_shift));
            ofi_tag_everything(&l, &bits, &ignore);
            CHECK(bits == 0 && ignore == most);
            CHECK(!(ofi_tag_apart(&l) & most) && (ofi_tag_apart(&l) | most) == UINT64_MAX >> k);
        }
    }
    CHECK_EQ(make(OFI_TAG_1, 0x5555555555555555ull, 8, true, &rc).cid_max, 2047); /* `net`: all but the top bit */
    CHECK_EQ(make(OFI_TAG_1, 0, 8, true, &rc).cid_max, 4095);                     /* says nothing */
}

static bool matches(uint64_t bits, uint64_t wanted, uint64_t ignore) { return !((bits ^ wanted) & ~ignore); }

static void wildcards_match(const struct ofi_tag_layout *l)
{
    const uint32_t cids[] = {0, 1, l->cid_max}, srcs[] = {0, 5, l->src_bits ? l->src_max : 70000};
    const int32_t tags[] = {0, 7, l->tag_max, -7, -l->tag_max - 1};
    for (int c = 0; c < 3; c++)
        for (int s = 0; s < 3; s++)
            for (int t = 0; t < 5; t++)
                for (int sync = OFI_TAG_PLAIN; sync <= OFI_TAG_SYNC; sync++) {
                    uint64_t b = ofi_tag_bits(l, cids[c], srcs[s], tags[t], (enum ofi_tag_sync)sync), w, ig;
                    CHECK_EQ(ofi_tag_cid(l, b), cids[c]);
                    CHECK_EQ(ofi_tag_src(l, b, srcs[s]), srcs[s]);
                    CHECK_EQ(ofi_tag_tag(l, b), tags[t]);
                    CHECK_EQ(ofi_tag_sync_of(l, b), sync);
                    ofi_tag_wanted(l, cids[c], (int32_t)srcs[s], tags[t], &w, &ig);
                    CHECK(matches(b, w, ig));
                    ofi_tag_wanted(l, cids[c], GW_ANY_SOURCE, GW_ANY_TAG, &w, &ig);
                    CHECK_EQ(matches(b, w, ig), tags[t] >= 0);
                    ofi_tag_wanted(l, cids[c], GW_ANY_SOURCE, 7, &w, &ig);
                    CHECK_EQ(matches(b, w, ig), tags[t] == 7);
                    ofi_tag_wanted(l, cids[c], 5, GW_ANY_TAG, &w, &ig); /* without bits for it the address tells the source */
                    CHECK_EQ(matches(b, w, ig), tags[t] >= 0 && (srcs[s] == 5 || !l->src_bits));
                    ofi_tag_wanted(l, cids[(c + 1) % 3], GW_ANY_SOURCE, GW_ANY_TAG, &w, &ig);
                    CHECK(!matches(b, w, ig));
                }
}

int main(void)
{
    auto_goes_by_capabilities();
    limits_are_the_documents();
    provider_keeps_bits();
    for (int mode = OFI_TAG_1; mode < OFI_TAG_MODES; mode++)
        for (int k = 0; k < 4; k += 3) {
            int rc;
            struct ofi_tag_layout l = make((enum ofi_tag_mode)mode, UINT64_MAX >> k, 8, true, &rc);
            wildcards_match(&l);
        }
    return unit_end();
}
