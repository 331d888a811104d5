/* main.c -- mpiexec from its start to its end.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"
#include "boot/port.h"
#include "boot/segment.h"
#include "doctor/doctor.h"
#include "engine/engine.h"
#include "launch/gdb.h"
#include "verdict/stack.h"

/* Opens descriptors 0 to 2 on /dev/null where they were closed, so that no file of mpiexec gets their numbers. */
static void standard_open(void)
{
    int fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2) {
        launch_output_closed(fd);
        fd = dup(fd);
    }
    if (fd > 2) close(fd);
}

/* "-": standard output, "+": standard error, else a file; 0, or the exit status after an explanation. */
static int pid_report(const char *where)
{
    struct gw_new_file f;
    bool ours = strcmp(where, "-") == 0 || strcmp(where, "+") == 0;
    int rc = 0;
    if (ours) {
        rc = dprintf(where[0] == '-' ? STDOUT_FILENO : STDERR_FILENO, "%d\n", (int)getpid()) < 0 ? errno : 0;
    } else if ((rc = gw_file_create(where, &f)) == 0) {
        fprintf(f.to, "%d\n", (int)getpid());
        rc = gw_file_finish(&f);
    }
    if (rc) say_line("--report-pid %s: %s", where, gw_file_why(rc));
    return rc ? EXIT_CANNOT_RUN : 0;
}

/* Options that act before ranks start.  Returns 0 to go on, else 1 + the exit status. */
static int before_start(const struct job *j)
{
    char tuned[1024];
    if (j->o.verbose) bind_print(&j->bind, j->n);
    if (j->o.verbose && gw_tuned_text(tuned, sizeof tuned)) say_line("tuning file: %s", tuned);
    if (j->o.show_map) bind_show(&j->o, &j->bind, j->host);
    int rc = j->o.report_pid ? pid_report(j->o.report_pid) : 0;
    return rc || j->o.no_launch ? 1 + rc : 0;
}

/* What wraps MPI calls has none to tell of, or to keep: no rank has made one. */
static void wrapper_note(const struct job *j)
{
    bool is_idle = true;
    for (int i = 0; i < j->n; i++) {
        if (atomic_load_explicit(&job_slot(j, i)->in_shmem, memory_order_relaxed)) return;
        is_idle &= atomic_load_explicit(&job_slot(j, i)->phase, memory_order_relaxed) == BOOT_NEW;
    }
    if (!is_idle) return;
    say_line("%s: %s did not call MPI_Init of this library, so %s", j->o.wrapper->option, j->o.apps[0].argv[0],
             j->o.wrapper->if_idle);
}

/* A wrapper that does not wait for what it starts: the rank has ended with it, before that called MPI, and without a word nobody would know. */
static void orphan_note(const struct job *j)
{
    char name[16];
    bool has_new = false;
    for (int i = 0; i < j->n; i++) has_new |= atomic_load_explicit(&job_slot(j, i)->phase, memory_order_relaxed) == BOOT_NEW;
    pid_t pid = has_new ? child_orphan(name) : 0;
    bool is_helper = pid && (strcmp(name, "orted") == 0 || strcmp(name, "prted") == 0); /* Open MPI's, of a program that is alone */
    if (pid && !is_helper)
        say_line(
            "%s (pid %d), which a rank has left running, ends now: a rank ends with the program that mpiexec started, and that "
            "must wait for what it starts",
            name, (int)pid);
}

/* "--stack" or "--stack=JOB", as all options with one dash or two */
static bool is_stack(const char *word)
{
    const char *name = word + (strncmp(word, "--", 2) == 0 ? 2 : 1);
    return word[0] == '-' && strncmp(name, "stack", 5) == 0 && (!name[5] || name[5] == '=');
}

int main(int argc, char **argv)
{
    struct job j = {.memfd = -1, .control = {.fd = -1, .listener = -1, .timer = -1}, .parent_fd = -1, .pmi = -1, .room = -1};
    standard_open();
    child_size_signal_ignore();
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, the kernel would reap children itself */
    if (argc > 1 && strcmp(argv[1], "doctor") == 0) return doctor_main(argc - 1, argv + 1);
    if (argc > 1 && is_stack(argv[1])) return stack_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "--gdb-window") == 0) return launch_gdb_window_main(argc - 1, argv + 1);
    unsetenv(BOOT_PARENT); /* it is for ranks of the job around this mpiexec */
    bool is_spawned = argc == 3 && strcmp(argv[1], "--spawned") == 0, is_agent = argc == 2 && strcmp(argv[1], "--agent") == 0;
    int rc = is_spawned ? spawned_begin(argv[2], &j) : is_agent ? launch_agent_begin(&j) : launch_options_parse(argc, argv, &j.o);
    if (rc >= 0) {
        launch_options_free(&j.o);
        spawned_free();
        return rc;
    }
    char why[320];
    if (is_spawned ? j.elsewhere[0] != 0 : !is_agent && engine_is_needed(&j.o, why, sizeof why)) {
        rc = is_spawned ? engine_run(&j.o, j.elsewhere, &j) : engine_run(&j.o, why, NULL);
        if (rc == ENGINE_IS_OURS) rc = launch_home(&j);
        if (rc >= 0) {
            launch_options_free(&j.o);
            spawned_free();
            return rc;
        }
        elsewhere_stay(&j);
    }
    gw_tuned_take(); /* all ranks run here */
    j.n = j.o.n_ranks;
    if (gethostname(j.host, sizeof j.host - 1) < 0) j.host[0] = 0;
    bind_make(&j.o, &j.bind);
    int before = before_start(&j);
    if (before) {
        if (is_agent) launch_agent_end(&j, before - 1);
        bind_free(&j.bind, j.n);
        launch_options_free(&j.o);
        return before - 1;
    }
    connected_open();
    child_orphans_adopt();
    rc = launch_gdb_start(&j);
    if (rc == 0) rc = launch_spawn_all(&j);
    bool is_started = rc == 0;
    if (is_spawned) {
        rc = spawned_started(&j, rc) ? spawned_end(&j, launch_watch(&j)) : 0;
        j.failed = 0;
    } else if (rc == 0) {
        rc = launch_watch(&j);
        if (rc && !j.o.gdb) j.failed = doctor_kind(&j, rc);
        if (j.o.wrapper) wrapper_note(&j);
        foreign_say(&j);
    }
    launch_gdb_end();
    if (j.failed) doctor_after(j.failed, &j);
    pmix_stop();
    pmi_stop(&j);
    keeper_stop(&j);
    if (rc == 0 && is_started && !is_spawned && !j.ending) orphan_note(&j);
    child_orphans_end(!is_started || j.ending);
    if (is_agent) launch_agent_end(&j, rc);
    launch_output_free();
    launch_spawn_free(&j);
    bind_free(&j.bind, j.n);
    launch_options_free(&j.o);
    spawned_free();
    gw_settings_free();
    return rc;
}
