/* SPDX-License-Identifier: MIT
 *
 * What every room of the node asks the host: the time, whether a process still lives, and to show
 * what the node has to say.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/store/node.h"

int64_t agxv_now_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* The processor's counter goes on while the machine is suspended. One tick is 125 / 3 ns. */
uint64_t agxv_gpu_time(void)
{
   struct timespec now;
   clock_gettime(CLOCK_BOOTTIME, &now);
   uint64_t ticks = (uint64_t)(now.tv_sec * 1000000000ll + now.tv_nsec) / 125 * 3;
   return ticks / 3 * 125 + ticks % 3 * 125 / 3;
}

/* A process that has ended keeps its number until its parent asks how; but its files are closed.
 * Where that can't be asked it counts as alive. */
static bool has_ended(int32_t pid)
{
   const struct timespec now = {0};
   struct pollfd ends = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
   if (ends.fd < 0)
      return false;
   bool has = ppoll(&ends, 1, &now, NULL) == 1;
   close(ends.fd);
   return has;
}

bool agxv_process_lives(const struct agx_virtual_node *node, int32_t pid)
{
   if (pid == node->pid)
      return true;
   return kill(pid, 0) == 0 ? !has_ended(pid) : errno != ESRCH;
}

/* What the node has to say: on standard error when tracing, and the last sentence for
 * agx_virtual_last_error(). */

void agxv_trace(const struct agx_virtual_node *node, const char *format, ...)
{
   if (!node->options.trace)
      return;
   char text[AGXV_ERROR_BYTES];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(text, sizeof(text), format, arguments);
   va_end(arguments);
   fprintf(stderr, "agx virtual: %s\n", text);
}

void agxv_report(struct agx_virtual_node *node, const char *format, ...)
{
   char text[AGXV_ERROR_BYTES];
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(text, sizeof(text), format, arguments);
   va_end(arguments);
   agxv_lock(node);
   memcpy(node->shared->last_error, text, sizeof(text));
   agxv_unlock(node);
   if (node->options.trace)
      fprintf(stderr, "agx virtual: %s\n", text);
}

void agxv_tell_pad(struct agx_virtual_node *node, const char *request, uint32_t pad)
{
   if (!pad || !node->options.check)
      return;
   agxv_report(node, "%s: pad is %" PRIu32 ", not 0; kernels don't look at it so far", request,
               pad);
   agxv_lock(node);
   node->shared->pads++;
   agxv_unlock(node);
}

size_t agx_virtual_last_error(struct agx_virtual_node *node, char *text, size_t capacity)
{
   agxv_lock(node);
   size_t length = strnlen(node->shared->last_error, AGXV_ERROR_BYTES - 1);
   if (capacity) {
      size_t copied = AGX_MIN(length, capacity - 1);
      memcpy(text, node->shared->last_error, copied);
      text[copied] = 0;
   }
   agxv_unlock(node);
   return length;
}
