/* ofi_conform_test.c -- the wire over libfabric keeps what wire.h promises of every wire, over providers that can do much or little.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/ofi_fake.h"
#include "../../test/wires.h"
#include "base/base.h"
#include "base/settings.h"
#include "boot/boot.h"

static const struct ways *kind;
static void begin(void) { fake_set_up(kind); }
static void end(void)
{
    CHECK_EQ(net.n_objects, 0);
    CHECK_EQ(net.n_regions, 0);
}
static void cut(struct wire *w, struct wire_ep *ep)
{
    (void)w, (void)ep;
    ways.is_cut = true;
}

int main(void)
{
    static const struct wires_rig rig = {.ops = &ofi_ops, .lane = 3, .begin = begin, .end = end, .kill = cut, .direct_most = 200};
    static const struct ways kinds[] = {
        {.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 128},
        {.caps = FI_MSG | FI_RMA | FI_MULTI_RECV, .inject = 64, .refuses = 3, .mr_mode = FI_MR_VIRT_ADDR | FI_MR_LOCAL},
        {.caps = FI_MSG | FI_RMA | FI_ATOMIC, .inject = 64, .refuses = 3},
        {.caps = FI_MSG | FI_RMA | FI_ATOMIC | FI_MULTI_RECV,
         .inject = 64,
         .mr_mode = FI_MR_VIRT_ADDR | FI_MR_LOCAL | FI_MR_PROV_KEY},
        {.caps = FI_MSG, .inject = 64},
        {.caps = FI_MSG | FI_TAGGED, .inject = 64, .entries = 16, .tag_format = UINT64_MAX}};
    gw_settings_load();
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    CHECK_EQ(type_init(), GW_OK);
    for (size_t i = 0; i < GW_ARRAY_LEN(kinds); i++) {
        kind = &kinds[i];
        int before = wires_n_atomics;
        wires_conform(&rig);
        CHECK_EQ(wires_n_atomics > before, (kinds[i].caps & FI_ATOMIC) != 0);
    }
    type_finalize();
    return unit_end();
}
