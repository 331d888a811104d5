/* shm_conform_test.c -- shared memory keeps what wire.h promises of every wire.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_shm/shm.h"
#include "base/settings.h"
#include "boot/boot.h"

#include "../../test/wires.h"

static void begin(void) { memset(node_area(0, 0), 0, shm_ops.world.area_bytes(1)); }

int main(void)
{
    static const struct wires_rig rig = {.ops = &shm_ops, .begin = begin};
    setenv("GODWIT_SINGLETON", "1", 1);
    CHECK_EQ(boot_init(), GW_OK);
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(node_init(shm_ops.world.area_bytes(1), 1, true, 65536), GW_OK);
    wires_conform(&rig);
    node_finalize();
    type_finalize();
    boot_finalize();
    gw_settings_free();
    return unit_end();
}
