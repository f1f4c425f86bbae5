/* SPDX-License-Identifier: MIT
 *
 * Which system calls stop: those on paths, those that look at descriptors, and device
 * requests of the DRM core, of sync files and of shared buffers.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"
#include "winsys/virtual/doors/serve/supervisor_impl.h"

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define X32_CALLS 0x40000000u /* the other kind of call that x86_64 has */

static const unsigned stopped[] = {
#ifdef SYS_open /* aarch64 has none of the older ones */
   SYS_open,       SYS_creat,      SYS_stat,       SYS_lstat,  SYS_access,   SYS_readlink,
#endif
   SYS_openat,     SYS_openat2,    SYS_newfstatat, SYS_statx,  SYS_fstat,    SYS_faccessat,
   SYS_faccessat2, SYS_readlinkat, SYS_chdir,      SYS_statfs, SYS_getxattr, SYS_lgetxattr,
   SYS_listxattr,  SYS_llistxattr,
};

/* They would reach descriptors past the filter. */
static const unsigned missing[] = {SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register};

static const char letters[] = {'d', '>', 'b'};

#define MAX_STEPS 128

/* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, Linux 5.19 and later; older headers lack it. */
#define WAIT_KILLABLE (1ul << 5)

struct program {
   struct sock_filter steps[MAX_STEPS];
   unsigned short count; /* above MAX_STEPS: it doesn't fit */
};

static void step(struct program *program, uint16_t code, uint32_t value, uint8_t yes, uint8_t no)
{
   if (program->count < MAX_STEPS)
      program->steps[program->count] = (struct sock_filter){code, yes, no, value};
   if (program->count <= MAX_STEPS)
      program->count++;
}

static void load(struct program *program, size_t offset)
{
   step(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(struct program *program, uint32_t action)
{
   step(program, BPF_RET | BPF_K, action, 0, 0);
}

static void answer_if(struct program *program, uint16_t comparison, uint32_t value, uint32_t action)
{
   step(program, (uint16_t)(BPF_JMP | comparison | BPF_K), value, 0, 1);
   answer(program, action);
}

static void build(struct program *program)
{
   const uint32_t absent = SECCOMP_RET_ERRNO | ENOSYS;
   load(program, offsetof(struct seccomp_data, arch));
   step(program, BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0);
   answer(program, absent);
   load(program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
   answer_if(program, BPF_JGE, X32_CALLS, absent);
#endif
   for (size_t i = 0; i < AGX_COUNT(stopped); i++)
      answer_if(program, BPF_JEQ, stopped[i], SECCOMP_RET_USER_NOTIF);
   for (size_t i = 0; i < AGX_COUNT(missing); i++)
      answer_if(program, BPF_JEQ, missing[i], absent);
   step(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 1, 0);
   answer(program, SECCOMP_RET_ALLOW);
   load(program, offsetof(struct seccomp_data, args[1])); /* the low half; little endian */
   step(program, BPF_ALU | BPF_RSH | BPF_K, 8, 0, 0);
   step(program, BPF_ALU | BPF_AND | BPF_K, 0xff, 0, 0);
   for (size_t i = 0; i < AGX_COUNT(letters); i++)
      answer_if(program, BPF_JEQ, (uint8_t)letters[i], SECCOMP_RET_USER_NOTIF);
   answer(program, SECCOMP_RET_ALLOW);
}

int agxv_filter_install(void)
{
   struct program program = {.count = 0};
   build(&program);
   if (program.count > MAX_STEPS)
      return -E2BIG;
   const struct sock_fprog filter = {program.count, program.steps};
   if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
      return -errno;
   /* Else a signal would end a call that is being served, and restart it: it ran twice. */
   long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                     SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE, &filter);
   if (fd < 0 && errno == EINVAL)
      fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
   return fd < 0 ? -errno : (int)fd;
}

agx_status agxv_supervisor_check(void)
{
   uint32_t action = SECCOMP_RET_USER_NOTIF;
   const char *off = getenv("AGX_VIRTUAL_SECCOMP");
   if (off && strcmp(off, "0") == 0)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "it is switched off by AGX_VIRTUAL_SECCOMP=0");
   if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
      return AGX_OK;
   return AGX_FAIL(AGX_UNIMPLEMENTED, "this kernel hasn't it: %s", strerror(errno));
}
