/* SPDX-License-Identifier: MIT
 *
 * Taking stopped calls and answering them. One thread takes all; a call that may take
 * long gets a thread of its own.
 */
#include "winsys/virtual/doors/serve/supervisor_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "base/thread.h"
#include "base/util.h"
#include "winsys/virtual/store/user.h"

#define REAP_MS   250 /* between looks for files whose last descriptor went */
#define SIGNAL_MS 4   /* between looks for signals, while there are waits */

bool agxv_call_is_there(const struct agxv_call *call)
{
   uint64_t id = call->id;
   return ioctl(call->supervisor->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0 || errno != ENOENT;
}

static int transfer(const struct agxv_call *call, bool write, void *own, uint64_t other,
                    uint64_t size)
{
   struct iovec local = {own, size}, remote = {(void *)(uintptr_t)other, size};
   if (write && !agxv_call_is_there(call))
      return -ESRCH;
   ssize_t done = write ? process_vm_writev(call->pid, &local, 1, &remote, 1, 0)
                        : process_vm_readv(call->pid, &local, 1, &remote, 1, 0);
   int error = done < 0 ? errno : EFAULT;
   if (!write && !agxv_call_is_there(call))
      return -ESRCH;
   if (done == (ssize_t)size)
      return 0;
   return error == EPERM || error == ENOSYS ? agxv_user_refused(error) : -EFAULT;
}

int agxv_call_read(const struct agxv_call *call, void *to, uint64_t from, uint64_t size)
{
   return transfer(call, false, to, from, size);
}

int agxv_call_write(const struct agxv_call *call, uint64_t to, const void *from, uint64_t size)
{
   return transfer(call, true, (void *)(uintptr_t)from, to, size);
}

/* The process that a thread belongs to. */
static int32_t process_of(int32_t thread)
{
   char path[64], line[128];
   int32_t process = thread;
   snprintf(path, sizeof(path), "/proc/%d/status", thread);
   FILE *file = fopen(path, "re");
   while (file && fgets(line, sizeof(line), file))
      if (sscanf(line, "Tgid: %d", &process) == 1)
         break;
   if (file)
      fclose(file);
   return process;
}

int agxv_call_take_fd(const struct agxv_call *call, int fd)
{
   int process = (int)syscall(SYS_pidfd_open, process_of(call->pid), 0);
   if (process < 0)
      return -errno;
   /* From here on the process descriptor is of the right one, or of one that is gone. */
   bool is_there = agxv_call_is_there(call);
   int taken = is_there ? (int)syscall(SYS_pidfd_getfd, process, fd, 0) : -1;
   int error = is_there ? errno : ESRCH;
   close(process);
   if (taken < 0 && (error == EPERM || error == ENOSYS))
      return agxv_user_refused(error);
   return taken < 0 ? -error : taken;
}

int agxv_call_give_fd(const struct agxv_call *call, int fd, bool close_on_exec)
{
   struct seccomp_notif_addfd add = {
      .id = call->id, .srcfd = (uint32_t)fd, .newfd_flags = close_on_exec ? O_CLOEXEC : 0};
   int number = ioctl(call->supervisor->fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
   int error = errno;
   close(fd);
   return number < 0 ? -error : number;
}

static void respond(const struct agxv_call *call, int64_t result)
{
   struct seccomp_notif_resp response = {.id = call->id};
   if (result == AGXV_CALL_GOES_ON)
      response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
   else if (result < 0)
      response.error = (int32_t)result;
   else
      response.val = result;
   /* It fails when the caller is gone, or (before Linux 5.19) was interrupted and asks again. */
   (void)ioctl(call->supervisor->fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void serve(const struct agxv_call *call)
{
   bool is_known;
   int64_t result = agxv_call_on_path(call, &is_known);
   if (!is_known)
      result = call->number == SYS_ioctl ? agxv_call_ioctl(call) : AGXV_CALL_GOES_ON;
   respond(call, result);
}

static void *serve_apart(void *argument)
{
   struct agxv_wait wait;
   agxv_wait_begin(&wait, argument);
   respond(argument, agxv_wait_end(&wait, agxv_call_ioctl(argument)));
   free(argument);
   return NULL;
}

static bool start_apart(const struct agxv_call *call)
{
   struct agxv_call *copy = malloc(sizeof(*copy));
   pthread_t thread;
   if (!copy)
      return false;
   *copy = *call;
   if (agx_thread_start(&thread, NULL, serve_apart, copy)) {
      free(copy);
      return false;
   }
   pthread_detach(thread);
   return true;
}

/* The next call, false when it went by itself meanwhile. The kernel may know longer structs
 * than we do. */
static bool take(struct agxv_supervisor *supervisor, struct agxv_call *call)
{
   union {
      struct seccomp_notif it;
      uint8_t bytes[1024];
   } notice = {0};
   if (ioctl(supervisor->fd, SECCOMP_IOCTL_NOTIF_RECV, &notice.it))
      return false;
   *call = (struct agxv_call){.supervisor = supervisor,
                              .id = notice.it.id,
                              .pid = (int32_t)notice.it.pid,
                              .number = notice.it.data.nr};
   for (size_t i = 0; i < AGX_COUNT(call->arguments); i++)
      call->arguments[i] = notice.it.data.args[i];
   return true;
}

static int64_t now_ms(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

static void *serve_all(void *argument)
{
   struct agxv_supervisor *supervisor = argument;
   struct pollfd event = {.fd = supervisor->fd, .events = POLLIN};
   struct agxv_call call;
   int64_t signals_ms = 0, reaped_ms = 0;
   bool has_waits = false;
   for (;;) {
      int count = poll(&event, 1, has_waits ? SIGNAL_MS : REAP_MS);
      int64_t now = now_ms();
      if (count == 0 && now - reaped_ms >= REAP_MS) {
         agx_virtual_reap(supervisor->node);
         reaped_ms = now;
      }
      if (now - signals_ms >= SIGNAL_MS) {
         has_waits = agxv_waits_poll_signals(supervisor);
         signals_ms = now;
      }
      if (count < 0 && errno != EINTR)
         break;
      if (count > 0 && !(event.revents & POLLIN))
         break; /* no program is left */
      if (count <= 0 || !take(supervisor, &call))
         continue;
      if (!agxv_call_blocks(&call))
         serve(&call);
      else if (start_apart(&call))
         has_waits = true;
      else /* served here it would keep from us the call that ends it */
         respond(&call, -ENOMEM);
   }
   return NULL; /* the descriptor stays: calls apart may still answer */
}

agx_status agxv_supervisor_start(struct agx_virtual_node *node, int fd)
{
   struct agxv_supervisor *supervisor = malloc(sizeof(*supervisor));
   if (!supervisor)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "supervisor: no memory");
   *supervisor = (struct agxv_supervisor){.node = node, .fd = fd};
   agxv_waits_init(supervisor);
   agx_virtual_set_option(node, AGX_VIRTUAL_SHARING, 0);
   pthread_t thread;
   int error = agx_thread_start(&thread, NULL, serve_all, supervisor);
   if (error) {
      free(supervisor);
      return agx_status_fail_errno(error, "supervisor: thread");
   }
   pthread_detach(thread);
   return AGX_OK;
}
