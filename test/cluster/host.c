/* host.c -- the helper of `cluster`: a host is a process (its init) with namespaces of its own.
 *
 *   host make NAME          makes a host, prints the pid of its init, and stays until its own parent is gone
 *   host delay US A B...    wires the TAP devices eth0 of the process A and port of our own: see relay()
 *   host serve              forwards remote shells that are started inside a host: a host cannot enter another one
 *   on HOST COMMAND...      runs COMMAND there: signals, exit status and working directory as if it ran here
 *   rsh [-x] HOST WORDS...  passes the words to a shell there as a remote shell does: a clean environment, its home, and nothing
 *                           that happens to us ends what was started
 * The last two are this program under another name; $CLUSTER/HOST.pid holds the pid of the init, and HOST.cores, where there is such
 * a file, the first of the cores that are the host's own and how many they are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
    fprintf(stderr, "cluster: %s: %s\n", what, strerror(errno));
    exit(125);
}

/* ---- a host ---------------------------------------------------------------------------------------------------------- */
static void lo_up(void)
{
    struct ifreq r = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    if (s < 0 || ioctl(s, SIOCSIFFLAGS, &r) < 0) die("loopback");
    close(s);
}

static void host_dress(const char *name)
{
    if (sethostname(name, strlen(name)) < 0) die("sethostname");
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) die("mount /");
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) die("mount /proc");
    if (mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777,size=4g") < 0) die("mount /dev/shm");
    if (mount("tmpfs", "/run", "tmpfs", 0, "mode=755") < 0) die("mount /run");
    if (mkdir("/run/tmp", 01777) < 0 || chmod("/run/tmp", 01777) < 0) die("/run/tmp");
    lo_up();
}

static int host_make(const char *name)
{
    int up[2];
    char word = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (pipe(up) < 0 || unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWPID) < 0) die("unshare");
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        host_dress(name);
        if (write(up[1], "u", 1) != 1) die("pipe");
        for (int fd = 0; fd < 16; fd++) close(fd);
        signal(SIGCHLD, SIG_IGN); /* the orphans of this host leave nothing */
        for (;;) pause();
    }
    close(up[1]);
    if (read(up[0], &word, 1) != 1) return 125; /* it has said why */
    printf("%d\n", (int)pid);
    fflush(stdout);
    fclose(stdout);
    for (;;) pause();
}

static void enter_name(int proc, const char *name, int kind)
{
    int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, kind) < 0) die(name);
    close(fd);
}

static void take_cores(const char *host)
{
    char path[512];
    int first, n;
    cpu_set_t set;
    snprintf(path, sizeof path, "%s/%s.cores", getenv("CLUSTER") ? getenv("CLUSTER") : "", host);
    FILE *f = fopen(path, "re");
    if (!f) return;
    CPU_ZERO(&set);
    if (fscanf(f, "%d %d", &first, &n) != 2) die(path);
    for (int i = first; i < first + n; i++) CPU_SET(i, &set);
    if (sched_setaffinity(0, sizeof set, &set) < 0) die("cores");
    fclose(f);
}

static void enter(const char *host)
{
    char path[512], pid[32] = "";
    snprintf(path, sizeof path, "%s/%s.pid", getenv("CLUSTER") ? getenv("CLUSTER") : "", host);
    FILE *f = fopen(path, "re");
    if (!f || !fgets(pid, sizeof pid, f)) die(host);
    fclose(f);
    take_cores(host);
    pid[strcspn(pid, "\n")] = 0;
    /* Pids are those of the cluster's outermost namespace, whose /proc is kept here for those who stand inside a host. */
    snprintf(path, sizeof path, "%s/proc/%s/ns", getenv("CLUSTER"), pid);
    int proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0) die(path);
    enter_name(proc, "net", CLONE_NEWNET);
    enter_name(proc, "uts", CLONE_NEWUTS);
    enter_name(proc, "ipc", CLONE_NEWIPC);
    enter_name(proc, "pid", CLONE_NEWPID);
    enter_name(proc, "mnt", CLONE_NEWNS); /* last: the others are looked up here */
    close(proc);
}

/* What a terminal sends goes to the whole foreground group, so only what somebody sent to us alone is passed on. */
static int wait_for(pid_t pid, const sigset_t *signals)
{
    int status;
    for (;;) {
        siginfo_t si;
        int sig = sigwaitinfo(signals, &si);
        if (sig < 0) continue;
        if (sig != SIGCHLD) {
            if (si.si_code <= 0) kill(pid, sig);
            continue;
        }
        if (waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
}

static int on(char **argv)
{
    char here[4096];
    sigset_t signals, before;
    if (!argv[0] || !argv[1]) return fputs("usage: on HOST COMMAND...\n", stderr), 2;
    if (!getcwd(here, sizeof here)) snprintf(here, sizeof here, "/");
    sigemptyset(&signals);
    for (const int *s = (const int[]){SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD, 0}; *s; s++)
        sigaddset(&signals, *s);
    sigprocmask(SIG_BLOCK, &signals, &before);
    enter(argv[0]);
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (chdir(here) < 0 && chdir("/") < 0) die(here);
        execvp(argv[1], argv + 1);
        fprintf(stderr, "on %s: %s: %s\n", argv[0], argv[1], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    return wait_for(pid, &signals);
}

static char *joined(char **words)
{
    size_t n = 1;
    for (char **w = words; *w; w++) n += strlen(*w) + 1;
    char *text = calloc(n, 1);
    if (!text) die("memory");
    for (char **w = words; *w; w++) strcat(strcat(text, *w), w[1] ? " " : "");
    return text;
}

/* ---- a remote shell from one host to another: by `host serve`, which stands outside of all -------------------------------------- */
static struct sockaddr_un serve_at(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%.90s/rsh", getenv("CLUSTER") ? getenv("CLUSTER") : "");
    return at;
}

static int is_inside(void)
{
    char path[512];
    struct stat own, outermost;
    snprintf(path, sizeof path, "%s/proc/1/ns/pid", getenv("CLUSTER") ? getenv("CLUSTER") : "");
    return stat("/proc/self/ns/pid", &own) == 0 && stat(path, &outermost) == 0 && own.st_ino != outermost.st_ino;
}

enum { ASK_BYTES = 128 << 10 };
union rights {
    struct cmsghdr head;
    char room[CMSG_SPACE(3 * sizeof(int))];
};

/* The host, the words, and our three descriptors; the answer is the exit status. */
static int rsh_ask(const char *host, const char *words)
{
    struct sockaddr_un at = serve_at();
    unsigned char status = 255;
    union rights r = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(3 * sizeof(int))}};
    struct iovec v[] = {{(void *)host, strlen(host) + 1}, {(void *)words, strlen(words) + 1}};
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 2, .msg_control = r.room, .msg_controllen = sizeof r.room};
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    memcpy(CMSG_DATA(&r.head), (int[]){0, 1, 2}, 3 * sizeof(int));
    if (s < 0 || connect(s, (struct sockaddr *)&at, sizeof at) < 0 || sendmsg(s, &m, 0) < 0) die("rsh");
    close(0);
    close(1);
    return recv(s, &status, 1, 0) == 1 ? status : 255;
}

static int rsh(char **argv);

static void rsh_serve(int s)
{
    static char text[ASK_BYTES];
    union rights r;
    struct iovec v = {text, sizeof text - 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = r.room, .msg_controllen = sizeof r.room};
    int fds[3], status;
    ssize_t n = recvmsg(s, &m, MSG_CMSG_CLOEXEC);
    if (n <= 0 || m.msg_controllen < CMSG_LEN(sizeof fds)) return;
    memcpy(fds, CMSG_DATA(&r.head), sizeof fds);
    signal(SIGCHLD, SIG_DFL);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 3; i++) dup2(fds[i], i);
        _exit(rsh((char *[]){text, text + strlen(text) + 1, NULL}));
    }
    for (int i = 0; i < 3; i++) close(fds[i]);
    while (waitpid(pid, &status, 0) != pid) continue;
    unsigned char code = WIFEXITED(status) ? (unsigned char)WEXITSTATUS(status) : 255;
    if (send(s, &code, 1, MSG_NOSIGNAL) < 0) {} /* the client may be gone */
}

static int serve(void)
{
    struct sockaddr_un at = serve_at();
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (s < 0 || bind(s, (struct sockaddr *)&at, sizeof at) < 0 || listen(s, 64) < 0) die("rsh");
    signal(SIGCHLD, SIG_IGN);
    puts("up");
    fclose(stdout);
    for (;;) {
        int one = accept4(s, NULL, NULL, SOCK_CLOEXEC);
        if (one >= 0 && fork() == 0) {
            rsh_serve(one);
            _exit(0);
        }
        if (one >= 0) close(one);
    }
}

static int rsh(char **argv)
{
    static const char *const kept[] = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "CLUSTER"};
    char *env[16], **e = env, *home = getenv("HOME");
    int status;
    while (argv[0] && argv[0][0] == '-') argv++; /* what a remote shell knows, such as -x: no matter */
    if (!argv[0] || !argv[1]) return fputs("usage: rsh HOST COMMAND...\n", stderr), 2;
    if (is_inside()) return rsh_ask(argv[0], joined(argv + 1));
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (getenv(kept[i]) && asprintf(e++, "%s=%s", kept[i], getenv(kept[i])) < 0) die("memory");
    *e++ = "TMPDIR=/run/tmp";
    *e = NULL;
    enter(argv[0]);
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        setsid();
        if ((!home || chdir(home) < 0) && chdir("/") < 0) die("chdir");
        execve("/bin/sh", (char *[]){"sh", "-c", joined(argv + 1), NULL}, env);
        die("/bin/sh");
    }
    while (waitpid(pid, &status, 0) != pid) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* ---- delay: frames of a pair of TAP devices are forwarded later ---------------------------------------------------- */
enum { QUEUE = 4096, FRAME = 1600 };
struct frame {
    uint64_t due;
    ssize_t bytes;
    char data[FRAME];
};
struct way {
    int from, to;
    struct frame *queue;
    unsigned in, out;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int tap_open(const char *name)
{
    struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &r) < 0) die("/dev/net/tun");
    return fd;
}

static int tap_open_in(const char *pid, const char *name)
{
    char path[64];
    int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    int there = open(path, O_RDONLY | O_CLOEXEC);
    if (own < 0 || there < 0 || setns(there, CLONE_NEWNET) < 0) die(path);
    int fd = tap_open(name);
    if (setns(own, CLONE_NEWNET) < 0) die("setns");
    close(there);
    close(own);
    return fd;
}

static void take(struct way *w, uint64_t delay)
{
    while (w->in - w->out < QUEUE) { /* a full queue drops in the device, as a switch does */
        struct frame *f = &w->queue[w->in % QUEUE];
        f->bytes = read(w->from, f->data, sizeof f->data);
        if (f->bytes <= 0) return;
        f->due = now_ns() + delay;
        w->in++;
    }
}

/* Hands over what is due; ns when the next is, or 0. */
static uint64_t give(struct way *w)
{
    for (; w->in != w->out; w->out++) {
        struct frame *f = &w->queue[w->out % QUEUE];
        if (f->due > now_ns()) return f->due;
        if (write(w->to, f->data, (size_t)f->bytes) < 0 && errno == EAGAIN) return now_ns() + 100000;
    }
    return 0;
}

/* host delay US PID PORT...: for each pair the device eth0 of that process and PORT here, both ways late by US microseconds. */
static int relay(uint64_t delay, char **pairs, int n)
{
    struct way *ways = calloc((size_t)n * 2, sizeof *ways);
    struct pollfd *p = calloc((size_t)n * 2 + 1, sizeof *p);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (!ways || !p || timer < 0) die("delay");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < n; i++) {
        int a = tap_open_in(pairs[2 * i], "eth0"), b = tap_open(pairs[2 * i + 1]);
        ways[2 * i] = (struct way){.from = a, .to = b};
        ways[2 * i + 1] = (struct way){.from = b, .to = a};
    }
    for (int i = 0; i < 2 * n; i++) {
        ways[i].queue = calloc(QUEUE, sizeof *ways[i].queue);
        if (!ways[i].queue) die("delay");
        p[i] = (struct pollfd){.fd = ways[i].from, .events = POLLIN};
    }
    p[2 * n] = (struct pollfd){.fd = timer, .events = POLLIN};
    puts("up");
    fclose(stdout);
    for (;;) {
        uint64_t next = 0, ticks;
        for (int i = 0; i < 2 * n; i++) {
            uint64_t due = give(&ways[i]);
            if (due && (!next || due < next)) next = due;
            p[i].events = ways[i].in - ways[i].out < QUEUE ? POLLIN : 0;
        }
        struct itimerspec at = {.it_value = {.tv_sec = (time_t)(next / 1000000000u), .tv_nsec = (long)(next % 1000000000u)}};
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
        if (poll(p, (nfds_t)(2 * n + 1), -1) < 0 && errno != EINTR) die("poll");
        if (p[2 * n].revents && read(timer, &ticks, sizeof ticks) < 0 && errno != EAGAIN) die("timer");
        for (int i = 0; i < 2 * n; i++)
            if (p[i].revents & POLLIN) take(&ways[i], delay);
    }
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    if (strcmp(name, "on") == 0) return on(argv + 1);
    if (strcmp(name, "rsh") == 0) return rsh(argv + 1);
    if (argc == 2 && strcmp(argv[1], "serve") == 0) return serve();
    if (argc == 3 && strcmp(argv[1], "make") == 0) return host_make(argv[2]);
    if (argc >= 5 && strcmp(argv[1], "delay") == 0) return relay(strtoull(argv[2], NULL, 10) * 1000, argv + 3, (argc - 3) / 2);
    fputs("host: make NAME | serve | delay US PID PORT...\n", stderr);
    return 2;
}
