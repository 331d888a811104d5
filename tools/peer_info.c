/* peer_info.c -- `mpichversion` and `ompi_info`: what scripts ask of MPICH and Open MPI by these programs, answered in their lines
 * with the facts of this library.  One program, which goes by the name that it is called by.
 *
 * Where a version of MPICH or Open MPI is asked for, the number is that of the MPI standard, as in our mpich.pc and ompi.pc, and
 * the version of this library stands behind it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/os.h"
#include "base/plain.h"
#include "base/settings.h"
#include "build_info.h"
#include "obj/consts_gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
#define STANDARD   TEXT(GW_VERSION) "." TEXT(GW_SUBVERSION) ".0"
#define OURS       "Godwit " GODWIT_VERSION

static int unknown(const char *program, const char *word)
{
    gw_print(stderr, "%s: Error: unknown option \"%s\"\nType '%s --help' for usage.\n", program, word, program);
    return 1;
}

static bool is_one_of(const char *word, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(word, *names) == 0) return true;
    return false;
}

/* ---- mpichversion ---- */
static const struct line {
    const char *names[4], *label, *value; /* names: of the options that ask for it */
} mpich_lines[] = {
    {{"-v", "-version", "--version"}, "MPICH Version:    ", STANDARD " (" OURS ")"},
    {{"-D", "-date", "--date"}, "MPICH Release date:", "not recorded"},
    {{"-d", "-device", "--device"}, "MPICH Device:    ", "godwit:shm,tcp,ofi"},
    {{"-c", "-configure", "--configure"}, "MPICH configure: ", BUILD_OPTIONS},
    {{"-b", "-compiler", "--compiler"}, "MPICH CC: ", BUILD_CC},
    {{"-b", "-compiler", "--compiler"}, "MPICH CXX: ", BUILD_CXX},
    {{"-b", "-compiler", "--compiler"}, "MPICH F77: ", BUILD_FC},
    {{"-b", "-compiler", "--compiler"}, "MPICH FC: ", BUILD_FC},
    {{"-custom", "--custom"},
     "MPICH Custom Information: ",
     OURS ", MPI standard ABI, libmpi_abi.so.1; its own answers: godwit-info --json"},
};

static int mpichversion(int argc, char **argv)
{
    static const char *const helps[] = {"-h", "-help", "--help", NULL};
    if (argc > 1 && is_one_of(argv[1], helps)) {
        fputs(
            "usage: mpichversion [-v | -D | -d | -c | -b | -custom]...\n"
            "  What MPICH's program of that name prints, of " OURS ".\n"
            "  -v version (the MPI standard's, then ours)  -D date  -d device  -c options of meson setup  -b compilers  -custom the rest\n",
            stdout);
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        bool is_known = false;
        for (size_t k = 0; k < GW_ARRAY_LEN(mpich_lines); k++) is_known |= is_one_of(argv[i], mpich_lines[k].names);
        if (!is_known) return unknown("mpichversion", argv[i]);
    }
    for (size_t k = 0; k < GW_ARRAY_LEN(mpich_lines); k++) {
        bool is_asked = argc == 1;
        for (int i = 1; i < argc; i++) is_asked |= is_one_of(argv[i], mpich_lines[k].names);
        if (is_asked) printf("%s\t%s\n", mpich_lines[k].label, mpich_lines[k].value);
    }
    return 0;
}

/* ---- ompi_info ---- */
static struct {
    bool is_parsable, all;
} how;

/* label for people, key for programs. */
static void say(const char *label, const char *key, const char *value)
{
    if (!how.is_parsable)
        gw_print(stdout, "%24s: %s\n", label, value);
    else if (strchr(value, ':') && strncmp(key, "path:", 5) != 0) /* a value with colons stands in quotes */
        gw_print(stdout, "%s:\"%s\"\n", key, value);
    else
        gw_print(stdout, "%s:%s\n", key, value);
}

/* Where this installation lies now: it may have been moved. */
static char *prefix_now(void)
{
    static const char inside[] = "/" GODWIT_LIBDIR "/godwit";
    char *own = gw_own_folder();
    size_t n = own ? strlen(own) : 0, tail = sizeof inside - 1;
    if (n > tail && strcmp(own + n - tail, inside) == 0) {
        own[n - tail] = 0;
        return own;
    }
    free(own);
    return gw_xasprintf("%s", BUILD_PREFIX);
}

/* A folder of the build below the prefix as it is now. */
static char *folder_now(const char *built)
{
    char *prefix = prefix_now();
    size_t n = strlen(BUILD_PREFIX);
    bool is_below = strncmp(built, BUILD_PREFIX, n) == 0 && (built[n] == '/' || !built[n]);
    char *now = is_below ? gw_xasprintf("%s%s", prefix, built + n) : gw_xasprintf("%s", built);
    free(prefix);
    return now;
}

static const struct {
    const char *key, *label, *built;
} folders[] = {
    {"prefix", "Prefix", BUILD_PREFIX},
    {"exec_prefix", "Exec_prefix", BUILD_PREFIX},
    {"bindir", "Bindir", BUILD_BINDIR},
    {"libdir", "Libdir", BUILD_LIBDIR},
    {"incdir", "Incdir", BUILD_INCLUDEDIR},
    {"mandir", "Mandir", BUILD_MANDIR},
    {"pkglibdir", "Pkglibdir", BUILD_LIBDIR "/godwit"},
    {"datarootdir", "Datarootdir", BUILD_DATADIR},
    {"datadir", "Datadir", BUILD_DATADIR},
    {"pkgdatadir", "Pkgdatadir", BUILD_DATADIR "/godwit"},
    {"pkgincludedir", "Pkgincludedir", BUILD_INCLUDEDIR},
};

/* item: "all", or a key.  false: there is no such folder. */
static bool say_paths(const char *item)
{
    bool is_known = false;
    for (size_t i = 0; i < GW_ARRAY_LEN(folders); i++) {
        if (strcmp(item, "all") != 0 && strcmp(item, folders[i].key) != 0) continue;
        char key[64], *now = folder_now(folders[i].built);
        snprintf(key, sizeof key, "path:%s", folders[i].key);
        say(folders[i].label, key, now);
        free(now);
        is_known = true;
    }
    return is_known;
}

static void say_versions(void)
{
    say("Package", "package", OURS " (not Open MPI; its versions here are those of the MPI standard)");
    say("Open MPI", "ompi:version:full", how.is_parsable ? STANDARD : STANDARD " (" OURS ")");
    say("MPI API", "mpi-api:version:full", STANDARD);
    say("Ident string", "ident", GODWIT_VERSION);
}

static void say_config(void)
{
    static const char none[] = "no";
    const char *cxx = *BUILD_CXX ? "yes" : none, *fortran = *BUILD_FC ? "yes" : none;
    say("Configured architecture", "config:arch", BUILD_MACHINE);
    say("Configure command line", "config:cli", BUILD_OPTIONS);
    say("C bindings", "bindings:c", "yes");
    say("C++ bindings", "bindings:cxx", none);
    say("Fort mpif.h", "bindings:mpif.h", fortran);
    say("Fort use mpi", "bindings:use_mpi", fortran);
    say("Fort use mpi_f08", "bindings:use_mpi_f08", fortran);
    say("Java bindings", "bindings:java", none);
    say("C compiler", "compiler:c:command", BUILD_CC);
    say("C compiler family name", "compiler:c:familyname", strcmp(BUILD_CC_FAMILY, "gcc") == 0 ? "GNU" : BUILD_CC_FAMILY);
    say("C compiler version", "compiler:c:version", BUILD_CC_VERSION);
    if (strcmp(cxx, none) != 0) say("C++ compiler", "compiler:cxx:command", BUILD_CXX);
    if (strcmp(fortran, none) != 0) say("Fort compiler", "compiler:fortran:command", BUILD_FC);
    say("C profiling", "option:profiling:c", "yes");
    say("Fort mpif.h profiling", "option:profiling:mpif.h", fortran);
    say("Thread support", "option:threads", "posix (MPI_THREAD_MULTIPLE: yes)");
    say("Sparse Groups", "option:sparse:groups", none);
    say("Internal debug support", "option:debug", none);
    say("MPI parameter check", "option:mpi-param-check", "runtime");
    say("dl support", "option:dlopen", "yes");
    say("Heterogeneous support", "options:heterogeneous", none);
    say("MPI_WTIME support", "options:mpi-wtime", "native");
    say("IPv6 support", "options:ipv6", "yes");
    say("MPI1 compatibility", "options:mpi1-compatibility", "yes");
    say("MPI extensions", "options:mpi_ext", "none");
    say("MPI_MAX_PROCESSOR_NAME", "options:mpi-max-processor-name", TEXT(GW_MAX_PROCESSOR_NAME));
    say("MPI_MAX_ERROR_STRING", "options:mpi-max-error-string", TEXT(GW_MAX_ERROR_STRING));
    say("MPI_MAX_OBJECT_NAME", "options:mpi-max-object-name", TEXT(GW_MAX_OBJECT_NAME));
    say("MPI_MAX_INFO_KEY", "options:mpi-max-info-key", TEXT(GW_MAX_INFO_KEY));
    say("MPI_MAX_INFO_VAL", "options:mpi-max-info-val", TEXT(GW_MAX_INFO_VAL));
    say("MPI_MAX_PORT_NAME", "options:mpi-max-port-name", TEXT(GW_MAX_PORT_NAME));
    say("MPI_MAX_DATAREP_STRING", "options:mpi-max-datarep-string", TEXT(GW_MAX_DATAREP_STRING));
}

/* What carries messages, and how jobs start, by the names of Open MPI's components that do the same. */
static void say_components(void)
{
    static const char *const components[][2] = {{"btl", "self"}, {"btl", "sm"},    {"btl", "tcp"},
                                                {"mtl", "ofi"},  {"pmix", "pmix"}, {"ras", "slurm"}};
    for (size_t i = 0; i < GW_ARRAY_LEN(components); i++) {
        char label[32], key[64], value[64];
        snprintf(label, sizeof label, "MCA %s", components[i][0]);
        snprintf(key, sizeof key, "mca:%s:%s:version", components[i][0], components[i][1]);
        if (how.is_parsable)
            snprintf(value, sizeof value, "component:%s", GODWIT_VERSION);
        else
            snprintf(value, sizeof value, "%s (" OURS ")", components[i][1]);
        say(label, key, value);
    }
}

/* ---- parameters: settings that are read by a name of Open MPI's, and what it is asked for most ---- */
struct parameter {
    char framework[32], component[32];
    const char *name, *value, *source, *type, *help;
};

static void say_parameter(const struct parameter *p)
{
    char label[80];
    if (how.is_parsable) {
        const char *const parts[][2] = {{"value", p->value}, {"source", p->source}, {"type", p->type}, {"help", p->help}};
        for (size_t i = 0; i < GW_ARRAY_LEN(parts); i++)
            gw_print(stdout, "mca:%s:%s:param:%s:%s:%s\n", p->framework, p->component, p->name, parts[i][0], parts[i][1]);
        return;
    }
    snprintf(label, sizeof label, "MCA %s %s", p->framework, p->component);
    gw_print(stdout, "%24s: parameter \"%s\" (current value: \"%s\", data source: %s, type: %s)\n%26s%s\n", label, p->name,
             p->value, p->source, p->type, "", p->help);
}

static void say_fact(const char *name, const char *help)
{
    say_parameter(&(struct parameter){"mpi", "base", name, "false", "default", "bool", help});
}

/* "mtl_ofi_tag_mode" is of framework mtl, component ofi; of one word before the rest, as "mpi_add_procs_cutoff", the component is
 * base. */
static void parameter_split(struct parameter *p)
{
    static const char *const with_components[] = {"mtl", "btl", "pml", "pmix", NULL};
    size_t n = strcspn(p->name, "_");
    snprintf(p->framework, sizeof p->framework, "%.*s", (int)n, p->name);
    const char *rest = p->name + n + (p->name[n] == '_');
    bool has = is_one_of(p->framework, with_components);
    snprintf(p->component, sizeof p->component, "%.*s", has ? (int)strcspn(rest, "_") : 4, has ? rest : "base");
}

static void say_setting(int row)
{
    static const char prefix[] = "OMPI_MCA_";
    struct gw_setting_info s;
    char value[512], name[128];
    const char *origin;
    gw_settings_get(row, &s, value, sizeof value, &origin);
    for (const char *p = s.aliases; *p; p += strspn(p, " ")) {
        int n = (int)strcspn(p, " "), skip = (int)sizeof prefix - 1;
        bool is = n > skip && n < (int)sizeof name && strncmp(p, prefix, sizeof prefix - 1) == 0;
        snprintf(name, sizeof name, "%.*s", is ? n - skip : 0, is ? p + skip : "");
        p += n;
        if (!is) continue;
        struct parameter out = {.name = name, .value = value, .source = "default", .type = s.type, .help = s.help};
        if (strcmp(origin, "default") != 0) out.source = s.source ? s.source : "environment";
        parameter_split(&out);
        say_parameter(&out);
    }
}

static void say_parameters(void)
{
    say_fact("mpi_built_with_cuda_support", "Whether CUDA GPU buffer support is built into library or not");
    say_fact("mpi_built_with_rocm_support", "Whether memory of AMD's GPUs may be given to MPI calls");
    say_fact("mpi_cuda_support", "Whether CUDA GPU buffer support is enabled or not");
    for (int i = 0; i < gw_settings_count(); i++) say_setting(i);
}

static int ompi_help(void)
{
    fputs(
        "usage: ompi_info [--parsable] [--all | --config | --path ITEM | --param FRAMEWORK COMPONENT | --version]\n"
        "  What Open MPI's program of that name prints, of " OURS
        ".  Versions of Open MPI are answered with that of the MPI standard.\n"
        "  --parsable, --parseable, --machinereadable: words with colons     --path all | prefix | bindir | libdir | incdir | ...\n"
        "  --all, -a, --param all all: parameters, too (those of Open MPI's names that are settings here; godwit-info has all)\n"
        "  -l LEVEL, --level LEVEL: passed over\n",
        stdout);
    return 0;
}

/* How many words behind it an option takes; -1: it is none. */
static int words_of(const char *option)
{
    static const char *const none[] = {"--parsable",
                                       "--parseable",
                                       "--machinereadable",
                                       "-parsable",
                                       "--all",
                                       "-a",
                                       "--config",
                                       "-c",
                                       "--version",
                                       "-V",
                                       "--help",
                                       "-h",
                                       "--pretty-print",
                                       "--internal",
                                       "--arch",
                                       "--hostname",
                                       "--selected-only",
                                       NULL},
                             *const one[] = {"--path", "-path", "-l", "--level", "--type", NULL},
                             *const two[] = {"--param", "-param", NULL};
    return is_one_of(option, none) ? 0 : is_one_of(option, one) ? 1 : is_one_of(option, two) ? 2 : -1;
}

static int ompi_info(int argc, char **argv)
{
    static const char *const parsable[] = {"--parsable", "--parseable", "--machinereadable", "-parsable", NULL},
                             *const versions[] = {"--version", "-V", NULL}, *const helps[] = {"--help", "-h", NULL},
                             *const all[] = {"--all", "-a", NULL}, *const configs[] = {"--config", "-c", NULL};
    const char *path = NULL, *param = NULL;
    bool config_alone = false;
    for (int i = 1; i < argc; i++) {
        int n = words_of(argv[i]);
        if (n < 0 || i + n >= argc) return unknown("ompi_info", argv[i]);
        if (is_one_of(argv[i], helps)) return ompi_help();
        if (is_one_of(argv[i], versions)) return printf("Open MPI v" STANDARD " (" OURS ")\n\n%s\n", "godwit-info says more") < 0;
        how.is_parsable |= is_one_of(argv[i], parsable);
        how.all |= is_one_of(argv[i], all);
        config_alone |= is_one_of(argv[i], configs);
        if (n == 1 && strstr(argv[i], "path")) path = argv[i + 1];
        if (n == 2) param = argv[i + 1];
        i += n;
    }
    if (path && !say_paths(path)) return unknown("ompi_info", path);
    if (!path && !param && !config_alone) say_versions();
    if (!path && !param && !how.all && !config_alone) say_paths("prefix");
    if (how.all && !path) say_paths("all");
    if ((!path && !param) || config_alone) say_config();
    if (!path && !config_alone) say_components();
    if (param || how.all) say_parameters();
    return 0;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    gw_settings_load();
    int rc = strcmp(name, "mpichversion") == 0 ? mpichversion(argc, argv) : ompi_info(argc, argv);
    gw_settings_free();
    return fflush(stdout) == 0 ? rc : 1;
}
