/* processor.c -- by CPUID; on Arm by MIDR_EL1; else by what the kernel writes of the first core into /proc/cpuinfo.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/processor.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/file.h"

static const char *const feature_words[] = {
#define WORD(name, word) word,
    GW_PROCESSOR_FEATURES(WORD)
#undef WORD
};
#define BIT(name) (1u << GW_PROCESSOR_##name)

#if defined(__x86_64__) || defined(__i386__)
/* In a virtual machine each CPUID goes to the hypervisor and takes 1 to 70 us, so that no question is put twice. */
static struct asked {
    pthread_mutex_t lock;
    int n;
    struct {
        uint32_t leaf, sub, out[4];
    } known[16];
} asked = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void ask(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    for (int i = 0; i < asked.n; i++)
        if (asked.known[i].leaf == leaf && asked.known[i].sub == sub) {
            memcpy(out, asked.known[i].out, sizeof asked.known[i].out);
            return;
        }
    __cpuid_count(leaf, sub, out[0], out[1], out[2], out[3]);
    if (asked.n == GW_ARRAY_LEN(asked.known)) return;
    asked.known[asked.n].leaf = leaf;
    asked.known[asked.n].sub = sub;
    memcpy(asked.known[asked.n++].out, out, sizeof asked.known[0].out);
}

bool gw_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    const uint32_t range = leaf & 0x80000000;
    pthread_mutex_lock(&asked.lock);
    ask(range, 0, out); /* the highest leaf of its range */
    bool has = leaf <= out[0] && leaf - range <= 0xffff;
    if (has && leaf != range) ask(leaf, sub, out);
    pthread_mutex_unlock(&asked.lock);
    return has;
}
#else
bool gw_cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
    (void)leaf, (void)sub, (void)out;
    return false;
}
#endif

/* ---- vendors --------------------------------------------------------------------------------------------------------------------- */
struct vendor {
    const char *says; /* CPUID's word, or Arm's number of the implementer */
    const char *word; /* ours */
};
static const struct vendor x86_vendors[] = {{"GenuineIntel", "intel"},
                                            {"AuthenticAMD", "amd"},
                                            {"HygonGenuine", "hygon"},
                                            {"CentaurHauls", "zhaoxin"},
                                            {"  Shanghai  ", "zhaoxin"}};
static const struct vendor arm_vendors[] = {{"0x41", "arm"},       {"0x42", "broadcom"},  {"0x43", "cavium"},   {"0x46", "fujitsu"},
                                            {"0x48", "hisilicon"}, {"0x4e", "nvidia"},    {"0x51", "qualcomm"}, {"0x53", "samsung"},
                                            {"0x61", "apple"},     {"0x6d", "microsoft"}, {"0xc0", "ampere"}};

/* One that is not listed keeps its own word: letters and digits of it, small. */
static void vendor_take(const char *says, const struct vendor *known, size_t n_known, struct gw_processor *p)
{
    size_t n = 0;
    for (size_t i = 0; i < n_known; i++)
        if (strcmp(says, known[i].says) == 0) {
            snprintf(p->vendor, sizeof p->vendor, "%s", known[i].word);
            return;
        }
    for (; *says && n + 1 < sizeof p->vendor; says++)
        if (isalnum((unsigned char)*says)) p->vendor[n++] = (char)tolower((unsigned char)*says);
    p->vendor[n] = '\0';
}

/* ---- x86 ------------------------------------------------------------------------------------------------------------------------- */
static void x86_features(const struct gw_processor_source *from, struct gw_processor *p)
{
    enum { EBX = 1, ECX, EDX };
    uint32_t r[4];
    if (!from->cpuid(7, 0, r)) return;
    p->features = (r[EBX] >> 5 & 1 ? BIT(AVX2) : 0) | (r[EBX] >> 9 & 1 ? BIT(ERMS) : 0) | (r[EBX] >> 16 & 1 ? BIT(AVX512F) : 0) |
        (r[ECX] >> 28 & 1 ? BIT(MOVDIR64B) : 0) | (r[EDX] >> 4 & 1 ? BIT(FSRM) : 0);
}
static bool read_cpuid(const struct gw_processor_source *from, struct gw_processor *p)
{
    enum { EAX, EBX, ECX, EDX, EXTENDED_FAMILY = 15, INTEL_EXTENDED_MODEL = 6 };
    uint32_t r[4];
    char vendor[13];
    if (!from->cpuid(0, 0, r)) return false;
    memcpy(vendor, &r[EBX], 4), memcpy(vendor + 4, &r[EDX], 4), memcpy(vendor + 8, &r[ECX], 4);
    vendor[12] = '\0';
    if (!from->cpuid(1, 0, r)) return false;
    uint32_t family = r[EAX] >> 8 & 15, model = r[EAX] >> 4 & 15;
    if (family == EXTENDED_FAMILY || family == INTEL_EXTENDED_MODEL) model |= r[EAX] >> 12 & 0xf0;
    if (family == EXTENDED_FAMILY) family += r[EAX] >> 20 & 0xff;
    vendor_take(vendor, x86_vendors, GW_ARRAY_LEN(x86_vendors), p);
    p->family = (int32_t)family, p->model = (int32_t)model;
    x86_features(from, p);
    return p->vendor[0] != '\0';
}

/* ---- Arm ------------------------------------------------------------------------------------------------------------------------- */
static void arm_take(uint32_t implementer, uint32_t family, uint32_t part, uint64_t hwcap, struct gw_processor *p)
{
    enum { ATOMICS = 8, SVE = 22 }; /* bits of AT_HWCAP */
    char says[16];
    snprintf(says, sizeof says, "0x%02x", implementer);
    vendor_take(says, arm_vendors, GW_ARRAY_LEN(arm_vendors), p);
    p->family = (int32_t)family, p->model = (int32_t)part;
    p->features = (hwcap >> ATOMICS & 1 ? BIT(LSE) : 0) | (hwcap >> SVE & 1 ? BIT(SVE) : 0);
}
/* Architecture 15 stands for 8 and later ones, which the register does not tell apart. */
static bool read_midr(const struct gw_processor_source *from, struct gw_processor *p)
{
    char *text = NULL;
    if (!from->midr || gw_file_read(from->midr, 64, true, &text)) return false;
    uint64_t midr = strtoull(text, NULL, 16);
    free(text);
    if (!midr) return false;
    arm_take(midr >> 24 & 0xff, (midr >> 16 & 15) == 15 ? 8 : (uint32_t)(midr >> 16 & 15), midr >> 4 & 0xfff, from->hwcap, p);
    return true;
}

/* ---- /proc/cpuinfo --------------------------------------------------------------------------------------------------------------- */
/* The value of a line "NAME : VALUE" of the first core; false: there is none. */
static bool line_of(const char *path, const char *name, char *to, size_t cap)
{
    char line[4096];
    bool found = false;
    FILE *f = path ? fopen(path, "re") : NULL;
    while (f && !found && fgets(line, sizeof line, f) && *gw_trimmed(line)) {
        char *value = strchr(line, ':');
        if (!value) continue;
        *value++ = '\0';
        found = strcmp(gw_trimmed(line), name) == 0;
        if (found) snprintf(to, cap, "%s", gw_trimmed(value));
    }
    if (f) fclose(f);
    return found;
}
static bool number_of_line(const char *path, const char *name, uint32_t *out)
{
    char text[64];
    if (!line_of(path, name, text, sizeof text) || !isdigit((unsigned char)*text)) return false;
    *out = (uint32_t)strtoul(text, NULL, 0);
    return true;
}
static bool read_cpuinfo(const struct gw_processor_source *from, struct gw_processor *p)
{
    uint32_t family, model, implementer;
    char vendor[64], flags[4096];
    if (number_of_line(from->cpuinfo, "CPU implementer", &implementer) &&
        number_of_line(from->cpuinfo, "CPU architecture", &family) && number_of_line(from->cpuinfo, "CPU part", &model)) {
        arm_take(implementer, family, model, from->hwcap, p);
        return true;
    }
    if (!line_of(from->cpuinfo, "vendor_id", vendor, sizeof vendor) || !number_of_line(from->cpuinfo, "cpu family", &family) ||
        !number_of_line(from->cpuinfo, "model", &model))
        return false;
    vendor_take(vendor, x86_vendors, GW_ARRAY_LEN(x86_vendors), p);
    p->family = (int32_t)family, p->model = (int32_t)model;
    if (line_of(from->cpuinfo, "flags", flags, sizeof flags))
        for (char *rest = flags, *word; (word = strsep(&rest, " "));)
            for (int i = 0; i < GW_PROCESSOR_FEATURE_COUNT; i++) p->features |= strcmp(word, feature_words[i]) == 0 ? 1u << i : 0;
    return p->vendor[0] != '\0';
}

bool gw_processor_read(const struct gw_processor_source *from, struct gw_processor *out)
{
    *out = (struct gw_processor){.features = 0};
    if (read_cpuid(from, out) || read_midr(from, out) || read_cpuinfo(from, out)) return true;
    *out = (struct gw_processor){.features = 0};
    return false;
}

static bool is_arm(void)
{
#if defined(__aarch64__)
    return true;
#else
    return false;
#endif
}
bool gw_processor_here(struct gw_processor *out)
{
    const struct gw_processor_source machine = {.cpuid = gw_cpuid,
                                                .midr = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
                                                .cpuinfo = "/proc/cpuinfo",
                                                .hwcap = is_arm() ? getauxval(AT_HWCAP) : 0};
    return gw_processor_read(&machine, out);
}

char *gw_processor_model_name(char *to, size_t cap)
{
    if (!line_of("/proc/cpuinfo", "model name", to, cap)) *to = '\0';
    return to;
}

/* ---- as text --------------------------------------------------------------------------------------------------------------------- */
/* "/207": ANY where nothing or "/any" stands there; false: it is no number.  *at: behind it. */
static bool part_read(const char **at, int32_t *out)
{
    char *end;
    *out = GW_PROCESSOR_ANY;
    if (**at != '/') return true;
    if (strncmp(*at, "/any", 4) == 0) {
        *at += 4;
        return true;
    }
    if (!isdigit((unsigned char)(*at)[1])) return false;
    unsigned long v = strtoul(*at + 1, &end, 0);
    if (v > 0xffff) return false;
    *out = (int32_t)v;
    *at = end;
    return true;
}

bool gw_processor_parse(const char *text, struct gw_processor *out)
{
    struct gw_processor p = {.features = 0};
    text += strspn(text, " \t");
    size_t n = strcspn(text, "/+ \t\r\n");
    if (n == 0 || n >= sizeof p.vendor) return false;
    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char)text[i])) return false;
        p.vendor[i] = (char)tolower((unsigned char)text[i]);
    }
    text += n;
    if (*text != '/' && *text != '+') return false;
    if (!part_read(&text, &p.family) || !part_read(&text, &p.model)) return false;
    while (*text == '+') {
        int i = 0;
        n = strcspn(++text, "+ \t\r\n");
        while (i < GW_PROCESSOR_FEATURE_COUNT && (strlen(feature_words[i]) != n || strncasecmp(text, feature_words[i], n) != 0))
            i++;
        if (i == GW_PROCESSOR_FEATURE_COUNT) return false;
        p.features |= 1u << i;
        text += n;
    }
    if (text[strspn(text, " \t\r\n")]) return false;
    *out = p;
    return true;
}

enum gw_processor_column gw_processor_column(char **line, struct gw_processor *out)
{
    size_t n = strcspn(*line, "|");
    char cell[GW_PROCESSOR_TEXT];
    if (!(*line)[n] || strcspn(*line, "/+") >= n) return GW_PROCESSOR_NO_COLUMN;
    if (n >= sizeof cell) return GW_PROCESSOR_BAD_COLUMN;
    memcpy(cell, *line, n);
    cell[n] = '\0';
    *line += n + 1;
    *line += strspn(*line, " \t");
    return gw_processor_parse(cell, out) ? GW_PROCESSOR_COLUMN : GW_PROCESSOR_BAD_COLUMN;
}

char *gw_processor_text(const struct gw_processor *p, bool has_features, char *to, size_t cap)
{
    const int32_t parts[] = {p->family, p->model};
    if (!p->vendor[0]) {
        snprintf(to, cap, "none");
        return to;
    }
    bool is_bare = p->family == GW_PROCESSOR_ANY && !p->features;
    size_t at = (size_t)snprintf(to, cap, is_bare ? "%s/any" : "%s", p->vendor);
    for (size_t i = 0; i < GW_ARRAY_LEN(parts) && parts[i] != GW_PROCESSOR_ANY && at < cap; i++)
        at += (size_t)snprintf(to + at, cap - at, parts[i] < 256 ? "/%u" : "/0x%x", (unsigned)parts[i]);
    for (int i = 0; has_features && i < GW_PROCESSOR_FEATURE_COUNT && at < cap; i++)
        if (p->features >> i & 1) at += (size_t)snprintf(to + at, cap - at, "+%s", feature_words[i]);
    return to;
}

bool gw_processor_fits(const struct gw_processor *pattern, const struct gw_processor *p)
{
    if (!p->vendor[0] || (strcmp(pattern->vendor, "any") != 0 && strcmp(pattern->vendor, p->vendor) != 0)) return false;
    if (pattern->family != GW_PROCESSOR_ANY && pattern->family != p->family) return false;
    if (pattern->model != GW_PROCESSOR_ANY && pattern->model != p->model) return false;
    return (pattern->features & ~p->features) == 0;
}

bool gw_processor_of(const char *setting, struct gw_processor *out)
{
    *out = (struct gw_processor){.features = 0};
    if (!setting || !*setting || strcasecmp(setting, "auto") == 0) {
        gw_processor_here(out);
        return true;
    }
    return strcasecmp(setting, "none") == 0 || (gw_processor_parse(setting, out) && strcmp(out->vendor, "any") != 0);
}
