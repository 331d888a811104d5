/* processor_test.c -- processors by CPUID, by Arm's register and by /proc/cpuinfo, as recorded machines have them; patterns.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "base/processor.h"
#include "base/settings.h"

#include "../../test/unit.h"

/* ---- machines ---- */
static const struct {
    const char *vendor;
    uint32_t signature, ebx7, ecx7, edx7; /* of leaves 1 and 7 */
} * cpu;
static const typeof(*cpu) sapphire_rapids = {"GenuineIntel", 0xc06f2, 1u << 5 | 1u << 9 | 1u << 16, 1u << 28, 1u << 4},
                          zen3 = {"AuthenticAMD", 0xa20f10, 1u << 5 | 1u << 9, 0, 0},
                          zen5 = {"AuthenticAMD", 0xb00f21, 1u << 5 | 1u << 9 | 1u << 16, 0, 1u << 4},
                          core2 = {"GenuineIntel", 0x6f6, 0, 0, 0}, other = {"Some-Maker 1", 0x501, 0, 0, 0};
static bool cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    (void)sub;
    if (!cpu || (leaf != 0 && leaf != 1 && leaf != 7)) return false;
    memset(out, 0, 4 * sizeof *out);
    if (leaf == 1) out[0] = cpu->signature;
    if (leaf == 7) out[1] = cpu->ebx7, out[2] = cpu->ecx7, out[3] = cpu->edx7;
    if (leaf == 0) memcpy(&out[1], cpu->vendor, 4), memcpy(&out[3], cpu->vendor + 4, 4), memcpy(&out[2], cpu->vendor + 8, 4);
    return true;
}

static const char *text_of(const struct gw_processor_source *from)
{
    static char text[GW_PROCESSOR_TEXT];
    struct gw_processor p;
    return gw_processor_read(from, &p) ? gw_processor_text(&p, true, text, sizeof text) : "not known";
}
static const char *file_of(char *path, const char *text)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
    return path;
}

static void by_cpuid(void)
{
    struct gw_processor_source from = {.cpuid = cpuid};
    cpu = &sapphire_rapids;
    CHECK_STR(text_of(&from), "intel/6/207+avx2+avx512f+erms+fsrm+movdir64b");
    cpu = &zen3;
    CHECK_STR(text_of(&from), "amd/25/33+avx2+erms");
    cpu = &zen5;
    CHECK_STR(text_of(&from), "amd/26/2+avx2+avx512f+erms+fsrm");
    cpu = &core2;
    CHECK_STR(text_of(&from), "intel/6/15");
    cpu = &other;
    CHECK_STR(text_of(&from), "somemaker1/5/0");
    cpu = NULL;
    CHECK_STR(text_of(&from), "not known");
}

static void by_files(void)
{
    char midr[] = "/tmp/processor_test.XXXXXX", arm[] = "/tmp/processor_test.XXXXXX", x86[] = "/tmp/processor_test.XXXXXX",
         power[] = "/tmp/processor_test.XXXXXX";
    cpu = NULL;
    struct gw_processor_source from = {.cpuid = cpuid, .hwcap = 1u << 8 | 1u << 22};
    from.midr = file_of(midr, "0x00000000410fd4f0\n");
    CHECK_STR(text_of(&from), "arm/8/0xd4f+lse+sve");
    from.midr = "/nonexistent", from.hwcap = 1u << 8;
    from.cpuinfo = file_of(arm,
                           "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: 0xc0\nCPU architecture: 8\n"
                           "CPU variant\t: 0x0\nCPU part\t: 0xac3\nCPU revision\t: 0\n\nprocessor\t: 1\nCPU part\t: 0xd0c\n");
    CHECK_STR(text_of(&from), "ampere/8/0xac3+lse");
    from.hwcap = 0;
    from.cpuinfo =
        file_of(x86,
                "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\n"
                "flags\t\t: fpu avx avx2 erms fsrm\n\n");
    CHECK_STR(text_of(&from), "amd/25/1+avx2+erms+fsrm");
    from.cpuinfo = file_of(power, "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800MHz\n\n");
    CHECK_STR(text_of(&from), "not known");
    unlink(midr), unlink(arm), unlink(x86), unlink(power);
}

/* ---- patterns ---- */
static bool names(const char *pattern, const char *processor)
{
    struct gw_processor a, b;
    CHECK(gw_processor_parse(pattern, &a) && gw_processor_parse(processor, &b));
    return gw_processor_fits(&a, &b);
}
static void patterns(void)
{
    struct gw_processor p;
    char text[GW_PROCESSOR_TEXT];
    static const char *const wrong[] = {"",     "amd",     "intel/x",  "intel/6/",      "intel/6/207/1",      "intel/6+",
                                        "/6/1", "amd+vsx", "in-tel/6", "intel/6/99999", "a234567890123456/1", "amd/25 1"};
    for (size_t i = 0; i < GW_ARRAY_LEN(wrong); i++) CHECK(!gw_processor_parse(wrong[i], &p));
    static const char *const same[] = {"intel/6/207", "amd/25", "amd/any", "any+avx512f", "arm/8/0xd4f+lse+sve"};
    for (size_t i = 0; i < GW_ARRAY_LEN(same); i++) {
        CHECK(gw_processor_parse(same[i], &p));
        CHECK_STR(gw_processor_text(&p, true, text, sizeof text), same[i]);
    }
    CHECK(gw_processor_parse("  Intel/6/0xCF+AVX2 ", &p));
    CHECK_STR(gw_processor_text(&p, true, text, sizeof text), "intel/6/207+avx2");
    CHECK_STR(gw_processor_text(&p, false, text, sizeof text), "intel/6/207");
    CHECK(names("intel/6/207", "intel/6/207+avx2") && names("intel/6", "intel/6/85") && names("intel/any", "intel/6/85"));
    CHECK(!names("intel/6/207", "intel/6/143") && !names("intel/6", "intel/15/6") && !names("intel/any", "amd/26/2"));
    CHECK(names("any+avx512f", "amd/26/2+avx2+avx512f") && !names("any+avx512f", "amd/25/1+avx2"));
    CHECK(!names("amd/26+fsrm", "amd/26/2+erms") && names("amd/26+erms", "amd/26/2+erms+fsrm"));
    CHECK(gw_processor_of("none", &p) && !p.vendor[0] && !gw_processor_of("any+sve", &p) && !gw_processor_of("Xeon", &p));
    struct gw_processor all = {.vendor = "any", .family = GW_PROCESSOR_ANY, .model = GW_PROCESSOR_ANY};
    CHECK(gw_processor_of("none", &p) && !gw_processor_fits(&all, &p));
    CHECK_STR(gw_processor_text(&p, true, text, sizeof text), "none");
    CHECK(gw_processor_of("AUTO", &p));
}

static void columns(void)
{
    static char rows[][64] = {"intel/6/207 | bcast | 2..", "bcast | 2.. | 1/2", "amd/x | bcast", "any+avx2|GODWIT_EAGER_MAX=8K",
                              "GODWIT_X=a/b"};
    static const struct {
        enum gw_processor_column is;
        const char *rest;
    } want[] = {{GW_PROCESSOR_COLUMN, "bcast | 2.."},
                {GW_PROCESSOR_NO_COLUMN, "bcast | 2.. | 1/2"},
                {GW_PROCESSOR_BAD_COLUMN, "bcast"},
                {GW_PROCESSOR_COLUMN, "GODWIT_EAGER_MAX=8K"},
                {GW_PROCESSOR_NO_COLUMN, "GODWIT_X=a/b"}};
    for (size_t i = 0; i < GW_ARRAY_LEN(want); i++) {
        struct gw_processor p;
        char *line = rows[i];
        CHECK_EQ(gw_processor_column(&line, &p), want[i].is);
        CHECK_STR(line, want[i].rest);
    }
}

/* A threshold for a processor counts on that one alone. */
static void thresholds(void)
{
    char path[] = "/tmp/processor_test.XXXXXX", text[1024];
    setenv("GODWIT_TUNE",
           file_of(path,
                   "amd/26/2 | GODWIT_EAGER_MAX=4K\nintel/6 | GODWIT_EAGER_MAX=16K\namd/26/2 | bcast | 2..2 | - | binomial | -\n"),
           1);
    static const struct {
        const char *processor;
        int64_t eager_max;
        const char *told;
    } are[] = {{"amd/26/2", 4096,
                ": 1 row for collectives, 1 threshold of messages; 1 for another processor (intel/6), which does not count here"},
               {"intel/6/207", 16384,
                ": 0 rows for collectives, 1 threshold of messages; 2 for another processor (amd/26/2), which do not count here"},
               {"none", 0,
                ": 0 rows for collectives, 0 thresholds of messages; 3 for another processor (amd/26/2), which do not count here"},
               {"NONE", 0,
                ": 0 rows for collectives, 0 thresholds of messages; 3 for another processor (amd/26/2), which do not count here"}};
    unsetenv("GODWIT_EAGER_MAX");
    gw_settings_free();
    unsetenv("GODWIT_TUNE");
    gw_settings_load();
    int64_t usual = gw_set.eager_max;
    setenv("GODWIT_TUNE", path, 1);
    for (size_t i = 0; i < GW_ARRAY_LEN(are); i++) {
        setenv("GODWIT_PROCESSOR", are[i].processor, 1);
        gw_settings_free();
        gw_settings_load();
        CHECK_EQ(gw_set.eager_max, are[i].eager_max ? are[i].eager_max : usual);
        CHECK(gw_tuned_text(text, sizeof text) && strstr(text, are[i].told) && !strstr(text, are[i].told)[strlen(are[i].told)]);
    }
    gw_settings_free();
    unlink(path);
}

int main(void)
{
    struct gw_processor here, again;
    by_cpuid();
    by_files();
    patterns();
    columns();
    thresholds();
    CHECK_EQ(gw_processor_here(&here), gw_processor_here(&again));
    CHECK(memcmp(&here, &again, sizeof here) == 0);
    return unit_end();
}
