/* file_test.c -- memory of other processes is refused with a reason before it is mapped, whatever is in it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "boot/world.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit.h"

enum { RANKS = 4, BYTES = 1 << 20 };

static struct boot_head good(void)
{
    struct boot_head h = {.magic = BOOT_MAGIC, .version = GODWIT_SHM_VERSION, .nlocal = RANKS, .size = RANKS, .uid = 42};
    h.ranks_offset = BOOT_RANKS_OFFSET;
    h.shm_offset = boot_shm_offset(RANKS);
    h.bytes = BYTES;
    return h;
}

static int file(const struct boot_head *h, off_t bytes, bool is_sealed)
{
    int fd = memfd_create("godwit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(fd >= 0 && ftruncate(fd, bytes) == 0 && pwrite(fd, h, sizeof *h, 0) == (ssize_t)sizeof *h);
    if (is_sealed) CHECK_EQ(boot_file_seal(fd, false), 0);
    return fd;
}

/* words: what is said of it; "": it is mapped. */
static void expect_at(int pid, int fd, const char *words)
{
    struct boot_home home = {42, pid, fd};
    struct boot_head h;
    uint64_t bytes = 0;
    char *base = NULL;
    gw_fail_clear();
    int rc = boot_other_map(&home, &h, &base, &bytes);
    CHECK_EQ(rc == GW_OK, !*words);
    if (*words && !strstr(gw_fail_text(), words)) {
        unit_failures++;
        fprintf(stderr, "it said \"%s\", without \"%s\"\n", gw_fail_text(), words);
    }
    if (rc != GW_OK) return;
    CHECK(bytes == BYTES && h.nlocal == RANKS && h.uid == 42);
    base[BYTES - 1] = 1;
    boot_other_unmap(base, bytes);
}

static void expect(const struct boot_head *h, const char *words)
{
    int fd = file(h, BYTES, true);
    expect_at(getpid(), fd, words);
    close(fd);
}

static void test_numbers(void)
{
    static const int32_t counts[] = {0, -1, INT32_MIN, INT32_MAX, RANKS * 4096};
    static const uint64_t offsets[] = {UINT64_MAX, UINT64_MAX - 63, INT64_MAX, UINT64_C(1) << 63, BYTES + 64, BYTES * 2, 1};
    struct boot_head h = good();
    expect(&h, "");
    for (size_t i = 0; i < GW_ARRAY_LEN(counts); i++) {
        h = good(), h.nlocal = h.size = counts[i];
        expect(&h, "it is damaged");
        h = good(), h.nlocal = counts[i];
        expect(&h, "it is damaged");
    }
    for (size_t i = 0; i < GW_ARRAY_LEN(offsets); i++) {
        h = good(), h.ranks_offset = offsets[i];
        expect(&h, "it is damaged");
        h = good(), h.shm_offset = offsets[i];
        expect(&h, "it is damaged");
        h = good(), h.map_offset = offsets[i];
        expect(&h, "it is damaged");
    }
    h = good(), h.ranks_offset = BYTES - 128;
    expect(&h, "it is damaged");
    h = good(), h.map_offset = BYTES - 4; /* room for one of four */
    expect(&h, "it is damaged");
    h = good(), h.size = INT32_MAX, h.map_offset = h.shm_offset;
    expect(&h, "it is damaged");
    h = good(), h.first_rank = -1;
    expect(&h, "it is damaged");
    h = good(), h.uid = 43;
    expect(&h, "it is of another job");
    h = good(), h.version++;
    expect(&h, "another version");
    h = good(), h.magic++;
    expect(&h, "it is something else");
}

static void test_kinds(void)
{
    struct boot_head h = good();
    int pipes[2], fd = file(&h, BYTES, false);
    expect_at(getpid(), fd, "it could be shortened");
    CHECK_EQ(boot_file_seal(fd, true), 0);
    expect_at(getpid(), fd, "");
    CHECK(ftruncate(fd, 4096) == -1 && errno == EPERM);
    close(fd);
    fd = file(&h, (off_t)sizeof h, true);
    expect_at(getpid(), fd, "it is damaged"); /* it claims to be larger */
    close(fd);
    fd = memfd_create("godwit", MFD_ALLOW_SEALING);
    CHECK_EQ(boot_file_seal(fd, false), 0);
    expect_at(getpid(), fd, "it is too short");
    close(fd);
    CHECK_EQ(pipe(pipes), 0);
    expect_at(getpid(), pipes[0], "it is something else"); /* and does not wait for anybody */
    close(pipes[0]);
    close(pipes[1]);
    expect_at(getpid(), 9999, "No such file");
    expect_at(getpid(), -1, "it has no name");
    expect_at(0, 1, "it has no name");
    expect_at(-1, 1, "it has no name");
}

/* Where memfd_create is refused: believed while it has no name, is its user's alone, and is as large as it says. */
static void test_unlinked(void)
{
    struct boot_head h = good();
    char path[] = "/tmp/godwit-file-test-XXXXXX";
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {GW_ARRAY_LEN(rules), rules};
    int fd = mkostemp(path, O_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, BYTES) == 0 && pwrite(fd, &h, sizeof h, 0) == (ssize_t)sizeof h);
    expect_at(getpid(), fd, "it could be shortened"); /* a file of the user's with a name */
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(fchmod(fd, 0644), 0);
    expect_at(getpid(), fd, "it could be shortened");
    CHECK_EQ(fchmod(fd, 0600), 0);
    expect_at(getpid(), fd, "");
    close(fd);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return;
    CHECK(memfd_create("test", 0) == -1 && errno == ENOSYS);
    mode_t before = umask(0777);
    fd = boot_file_make("test", BYTES);
    umask(before);
    CHECK(fd >= 0 && boot_file_is_unsealed(fd) && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK_EQ(boot_file_size(fd, BYTES), 0);
    CHECK(pwrite(fd, &h, sizeof h, 0) == (ssize_t)sizeof h);
    CHECK_EQ(boot_file_seal(fd, false), 0);
    expect_at(getpid(), fd, "");
    struct stat st;
    CHECK(fstat(fd, &st) == 0 && st.st_nlink == 0 && st.st_blocks >= BYTES / 512); /* no name, and its memory is reserved */
    CHECK(boot_file_size(fd, (uint64_t)1 << 60) == -1);
    close(fd);
}

/* Root could open anybody's. */
static void test_users(void)
{
    int ready[2], fd = -1;
    char byte;
    if (geteuid() != 0) return;
    CHECK_EQ(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct boot_head h = good();
        if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)) _exit(1);
        fd = file(&h, BYTES, true);
        if (write(ready[1], &fd, sizeof fd) < 0) {}
        for (;;) pause();
    }
    CHECK_EQ(read(ready[0], &fd, sizeof fd), (ssize_t)sizeof fd);
    expect_at(child, fd, "it is another user's");
    CHECK_EQ(kill(child, SIGKILL), 0);
    CHECK_EQ(waitpid(child, NULL, 0), child);
    close(ready[1]);
    CHECK_EQ(read(ready[0], &byte, 1), 0);
    close(ready[0]);
}

int main(void)
{
    test_numbers();
    test_kinds();
    test_users();
    test_unlinked(); /* the last: refuses memfd_create from then on */
    return unit_end();
}
