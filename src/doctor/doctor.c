/* doctor.c -- the command `mpiexec doctor`: the table of checks and their printing; the checks themselves are in doctor_*.c.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "base/json.h"
#include "base/plain.h"
#include "base/settings.h"
#include "boot/segment.h"
#include "job/job.h"
#include "job/program.h"

/* Ids are what programs go by, in --json and schemas: they stay. */
static const struct check {
    const char *id, *what;
    check_fn *fn;
    unsigned after;
} checks[] = {
    {"godwit", "Godwit", doctor_check_godwit, 0},
    {"library", "library", doctor_check_library, 0},
    {"settings", "settings", doctor_check_settings, 0},
    {"tuning", "tuning file", doctor_check_tuning, 0},
    {"program", "program", doctor_check_program, AFTER_EXEC},
    {"path", "PATH", doctor_check_path, 0},
    {"loader_path", "loader path", doctor_check_loader_path, AFTER_EXEC},
    {"pmix", "PMIx", doctor_check_pmix, 0},
    {"batch_system", "batch system", doctor_check_batch, 0},
    {"container", "container", doctor_check_container, 0},
    {"virtual_machine", "virtual machine", doctor_check_virtual, 0},
    {"shared_memory", "shared memory", doctor_check_memfd, AFTER_MEMORY},
    {"memory", "memory", doctor_check_memory, AFTER_MEMORY | AFTER_PROCESSES},
    {"dev_shm", "/dev/shm", doctor_check_dev_shm, 0},
    {"stale_files", "stale files", doctor_check_stale, 0},
    {"direct_copies", "direct copies", doctor_check_cma, 0},
    {"guards", "guards", doctor_check_security, 0},
    {"cores", "cores", doctor_check_cores, 0},
    {"cpu_quota", "CPU quota", doctor_check_quota, 0},
    {"numa", "NUMA nodes", doctor_check_numa, 0},
    {"load", "load", doctor_check_load, 0},
    {"clock", "clock", doctor_check_clock, 0},
    {"clock_rate", "clock rate", doctor_check_governor, 0},
    {"huge_pages", "huge pages", doctor_check_huge_pages, 0},
    {"open_files", "open files", doctor_check_files, AFTER_PROCESSES},
    {"processes", "processes", doctor_check_processes, AFTER_PROCESSES},
    {"locked_memory", "locked memory", doctor_check_memlock, 0},
    {"other_limits", "other limits", doctor_check_limits, AFTER_MEMORY},
    {"temporary_folder", "temporary folder", doctor_check_tmp, 0},
    {"home_folder", "home folder", doctor_check_home, 0},
    {"interfaces", "interfaces", doctor_check_interfaces, 0},
    {"network", "network", doctor_check_network, 0},
    {"other_hosts", "other hosts", doctor_check_other_hosts, 0},
    {"host_name", "host name", doctor_check_host, 0},
    {"rdma", "RDMA devices", doctor_check_rdma, 0},
    {"slingshot", "Slingshot devices", doctor_check_slingshot, 0},
    {"nvidia_gpus", "NVIDIA GPUs", doctor_check_nvidia, 0},
    {"amd_gpus", "AMD GPUs", doctor_check_amd, 0},
};

static const char help[] = "usage: mpiexec doctor [--json] [-n RANKS] [PROGRAM]\n"
                           "\n"
                           "Looks at what on this machine helps or hinders MPI jobs, and changes nothing.  A line for each check:\n"
                           "  ok        as it should be\n"
                           "  note      jobs run, but slower or with less than could be; the next line says what to do\n"
                           "  problem   jobs fail or go wrong; the next line says what to do\n"
                           "\n"
                           "  -n RANKS  how many ranks are to run (default: one per core)\n"
                           "  PROGRAM   also: whether it can be started, and which MPI library it loads\n"
                           "  --json    the same for programs: PREFIX/share/godwit/schema/doctor.json says what stands there\n"
                           "  --help\n"
                           "\n"
                           "The exit status is 0 where there is no problem, else 1.\n"
                           "A program of this name is started by mpiexec -n N doctor, or ./doctor.\n";

void doctor_answer_add(struct answer *a, const char *fmt, ...)
{
    char text[sizeof a->value];
    size_t n = strlen(a->value);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    gw_plain(a->value + n, sizeof a->value - n, text, 0);
}

void doctor_answer_raise(struct answer *a, enum finding is, const char *fmt, ...)
{
    assert(is <= FINDING_PROBLEM);
    char text[sizeof a->todo];
    va_list ap;
    if (is <= a->is) return;
    a->is = is;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    gw_plain(a->todo, sizeof a->todo, text, 0);
}

static void answer_json(struct gw_json *j, const struct check *c, const struct answer *a)
{
    static const char *const verdicts[] = {"ok", "warn", "fail"};
    gw_json_object(j, NULL);
    gw_json_text(j, "id", c->id);
    gw_json_text(j, "title", c->what);
    gw_json_text(j, "verdict", verdicts[a->is]);
    gw_json_text(j, "text", a->value);
    gw_json_text(j, "todo", a->is == FINDING_OK ? "" : a->todo);
    gw_json_close(j);
}

static void answer_print(FILE *to, const char *what, const struct answer *a)
{
    assert(a->is <= FINDING_PROBLEM);
    static const char *const words[] = {"ok", "note", "problem"};
    gw_print(to, "%-8s %s: %s\n", words[a->is], what, a->value);
    if (a->is != FINDING_OK) gw_print(to, "         %s\n", a->todo);
}

static int usage(const char *text, const char *word)
{
    gw_print(stderr, "mpiexec: doctor: %s%s; `mpiexec doctor --help` says more\n", text, word);
    return EXIT_USAGE;
}

/* Reads the arguments.  Returns -1 to go on, else the exit status. */
static int parse(int argc, char **argv, struct machine *m, bool *json_out)
{
    static const char *const known[] = {"--help", "--json", "-n"};
    for (int i = 1; i < argc && !m->program; i++) {
        char *end;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--json") == 0) {
            *json_out = true;
        } else if (strcmp(argv[i], "-n") == 0 || strcmp(argv[i], "-np") == 0) {
            long n = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
            if (n < 1 || n > MAX_RANKS || *end) return usage("-n wants a number of ranks behind it", "");
            m->ranks = (int)n;
            i++;
        } else if (argv[i][0] == '-') {
            const char *near = gw_nearest(argv[i], known, GW_ARRAY_LEN(known));
            gw_print(stderr, "mpiexec: doctor: unknown option %s%s%s%s; `mpiexec doctor --help` lists them\n", argv[i],
                     near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
            return EXIT_USAGE;
        } else {
            m->program = argv[i]; /* what follows are its arguments */
        }
    }
    return -1;
}

static void json_begin(struct gw_json *j, const struct machine *m)
{
    gw_json_begin(j, stdout);
    gw_json_text(j, "schema", "godwit-doctor-1");
    gw_json_text(j, "godwit", GODWIT_VERSION);
    gw_json_text(j, "host", m->host);
    gw_json_int(j, "ranks", m->ranks);
    gw_json_text(j, "program", m->program);
    gw_json_array(j, "findings");
}

static bool json_end(struct gw_json *j, const int *counts)
{
    gw_json_close(j);
    gw_json_object(j, "counts");
    gw_json_int(j, "ok", counts[FINDING_OK]);
    gw_json_int(j, "warn", counts[FINDING_NOTE]);
    gw_json_int(j, "fail", counts[FINDING_PROBLEM]);
    gw_json_close(j);
    return gw_json_end(j);
}

int doctor_main(int argc, char **argv)
{
    struct machine m = {0};
    struct gw_json j;
    bool is_json = false;
    int counts[FINDING_PROBLEM + 1] = {0}, rc = parse(argc, argv, &m, &is_json);
    if (rc >= 0) return rc;
    gw_tuned_take(); /* as a job on this host would */
    doctor_machine_look(&m, WHEN_ASKED);
    if (is_json) json_begin(&j, &m);
    for (size_t i = 0; i < GW_ARRAY_LEN(checks); i++) {
        struct answer a = {FINDING_OK, "", ""};
        checks[i].fn(&m, &a);
        if (!*a.value) continue;
        if (is_json)
            answer_json(&j, &checks[i], &a);
        else
            answer_print(stdout, checks[i].what, &a);
        counts[a.is]++;
        fflush(stdout);
    }
    int problems = counts[FINDING_PROBLEM], notes = counts[FINDING_NOTE];
    bool is_written = !is_json || json_end(&j, counts);
    if (!is_json) gw_print(stdout, "%d problem%s, %d note%s\n", problems, problems == 1 ? "" : "s", notes, notes == 1 ? "" : "s");
    doctor_machine_free(&m);
    return problems || !is_written ? 1 : 0;
}

/* A shell and the dynamic loader end with 127 where they find something missing. */
unsigned doctor_kind(const struct job *j, int status)
{
    static const int broken[] = {EXIT_NOT_FOUND, 128 + SIGSEGV, 128 + SIGBUS, 128 + SIGILL, 128 + SIGABRT, 128 + SIGFPE};
    unsigned kind = status == 1 ? AFTER_MEMORY : 0; /* the status of a rank that could not get its segment */
    for (size_t i = 0; i < GW_ARRAY_LEN(broken); i++)
        if (status == broken[i]) kind = AFTER_EXEC;
    for (int i = 0; i < j->n; i++)
        if (atomic_load_explicit(&job_slot(j, i)->phase, memory_order_relaxed) > BOOT_INIT) return 0;
    return kind;
}

/* Has mpiexec reported already that the program does not exist or cannot be executed? */
static bool explained(const struct launch_app *a)
{
    char *path = program_find(a->argv[0], a->wdir);
    bool is = !path || access(path, X_OK) < 0;
    free(path);
    return is;
}

void doctor_after(unsigned when, const struct job *j)
{
    struct machine m = {.ranks = j->n, .set = {&j->o.env, NULL}};
    doctor_machine_look(&m, when);
    for (size_t i = 0; i < GW_ARRAY_LEN(checks); i++) {
        if (!(checks[i].after & when)) continue;
        for (int app = 0; app < (checks[i].fn == doctor_check_program ? j->o.n_apps : 1); app++) {
            const struct launch_app *a = &j->o.apps[app];
            struct answer answer = {FINDING_OK, "", ""};
            if (checks[i].fn == doctor_check_program && explained(a)) continue;
            m.program = a->argv[0];
            m.wdir = a->wdir;
            m.set[1] = &a->env;
            checks[i].fn(&m, &answer);
            if (answer.is == FINDING_PROBLEM) answer_print(stderr, checks[i].what, &answer);
        }
    }
    doctor_machine_free(&m);
}

const char *doctor_meant(const char *word)
{
    static const char *const commands[] = {"doctor"};
    return gw_nearest(word, commands, GW_ARRAY_LEN(commands));
}
