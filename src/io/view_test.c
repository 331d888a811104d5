/* view_test.c -- files of one rank: views of random types against a plain model of the file, pointers and offsets, short reads at the end,
 * modes that forbid, and two-phase access of one rank; the file's bytes are read back without the room.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/one_rank.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "io/io_private.h"

#include "unit.h"

enum { FILE_BYTES = 4000 };
static char dir[] = "/tmp/godwit_view_XXXXXX", path[64];
static char model[FILE_BYTES], disk[FILE_BYTES];
static struct gw_comm *const self = &gw_comm_world;

static uint64_t state = 4711;
static int rnd(int n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)((state >> 11) % (uint64_t)n);
}

static bool is_as_modelled(void)
{
    int fd = open(path, O_RDONLY);
    memset(disk, 0, sizeof disk);
    ssize_t n = read(fd, disk, sizeof disk);
    close(fd);
    return n >= 0 && memcmp(disk, model, sizeof model) == 0;
}

static struct gw_file *open_it(int amode)
{
    struct gw_file *f = NULL;
    must(io_open(self, path, amode, NULL, &f));
    return f;
}

/* A filetype of `n` blocks of `len` etypes, `step` apart; etypes of `unit` bytes.  Access `count` etypes from `offset`. */
static void tile(struct gw_file *f, int how, int unit, int n, int len, int step, int disp, int offset, int count)
{
    struct gw_type *etype, *ft;
    struct gw_status st = {0};
    int64_t at = -1, position = -1;
    static char data[FILE_BYTES];
    must(type_contiguous(unit, gw_type_byte, &etype));
    must(type_commit(&etype));
    must(type_vector(n, len, step, etype, &ft));
    must(type_commit(&ft));
    int per_tile = n * len, extent = ((n - 1) * step + len) * unit;
    CHECK_EQ(io_set_view(f, disp, etype, ft, "native", NULL), GW_OK);
    bool writes = how & IO_WRITE;
    for (int i = 0; i < count * unit; i++) data[i] = (char)(writes ? rnd(256) : 0);
    if (how & IO_OWN) CHECK_EQ(io_seek(f, offset, GW_SEEK_SET), GW_OK);
    CHECK_EQ(io_access(f, how, offset, data, count * unit, gw_type_byte, &st, NULL), GW_OK);
    CHECK_EQ(gw_status_bytes(&st), (int64_t)count * unit);
    bool is_right = true;
    for (int i = 0; i < count; i++) { /* element `offset + i` of the view, by hand */
        int e = offset + i, in_tile = e % per_tile;
        int where = disp + e / per_tile * extent + (in_tile / len * step + in_tile % len) * unit;
        if (writes) memcpy(model + where, data + i * unit, (size_t)unit);
        is_right = is_right && memcmp(model + where, data + i * unit, (size_t)unit) == 0;
        if (i == 0) CHECK(io_get_byte_offset(f, e, &at) == GW_OK && at == where);
    }
    CHECK(is_right);
    if (how & IO_OWN) CHECK(io_get_position(f, &position) == GW_OK && position == offset + count);
    type_release(ft), type_release(etype);
}

static void views(void)
{
    static const int ways[] = {IO_AT, IO_OWN, IO_AT | IO_ALL, IO_OWN | IO_ALL};
    struct gw_file *f = open_it(GW_MODE_RDWR | GW_MODE_CREATE);
    CHECK_EQ(io_set_size(f, FILE_BYTES), GW_OK);
    for (int trial = 0; trial < 400 && unit_failures < 5; trial++) {
        int unit = 1 + rnd(8), n = 1 + rnd(4), len = 1 + rnd(3), step = len + rnd(4), disp = rnd(100), offset = rnd(20),
            count = 1 + rnd(40);
        int end = disp + (offset + count + n * len) / (n * len) * ((n - 1) * step + len) * unit + step * unit;
        if (end > FILE_BYTES) continue;
        tile(f, ways[rnd(4)] | (trial % 2 ? IO_READ : IO_WRITE), unit, n, len, step, disp, offset, count);
        if (trial % 20 == 0) CHECK(is_as_modelled());
    }
    CHECK(is_as_modelled());
    CHECK_EQ(io_close(&f), GW_OK);
    CHECK(!f);
}

static void pointers(void)
{
    struct gw_file *f = open_it(GW_MODE_RDWR);
    struct gw_status st;
    struct gw_req *r = NULL;
    char byte[16];
    int64_t size = -1, at = -1;
    CHECK(io_get_size(f, &size) == GW_OK && size == FILE_BYTES);
    CHECK(io_seek(f, -3, GW_SEEK_END) == GW_OK && io_get_position(f, &at) == GW_OK && at == FILE_BYTES - 3);
    CHECK(io_access(f, IO_READ | IO_OWN, 0, byte, 10, gw_type_byte, &st, NULL) == GW_OK && gw_status_bytes(&st) == 3); /* the end */
    CHECK(memcmp(byte, model + FILE_BYTES - 3, 3) == 0);
    CHECK(io_seek(f, -FILE_BYTES - 1, GW_SEEK_END) < 0 && io_seek(f, 0, 4711) < 0);
    CHECK(io_seek(f, 5, GW_SEEK_SET) == GW_OK && io_seek(f, 2, GW_SEEK_CUR) == GW_OK && io_get_position(f, &at) == GW_OK &&
          at == 7);
    CHECK(io_seek_shared(f, 11, GW_SEEK_SET) == GW_OK);
    CHECK(io_access(f, IO_READ | IO_SHARED, 0, byte, 4, gw_type_byte, &st, NULL) == GW_OK && memcmp(byte, model + 11, 4) == 0);
    CHECK(io_get_position_shared(f, &at) == GW_OK && at == 15 && io_get_position(f, &at) == GW_OK && at == 7);
    CHECK(io_access(f, IO_READ | IO_AT, 20, byte, 4, gw_type_byte, NULL, &r) == GW_OK && req_wait(&r, &st) == GW_OK);
    CHECK(gw_status_bytes(&st) == 4 && memcmp(byte, model + 20, 4) == 0);
    CHECK(io_begin(f, IO_READ | IO_AT | IO_ALL, 30, byte, 4, gw_type_byte) == GW_OK);
    CHECK(io_begin(f, IO_READ | IO_AT | IO_ALL, 30, byte, 4, gw_type_byte) < 0); /* one at a time */
    CHECK(io_end(f, IO_READ | IO_AT | IO_ALL, &st) == GW_OK && gw_status_bytes(&st) == 4 && memcmp(byte, model + 30, 4) == 0);
    CHECK_EQ(io_close(&f), GW_OK);
}

static void forbidden(void)
{
    struct gw_file *f = NULL;
    char byte = 1;
    CHECK_EQ(io_open(self, path, GW_MODE_RDONLY | GW_MODE_CREATE, NULL, &f), GW_EAMODE);
    CHECK_EQ(io_open(self, path, GW_MODE_RDWR | GW_MODE_CREATE | GW_MODE_EXCL, NULL, &f), GW_EFILEEXISTS);
    CHECK_EQ(io_open(self, "/tmp/godwit_no_such_file", GW_MODE_RDONLY, NULL, &f), GW_ENOSUCHFILE);
    CHECK(!f && strstr(gw_fail_text(), "/tmp/godwit_no_such_file"));
    f = open_it(GW_MODE_RDONLY);
    CHECK_EQ(io_access(f, IO_WRITE | IO_AT, 0, &byte, 1, gw_type_byte, NULL, NULL), GW_EREADONLY);
    CHECK(io_set_size(f, 1) < 0 && is_as_modelled());
    CHECK_EQ(io_close(&f), GW_OK);
    f = open_it(GW_MODE_WRONLY | GW_MODE_APPEND);
    int64_t at = -1;
    CHECK(io_get_position(f, &at) == GW_OK && at == FILE_BYTES);
    CHECK(io_access(f, IO_READ | IO_AT, 0, &byte, 1, gw_type_byte, NULL, NULL) < 0);
    CHECK_EQ(io_close(&f), GW_OK);
    f = open_it(GW_MODE_RDWR | GW_MODE_DELETE_ON_CLOSE);
    CHECK(io_close(&f) == GW_OK && access(path, F_OK) != 0);
    CHECK_EQ(io_delete(path, NULL), GW_ENOSUCHFILE);
}

int main(void)
{
    rooms_up();
    io_init();
    if (!mkdtemp(dir)) gw_die("no folder for the test");
    snprintf(path, sizeof path, "%s/file", dir);
    views();
    pointers();
    forbidden();
    io_finalize();
    CHECK_EQ(rmdir(dir), 0);
    return unit_end();
}
