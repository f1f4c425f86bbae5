/* SPDX-License-Identifier: MIT
 *
 * The copy is process_vm_readv or process_vm_writev on ourselves: system calls that only
 * fail where a plain copy would crash, whatever other threads unmap meanwhile. Nothing is
 * remembered between calls, because what was mapped then may be gone. Only what lies in
 * the calling thread's own stack, in frames that are still to return, is copied plainly:
 * it can't go while we are called. Most arguments lie there, so most requests pay nothing.
 */
#include "winsys/virtual/store/user.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "base/util.h"
#include "winsys/virtual/store/segment.h"

/* The thread's stack; the end is 0 before it was asked for, 1 where it isn't known. */
static _Thread_local uintptr_t stack_start, stack_end;
static _Atomic int unchecked;
static _Thread_local pid_t caller; /* 0: this process */
static _Thread_local bool (*caller_is_there)(const void *argument);
static _Thread_local const void *caller_argument;

int32_t agxv_user_switch(int32_t pid)
{
   pid_t before = caller;
   caller = pid;
   return before;
}

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

static void find_stack(void)
{
   pthread_attr_t attributes;
   void *start = NULL;
   size_t size = 0;
   int saved = errno;
   stack_end = 1;
   if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      if (pthread_attr_getstack(&attributes, &start, &size) == 0) {
         stack_start = (uintptr_t)start;
         stack_end = stack_start + size;
      }
      pthread_attr_destroy(&attributes);
   }
   errno = saved;
}

/* Whether the range lies between this frame and the stack's end. Not where the thread runs on
 * another stack now, as coroutines do. */
static bool is_in_frames(uint64_t address, size_t size)
{
   uintptr_t here = (uintptr_t)__builtin_frame_address(0);
   if (!stack_end)
      find_stack();
   return here >= stack_start && address >= here && address < stack_end &&
          size <= stack_end - address;
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
   if (done >= 0 && (size_t)done == size)
      return !write && is_gone() ? -EFAULT : 0;
   if (done < 0 && is_missing(errno) && !caller) {
      atomic_store(&unchecked, 1);
      return -ENOSYS;
   }
   if (done < 0 && is_missing(errno) && !is_gone())
      (void)agxv_user_refused(errno);
   return -EFAULT;
}

/* A plain copy, which race and address checkers see. */
static int copy_plainly(bool write, void *own, uint64_t other, size_t size)
{
   if (write)
      memcpy((void *)(uintptr_t)other, own, size);
   else
      memcpy(own, (const void *)(uintptr_t)other, size);
   return 0;
}

/* Checkers don't see what the kernel copies, so the code informs them, without touching the memory.
 */
#if AGX_THREAD_SANITIZED
void __tsan_read_range(void *address, long size); /* as GCC has it */
void __tsan_write_range(void *address, long size);
static void inform_checkers(bool write, void *own, uint64_t other, size_t size)
{
   if (write)
      __tsan_write_range((void *)(uintptr_t)other, size);
   else
      __tsan_read_range((void *)(uintptr_t)other, size);
}
#elif AGX_ADDRESS_SANITIZED
#include <sanitizer/asan_interface.h>
static void inform_checkers(bool write, void *own, uint64_t other, size_t size)
{
   if (__asan_region_is_poisoned((void *)(uintptr_t)other, size))
      copy_plainly(write, own, other, size); /* which reports it */
}
#else
static void inform_checkers(bool write, void *own, uint64_t other, size_t size) {}
#endif

static int copy(bool write, void *own, uint64_t other, size_t size)
{
   if (size == 0)
      return 0;
   if (other == 0 || (uintptr_t)other != other)
      return -EFAULT;
   if (caller)
      return transfer(write, own, other, size);
   if (is_in_frames(other, size) || atomic_load_explicit(&unchecked, memory_order_relaxed))
      return copy_plainly(write, own, other, size);
   int error = transfer(write, own, other, size);
   if (error == -ENOSYS)
      return copy_plainly(write, own, other, size);
   if (!error)
      inform_checkers(write, own, other, size);
   return error;
}

int agxv_copy_in(void *to, uint64_t from, size_t size)
{
   return copy(false, to, from, size);
}

int agxv_copy_out(uint64_t to, const void *from, size_t size)
{
   return copy(true, (void *)(uintptr_t)from, to, size);
}
