/* data_test.c -- the two questions that are asked of user data: are they one run, may the CPU touch them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type.h"

#include "mem_fake.h"

static int ints[12];
static struct gw_type *pairs, *late; /* two ints of every three; one int, four bytes behind the address */

static void make_types(void)
{
    int64_t one = 1, at = sizeof(int);
    CHECK_EQ(type_vector(2, 2, 3, gw_type_int, &pairs), GW_OK);
    CHECK_EQ(type_hindexed(1, (struct gw_counts){&one, true}, (struct gw_counts){&at, true}, gw_type_int, &late), GW_OK);
    CHECK_EQ(type_commit(&pairs), GW_OK);
    CHECK_EQ(type_commit(&late), GW_OK);
}

static void runs(void)
{
    struct gw_data whole = gw_data_of(ints, 12, gw_type_int), gaps = gw_data_of(ints, 2, pairs), none = gw_data_of(ints, 0, pairs);
    struct gw_data nowhere = gw_data_of(NULL, 0, gw_type_int), behind = gw_data_of(ints, 1, late);
    CHECK(gw_data_is_run(&whole) && whole.run == (char *)ints && whole.bytes == sizeof ints && whole.buf == ints);
    CHECK(!gw_data_is_run(&gaps) && gaps.bytes == 8 * sizeof(int) && gaps.buf == ints && gaps.count == 2 && gaps.type == pairs);
    CHECK(gw_data_is_run(&none) && none.bytes == 0);
    CHECK(!gw_data_is_run(&nowhere) && nowhere.bytes == 0);
    CHECK(gw_data_is_run(&behind) && behind.run == (char *)&ints[1] && behind.buf == ints && behind.bytes == sizeof(int));
    struct gw_data plain = gw_data_plain(ints, 12, gw_type_int);
    CHECK(plain.run == whole.run && plain.buf == whole.buf && plain.bytes == whole.bytes && plain.kind == whole.kind &&
          plain.device == whole.device);
}

/* Runs and cursors are the same whether a run is known or walked to. */
static void cursors(void)
{
    struct type_cursor c;
    int from[12], to[3] = {0};
    for (int i = 0; i < 12; i++) from[i] = i;
    type_cursor_init(&c, gw_data_host(from, 1, late));
    CHECK_EQ(type_cursor_pack(&c, to, sizeof to), sizeof(int));
    CHECK(to[0] == 1 && to[1] == 0 && c.pos == sizeof(int));
    type_cursor_init(&c, gw_data_host(from, 2, pairs));
    type_cursor_seek(&c, 3 * sizeof(int));
    CHECK_EQ(type_cursor_pack(&c, to, sizeof to), sizeof to);
    CHECK(to[0] == 4 && to[1] == 5 && to[2] == 6);
}

/* By where the data of the first item begin, not by the address. */
static void kinds(int fake_kind)
{
    int *theirs = fake_alloc(sizeof ints);
    struct gw_data host = gw_data_of(ints, 12, gw_type_int), device = gw_data_of(theirs, 12, gw_type_int);
    CHECK(gw_data_is_cpu(&host) && host.kind == MEM_HOST && host.device == 0);
    CHECK(!gw_data_is_cpu(&device) && device.kind == fake_kind && device.device == 3 && gw_data_is_run(&device));
    struct gw_data behind = gw_data_of(theirs - 1, 1, late), gaps = gw_data_of(theirs, 2, pairs);
    CHECK(!gw_data_is_cpu(&behind) && behind.run == (char *)theirs);
    CHECK(!gw_data_is_cpu(&gaps) && !gw_data_is_run(&gaps));
    struct gw_data in_place = gw_data_of(GW_IN_PLACE, 1, gw_type_int), known = gw_data_host(theirs, 1, gw_type_int);
    CHECK(gw_data_is_cpu(&in_place) && gw_data_is_cpu(&known));
    fake_free(theirs);
}

int main(void)
{
    CHECK_EQ(type_init(), GW_OK);
    make_types();
    runs();
    cursors();
    kinds(mem_add(&fake_driver));
    runs();
    CHECK_EQ(type_free(&pairs), GW_OK);
    CHECK_EQ(type_free(&late), GW_OK);
    type_finalize();
    return unit_end();
}
