/* errclass_test.c -- error classes, codes and texts that users add.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "obj/obj.h"

#include <malloc.h>

#include "../../test/unit.h"

static int last_used(void)
{
    struct gw_obj comm = {.kind = GW_KIND_COMM};
    struct gw_attrs none = {0};
    void *value;
    int flag = 0;
    CHECK_EQ(gw_attr_get(&none, &comm, GW_LASTUSEDCODE, &value, &flag), GW_OK);
    return flag ? *(int *)value : -1;
}

/* Programs that add and remove in a loop: half a million pairs would take minutes if each took time in all that there ever were. */
static void many_pairs(void)
{
    enum { PAIRS = 500000 };
    int kept, code, class, more, found;
    CHECK_EQ(gw_errclass_add(&kept), GW_OK);
    CHECK_EQ(gw_errcode_add(kept, &code), GW_OK);
    for (int i = 0; i < PAIRS; i++) {
        CHECK_EQ(gw_errclass_add(&class), GW_OK);
        if (i % 2) CHECK_EQ(gw_errcode_add(class, &more), GW_OK);
        if (i % 2 && i < 1000) CHECK_EQ(gw_errclass_remove(class), GW_EARG);
        if (i % 2) CHECK_EQ(gw_errcode_remove(more), GW_OK);
        CHECK_EQ(gw_errclass_remove(class), GW_OK);
    }
    CHECK(!gw_errcode_find(class, &found));
    CHECK_EQ(gw_errclass_remove(kept), GW_EARG);
    CHECK(strstr(gw_fail_text(), "still has the code"));
    CHECK_EQ(gw_errcode_remove(code), GW_OK);
    CHECK_EQ(gw_errclass_remove(kept), GW_OK);
}

/* Of sanitizers' libraries: what is allocated and not freed; there the C library counts nothing. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t in_use(void)
{
    if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* What is removed costs no memory, in whatever order; what stays keeps its number and text. */
static void test_memory(void)
{
    enum { MANY = 20000 };
    static int class[MANY], code[MANY];
    char text[GW_MAX_ERROR_STRING];
    int found;
    CHECK_EQ(gw_errclass_add(&class[0]), GW_OK);
    CHECK_EQ(gw_errstring_add(class[0], "kept"), GW_OK);
    size_t before = in_use(), most = 0;
    for (int turn = 0; turn < 10; turn++) {
        for (int i = 1; i < MANY; i++) {
            CHECK_EQ(gw_errclass_add(&class[i]), GW_OK);
            CHECK_EQ(gw_errcode_add(class[i], &code[i]), GW_OK);
        }
        if (turn == 0) most = in_use();
        for (int k = 1; k < MANY; k++) {
            int i = turn % 2 ? MANY - k : k;
            CHECK(gw_errcode_find(code[i], &found) && found == class[i]);
            CHECK_EQ(gw_errcode_remove(code[i]), GW_OK);
            CHECK_EQ(gw_errclass_remove(class[i]), GW_OK);
            CHECK(!gw_errcode_find(code[i], &found) && !gw_errcode_find(class[i], &found));
        }
    }
    CHECK(most > before + 1000000 && in_use() < before + 16384);
    CHECK(gw_errstring_find(class[0], text));
    CHECK_STR(text, "kept");
    CHECK_EQ(gw_errstring_remove(class[0]), GW_OK);
    CHECK_EQ(gw_errclass_remove(class[0]), GW_OK);
}

static void test_core_classes(void)
{
    CHECK_EQ(gw_error_class(GW_EBUFFER), GW_ERR_BUFFER);
    CHECK_EQ(gw_error_class(GW_ESESSION), GW_ERR_SESSION);
    CHECK_EQ(gw_error_class(GW_OK), 0);
    CHECK_EQ(gw_error_class(-1), GW_ERR_UNKNOWN);
    CHECK_EQ(gw_error_class(GW_ELAST_), GW_ERR_UNKNOWN);
}

int main(void)
{
    test_core_classes();
    test_memory();
    int class, code, code2, found;
    char text[GW_MAX_ERROR_STRING], long_text[2 * GW_MAX_ERROR_STRING];
    gw_attr_predefined_set(GW_LASTUSEDCODE, GW_ERR_LASTCODE);
    CHECK_EQ(gw_errclass_add(&class), GW_OK);
    CHECK(class > GW_ERR_LASTCODE);
    CHECK_EQ(last_used(), class);
    CHECK_EQ(gw_errcode_add(class, &code), GW_OK);
    CHECK_EQ(gw_errcode_add(GW_ERR_ARG, &code2), GW_OK);
    CHECK_EQ(last_used(), code2);
    CHECK_EQ(gw_errcode_add(code, &found), GW_EARG); /* a code is no class */
    CHECK_EQ(gw_errcode_add(-1, &found), GW_EARG);
    CHECK(gw_errcode_find(code, &found) && found == class);
    CHECK(gw_errcode_find(code2, &found) && found == GW_ERR_ARG);
    CHECK(gw_errcode_find(class, &found) && found == class);
    CHECK(!gw_errcode_find(GW_ERR_ARG, &found));
    CHECK(!gw_errcode_find(code2 + 1, &found));
    CHECK(!gw_errstring_find(code, text));
    CHECK_EQ(gw_errstring_add(code, "the pump is dry"), GW_OK);
    CHECK(gw_errstring_find(code, text));
    CHECK_STR(text, "the pump is dry");
    CHECK_EQ(gw_errstring_add(GW_ERR_ARG, "mine"), GW_EARG);
    CHECK_EQ(gw_errstring_add(code, NULL), GW_EARG);
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    CHECK_EQ(gw_errstring_add(code2, long_text), GW_OK);
    CHECK(gw_errstring_find(code2, text));
    CHECK_EQ(strlen(text), GW_MAX_ERROR_STRING - 1);
    CHECK_EQ(gw_errclass_remove(class), GW_EARG); /* has a code */
    CHECK_EQ(gw_errcode_remove(code), GW_EARG);   /* has a text */
    CHECK_EQ(gw_errstring_remove(code), GW_OK);
    CHECK_EQ(gw_errstring_remove(code), GW_EARG);
    CHECK_EQ(gw_errcode_remove(code), GW_OK);
    CHECK_EQ(gw_errcode_remove(code), GW_EARG);
    CHECK(!gw_errcode_find(code, &found));
    CHECK_EQ(gw_errcode_remove(class), GW_EARG);
    CHECK_EQ(gw_errclass_remove(class), GW_OK);
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(gw_errclass_add(&class), GW_OK);
        CHECK_EQ(class, code2 + 1 + i); /* numbers are not used again */
    }
    many_pairs();
    CHECK_EQ(gw_errclass_add(&class), GW_OK);
    gw_obj_finalize();
    CHECK(gw_errcode_find(class, &found) && found == class && gw_errcode_last() == class); /* usable to the very end */
    return unit_end();
}
