/* tcp_munge_test.c -- credentials of a munged of this test's own: made, checked, refused.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_tcp/tcp_munge.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit.h"
#include "base/settings.h"

#if __has_include(<munge.h>)
#include <munge.h>
#define IS(fn, type) _Static_assert(_Generic(&(fn), type : 1, default : 0), #fn)
IS(munge_encode, munge_err_t (*)(char **, munge_ctx_t, const void *, int));
IS(munge_decode, munge_err_t (*)(const char *, munge_ctx_t, void **, int *, uid_t *, gid_t *));
IS(munge_ctx_create, munge_ctx_t (*)(void));
IS(munge_ctx_destroy, void (*)(munge_ctx_t));
IS(munge_ctx_set, munge_err_t (*)(munge_ctx_t, int, ...));
IS(munge_strerror, const char *(*)(munge_err_t));
_Static_assert(sizeof(munge_err_t) == sizeof(int) && (int)EMUNGE_SUCCESS == 0, "munge.h");
_Static_assert((int)MUNGE_OPT_SOCKET == TCP_MUNGE_OPT_SOCKET && (int)MUNGE_OPT_UID_RESTRICTION == TCP_MUNGE_OPT_UID_RESTRICTION,
               "munge.h");
_Static_assert((int)EMUNGE_SNAFU == TCP_MUNGE_SNAFU && (int)EMUNGE_SOCKET == TCP_MUNGE_SOCKET, "munge.h");
_Static_assert((int)EMUNGE_BAD_CRED == TCP_MUNGE_BAD_CRED && (int)EMUNGE_CRED_INVALID == TCP_MUNGE_CRED_INVALID, "munge.h");
_Static_assert((int)EMUNGE_CRED_EXPIRED == TCP_MUNGE_CRED_EXPIRED && (int)EMUNGE_CRED_REWOUND == TCP_MUNGE_CRED_REWOUND, "munge.h");
_Static_assert((int)EMUNGE_CRED_REPLAYED == TCP_MUNGE_CRED_REPLAYED, "munge.h");
_Static_assert((int)EMUNGE_CRED_UNAUTHORIZED == TCP_MUNGE_CRED_UNAUTHORIZED, "munge.h");
#endif

static char folder[] = "/tmp/godwit-munge-XXXXXX";

static const char *in_folder(int i, const char *name)
{
    static char path[8][128];
    static int at;
    at = (at + 1) % 8;
    snprintf(path[at], sizeof path[at], "%s/%d.%s", folder, i, name);
    return path[at];
}

/* The i-th daemon, with a key of its own.  Its number. */
static pid_t munged_start(int i)
{
    char key[1024];
    FILE *f = fopen(in_folder(i, "key"), "w");
    memset(key, 'a' + i, sizeof key);
    CHECK(f && fwrite(key, sizeof key, 1, f) == 1 && fchmod(fileno(f), 0600) == 0 && fclose(f) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("munged", "munged", "--foreground", "--force", "--key-file", in_folder(i, "key"), "--socket", in_folder(i, "socket"),
               "--pid-file", in_folder(i, "pid"), "--log-file", in_folder(i, "log"), "--seed-file", in_folder(i, "seed"),
               (char *)NULL);
        _exit(127);
    }
    while (access(in_folder(i, "socket"), F_OK) != 0 && waitpid(pid, NULL, WNOHANG) == 0) usleep(10000);
    return pid;
}

static void ask(int i)
{
    static char path[128]; /* in_folder()'s are used again */
    snprintf(path, sizeof path, "%s", in_folder(i, "socket"));
    gw_set.net_munge_socket = path;
}

static void refuses(void)
{
    static const char word[] = "what it holds";
    char text[TCP_MUNGE_TEXT], other[TCP_MUNGE_TEXT], got[TCP_MUNGE_MOST];
    CHECK_EQ(tcp_munge_make(word, sizeof word, text), 0);
    memcpy(other, text, sizeof text);
    CHECK_EQ(tcp_munge_check(text, got, sizeof word), 0);
    CHECK_STR(got, word);
    CHECK_EQ(tcp_munge_check(text, got, sizeof word), TCP_MUNGE_CRED_REPLAYED);
    other[40] = other[40] == 'A' ? 'B' : 'A';
    CHECK(tcp_munge_check(other, got, sizeof word) != 0);
    CHECK_EQ(tcp_munge_make(word, sizeof word, text), 0);
    CHECK_EQ(tcp_munge_check(text, got, sizeof word - 1), TCP_MUNGE_OTHER);
    memset(text, 'M', sizeof text); /* no end */
    CHECK_EQ(tcp_munge_check(text, got, 1), TCP_MUNGE_BAD_CRED);
    memset(text, 0, sizeof text);
    CHECK(tcp_munge_check(text, got, 1) != 0);
    CHECK_EQ(tcp_munge_make(word, sizeof word, text), 0);
    ask(1); /* of another cluster */
    CHECK_EQ(tcp_munge_check(text, got, sizeof word), TCP_MUNGE_CRED_INVALID);
    ask(0);
}

static void other_users(void)
{
    char text[TCP_MUNGE_TEXT] = "", got[TCP_MUNGE_MOST], command[300];
    if (geteuid() != 0) {
        printf("note: who is not root has no other user\n");
        return;
    }
    snprintf(command, sizeof command, "setpriv --reuid 65534 --clear-groups munge --no-input --socket %s", in_folder(0, "socket"));
    FILE *f = popen(command, "r");
    CHECK(f && fgets(text, sizeof text, f) && pclose(f) == 0);
    text[strcspn(text, "\n")] = 0;
    CHECK_EQ(tcp_munge_check(text, got, 0), TCP_MUNGE_USER);
    CHECK(strstr(tcp_munge_why(TCP_MUNGE_USER, "here"), "another user"));
    CHECK_EQ(tcp_munge_make("x", 1, text), 0); /* ours is nobody else's to read */
    pid_t pid = fork();
    if (pid == 0) _exit(setuid(65534) == 0 && tcp_munge_check(text, got, 1) == TCP_MUNGE_CRED_UNAUTHORIZED ? 0 : 1);
    int status = 1;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void)
{
    alarm(100);
    gw_settings_load();
    const char *const before = gw_set.net_munge_socket;
    CHECK(mkdtemp(folder) && chmod(folder, 0755) == 0);
    ask(0);
    CHECK_EQ(tcp_munge_open(), GW_EUNSUPPORTED); /* nobody is there */
    CHECK(strstr(gw_fail_text(), "start munged"));
    pid_t pid[2] = {munged_start(0), munged_start(1)};
    CHECK_EQ(tcp_munge_open(), GW_OK);
    refuses();
    other_users();
    for (int i = 0; i < 2; i++) {
        kill(pid[i], SIGTERM);
        waitpid(pid[i], NULL, 0);
        for (int k = 0; k < 5; k++) unlink(in_folder(i, (const char *[]){"key", "socket", "pid", "log", "seed"}[k]));
        unlink(in_folder(i, "socket.lock"));
    }
    CHECK_EQ(rmdir(folder), 0);
    gw_set.net_munge_socket = before;
    gw_settings_free();
    return unit_end();
}
