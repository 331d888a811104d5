/* stage_test.c -- buffers that the CPU may not touch, staged by layout; MPI_Pack and MPI_Unpack on them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/stage.h"

#include "mem_fake.h"

enum { N = 1000, STRIDE = 3, SPAN = (N - 1) * STRIDE + 1 };
static int host[SPAN];
static int *fake_ints, *fake_packed;
static struct gw_type *every_third;

static void with_gaps(void)
{
    struct type_stage s;
    for (int i = 0; i < SPAN; i++) host[i] = i;
    fake_put(fake_ints, host, sizeof host);
    struct gw_data d = gw_data_of(fake_ints, 1, every_third);
    CHECK_EQ(type_stage_begin(&s, &d), GW_OK);
    int *here = s.data.buf, wrong = 0;
    for (int i = 0; i < SPAN; i += STRIDE) wrong += here[i] != i;
    CHECK_EQ(wrong, 0);
    for (int i = 0; i < SPAN; i++) here[i] = -1;
    fake_put(fake_ints + 1, &(int){77}, sizeof(int)); /* in a gap, meanwhile */
    CHECK_EQ(type_stage_end(&s, GW_OK, true), GW_OK);
    for (int i = 0; i < SPAN; i += STRIDE) host[i] = -1;
    host[1] = 77;
    CHECK(fake_compare(fake_ints, host, sizeof host) == 0);
}

static void read_only(void)
{
    struct type_stage s;
    fake_put(fake_ints, host, sizeof host);
    struct gw_data d = gw_data_of(fake_ints, SPAN, gw_type_int), cpu = gw_data_of(host, SPAN, gw_type_int);
    CHECK_EQ(type_stage_begin(&s, &d), GW_OK);
    CHECK(gw_data_is_run(&s.data) && gw_data_is_cpu(&s.data) && s.data.bytes == sizeof host);
    memset(s.data.buf, 0, sizeof host);
    CHECK_EQ(type_stage_end(&s, GW_EARG, false), GW_EARG);
    CHECK(fake_compare(fake_ints, host, sizeof host) == 0);
    CHECK_EQ(type_stage_begin(&s, &cpu), GW_OK);
    CHECK(s.data.buf == host && !s.memory);
    CHECK_EQ(type_stage_end(&s, GW_OK, true), GW_OK);
}

/* The address is in the datatype (MPI_BOTTOM). */
static void absolute(void)
{
    struct gw_type *there;
    struct type_stage s;
    int64_t at = (int64_t)(uintptr_t)fake_ints, count = 5;
    struct gw_counts one_count = {&count, true}, one_at = {&at, true};
    CHECK_EQ(type_hindexed(1, one_count, one_at, gw_type_int, &there), GW_OK);
    CHECK_EQ(type_commit(&there), GW_OK);
    struct gw_data d = gw_data_of(NULL, 1, there);
    CHECK(!gw_data_is_cpu(&d));
    CHECK_EQ(type_stage_begin(&s, &d), GW_OK);
    int values[5] = {5, 4, 3, 2, 1};
    type_unpack(s.data.buf, 1, there, values);
    CHECK_EQ(type_stage_end(&s, GW_OK, true), GW_OK);
    CHECK(fake_compare(fake_ints, values, sizeof values) == 0);
    CHECK_EQ(type_free(&there), GW_OK);
}

static void packed(void)
{
    int64_t position = sizeof(int), back = sizeof(int);
    static int out[N + 1];
    for (int i = 0; i < SPAN; i++) host[i] = 5 * i;
    fake_put(fake_ints, host, sizeof host);
    CHECK_EQ(type_mpi_pack(fake_ints, 1, every_third, fake_packed, sizeof out, &position), GW_OK);
    CHECK_EQ(position, sizeof out);
    CHECK_EQ(mem_copy(out, fake_packed, sizeof out), GW_OK);
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += out[i + 1] != 5 * i * STRIDE, out[i + 1] = ~i;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(type_mpi_unpack(out, sizeof out, &back, fake_ints, 1, every_third), GW_OK);
    CHECK_EQ(back, sizeof out);
    for (int i = 0; i < N; i++) host[i * STRIDE] = ~i;
    CHECK(fake_compare(fake_ints, host, sizeof host) == 0);
    CHECK_EQ(type_mpi_pack(host, SPAN, gw_type_int, fake_packed, 4, &(int64_t){0}), GW_ETRUNCATE);
}

int main(void)
{
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(mem_add(&fake_driver), 1);
    fake_ints = fake_alloc(sizeof host);
    fake_packed = fake_alloc(sizeof(int) * (N + 1));
    CHECK_EQ(type_vector(N, 1, STRIDE, gw_type_int, &every_third), GW_OK);
    CHECK_EQ(type_commit(&every_third), GW_OK);
    with_gaps();
    read_only();
    absolute();
    packed();
    CHECK_EQ(type_free(&every_third), GW_OK);
    type_finalize();
    return unit_end();
}
