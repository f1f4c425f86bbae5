/* SPDX-License-Identifier: MIT
 *
 * The check is process_vm_readv on ourselves, a system call that only fails where a
 * plain copy would crash. So that a submission doesn't pay for it each time, pages that
 * passed are remembered per thread; a program that unmaps such a page and passes it
 * again crashes, where a kernel would answer EFAULT.
 */
#include "winsys/virtual/user.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/virtual.h"

#define SEEN_PAGES 32u
#define PAGE_LOG2  12 /* the smallest page of any host: right, if not best, for larger ones */

static _Thread_local uintptr_t seen[2][SEEN_PAGES]; /* read, write: page + 1 */
static _Atomic int unchecked;
static _Thread_local pid_t caller; /* 0: this process */
static _Thread_local bool (*caller_is_there)(const void *argument);
static _Thread_local const void *caller_argument;

void agx_virtual_set_caller(int32_t pid, bool (*is_there)(const void *argument),
                            const void *argument)
{
   caller = pid;
   caller_is_there = is_there;
   caller_argument = argument;
}

static bool is_gone(void)
{
   return caller && caller_is_there && !caller_is_there(caller_argument);
}

int agxv_user_refused(int error)
{
   static _Atomic bool said;
   if (!atomic_exchange(&said, true))
      fprintf(stderr,
              "agx virtual: a program's memory or descriptors can't be reached (%s), so that it "
              "can't be served: process_vm_readv and pidfd_getfd must be permitted (Yama's "
              "ptrace_scope below 2, no such filter of a container)\n",
              strerror(error));
   return -EACCES;
}

/* Whether the range lies in pages that were fine before; short ranges only. */
static bool was_seen(bool write, uint64_t address, size_t size)
{
   uintptr_t first = address >> PAGE_LOG2, last = (address + size - 1) >> PAGE_LOG2;
   if (address + size < address || last - first > 1)
      return false;
   return seen[write][first % SEEN_PAGES] == first + 1 &&
          seen[write][last % SEEN_PAGES] == last + 1;
}

static void remember(bool write, uint64_t address, size_t size)
{
   uintptr_t first = address >> PAGE_LOG2, last = (address + size - 1) >> PAGE_LOG2;
   if (last - first > 1)
      return;
   seen[write][first % SEEN_PAGES] = first + 1;
   seen[write][last % SEEN_PAGES] = last + 1;
}

static bool is_missing(int error)
{
   return error == ENOSYS || error == EPERM;
}

static int transfer(bool write, void *own, uint64_t other, size_t size)
{
   struct iovec local = {own, size};
   struct iovec remote = {(void *)(uintptr_t)other, size};
   pid_t pid = caller ? caller : getpid();
   if (write && is_gone())
      return -EFAULT;
   ssize_t done = write ? process_vm_writev(pid, &local, 1, &remote, 1, 0)
                        : process_vm_readv(pid, &local, 1, &remote, 1, 0);
   if (done == (ssize_t)size)
      return !write && is_gone() ? -EFAULT : 0;
   if (done < 0 && is_missing(errno) && !caller) {
      atomic_store(&unchecked, 1);
      return -ENOSYS;
   }
   if (done < 0 && is_missing(errno) && !is_gone())
      (void)agxv_user_refused(errno);
   return -EFAULT;
}

static int copy(bool write, void *own, uint64_t other, size_t size)
{
   if (size == 0)
      return 0;
   if (other == 0 || (uintptr_t)other != other)
      return -EFAULT;
   if (caller)
      return transfer(write, own, other, size);
   if (!was_seen(write, other, size) && !atomic_load_explicit(&unchecked, memory_order_relaxed)) {
      int error = transfer(write, own, other, size);
      if (error == -EFAULT)
         return error;
      if (error == 0)
         remember(write, other, size);
   }
   /* Again as a plain copy, which race and address checkers see. */
   if (write)
      memcpy((void *)(uintptr_t)other, own, size);
   else
      memcpy(own, (const void *)(uintptr_t)other, size);
   return 0;
}

int agxv_copy_in(void *to, uint64_t from, size_t size)
{
   return copy(false, to, from, size);
}

int agxv_copy_out(uint64_t to, const void *from, size_t size)
{
   return copy(true, (void *)(uintptr_t)from, to, size);
}

bool agxv_user_is_checked(void)
{
   char byte = 0, read = 0;
   return atomic_load(&unchecked) == 0 && transfer(false, &read, (uintptr_t)&byte, 1) == 0;
}
