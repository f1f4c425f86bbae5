/* SPDX-License-Identifier: MIT
 *
 * libagx_record.so: records what a program asks of a real node. `agxdump record --device drm`
 * preloads it; it stands before the functions of the C library that work on descriptors, leads the
 * requests to nodes of the asahi driver through a recorder (record.h), which passes them on, and
 * all else to the function behind ours.
 *
 * A descriptor of a node is recognised when a request first comes by it, wherever it came from. Two
 * of them may be one open file (dup, SCM_RIGHTS): kcmp(2) tells.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/kcmp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "winsys/asahi_uapi.h"
#include "winsys/capture/record.h"

#define EXPORT      __attribute__((visibility("default")))
#define MAX_FDS     65536 /* higher ones are not recorded */
#define DRM_MAJOR   226
#define DRIVER_NAME "asahi"

/* An open file of a node. */
struct node {
   unsigned refs; /* its descriptors, and calls that run */
   struct agxw_recorder *recorder;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *table[MAX_FDS];
static atomic_int table_pid; /* whose the table is: a child of vfork has it on loan */
static struct agxw_capture_file *capture;

static _Thread_local bool is_inside __attribute__((tls_model("initial-exec")));
/* By which the calling thread's request came. */
static _Thread_local int current_fd __attribute__((tls_model("initial-exec"))) = -1;

/* Declares next_NAME: the function that stands behind ours. */
#define NEXT(name)                                                                                 \
   static _Atomic(void *) slot_##name;                                                             \
   __typeof__(&name) next_##name = (__typeof__(&name))find_next(&slot_##name, #name)

static void *find_next(_Atomic(void *) *slot, const char *name)
{
   void *function = atomic_load_explicit(slot, memory_order_relaxed);
   if (!function) {
      function = dlsym(RTLD_NEXT, name);
      atomic_store_explicit(slot, function, memory_order_relaxed);
   }
   return function;
}

static bool is_watched(void)
{
   return !is_inside && getpid() == atomic_load_explicit(&table_pid, memory_order_relaxed);
}

/* ---- the kernel, for recorders ---- */

/* Repeated as drmIoctl does. */
static int node_ioctl(void *user, unsigned long request, void *argument)
{
   NEXT(ioctl);
   int result;
   do
      result = next_ioctl(current_fd, request, argument);
   while (result < 0 && (errno == EINTR || errno == EAGAIN));
   return result < 0 ? -errno : 0;
}

static void *node_mmap(void *user, uint64_t offset, size_t length, int *out_errno)
{
   void *memory = mmap(NULL, length, PROT_READ, MAP_SHARED, current_fd, (off_t)offset);
   if (memory != MAP_FAILED)
      return memory;
   *out_errno = errno;
   return NULL;
}

static void node_munmap(void *user, void *memory, size_t length)
{
   munmap(memory, length);
}

/* Seeking is how a dma-buf tells its size, and its position has no other use. */
static int64_t node_dmabuf_bytes(void *user, int fd)
{
   off_t bytes = lseek(fd, 0, SEEK_END);
   return bytes < 0 ? -errno : bytes;
}

static const struct agxw_recorded_ops node_ops = {
   .ioctl = node_ioctl,
   .mmap = node_mmap,
   .munmap = node_munmap,
   .dmabuf_bytes = node_dmabuf_bytes,
};

/* ---- which descriptors are nodes' ---- */

static void lock_table(void)
{
   pthread_mutex_lock(&table_lock);
}

static void unlock_table(void)
{
   pthread_mutex_unlock(&table_lock);
}

/* What else watches forks may close descriptors. */
static void before_fork(void)
{
   lock_table();
   is_inside = true;
}

static void after_fork(void)
{
   is_inside = false;
   unlock_table();
}

static void own_table(void)
{
   atomic_store(&table_pid, getpid());
}

static __attribute__((constructor)) void begin(void)
{
   own_table();
   pthread_atfork(NULL, NULL, own_table);
}

/* When a node is first asked for something: a shell on the way to it writes nothing. The file
 * watches forks, too; who comes later is called first, so that locks are taken in one order. */
static void open_capture(void)
{
   if (agxw_capture_file_join(true, &capture) != AGX_OK)
      fprintf(stderr, "agxdump record: nothing is recorded: %s\n", agx_error_peek());
   pthread_atfork(before_fork, after_fork, after_fork);
}

/* The name under which nodes stand below /dev/dri, when fd is one of that driver. */
static bool is_ours(int fd, char *name, size_t capacity)
{
   NEXT(ioctl);
   struct stat info;
   char driver[16];
   struct agx_uapi_version version = {.name_len = sizeof(driver), .name = (uintptr_t)driver};
   if (fstat(fd, &info) || !S_ISCHR(info.st_mode) || major(info.st_rdev) != DRM_MAJOR ||
       next_ioctl(fd, AGX_IOCTL_VERSION, &version) != 0 || version.name_len != strlen(DRIVER_NAME))
      return false;
   snprintf(name, capacity, "renderD%u", minor(info.st_rdev));
   return memcmp(driver, DRIVER_NAME, strlen(DRIVER_NAME)) == 0;
}

/* The node whose open file fd is another descriptor of. Under the lock. */
static struct node *find_same(int fd)
{
   pid_t self = getpid();
   for (int i = 0; i < MAX_FDS; i++)
      if (table[i] && i != fd && syscall(SYS_kcmp, self, self, KCMP_FILE, i, fd) == 0)
         return table[i];
   return NULL;
}

static struct node *make_node(const char *name)
{
   struct node *node = calloc(1, sizeof(*node));
   if (node && agxw_recorder_create(capture, &node_ops, node, name, &node->recorder) == AGX_OK)
      return node;
   fprintf(stderr, "agxdump record: an open of %s is not recorded: %s\n", name,
           node ? agx_error_peek() : "no memory");
   free(node);
   return NULL;
}

/* The node that the table has for fd, with a reference, or NULL. */
static struct node *known_node(int fd)
{
   lock_table();
   struct node *node = table[fd];
   if (node)
      node->refs++;
   unlock_table();
   return node;
}

/* The same of one that came in unseen. */
static struct node *get_node(int fd)
{
   static pthread_once_t once = PTHREAD_ONCE_INIT;
   char name[32];
   struct node *node = known_node(fd);
   if (node || !is_ours(fd, name, sizeof(name)))
      return node;
   pthread_once(&once, open_capture);
   if (!capture)
      return NULL;
   lock_table();
   if (!table[fd]) {
      table[fd] = find_same(fd);
      if (!table[fd])
         table[fd] = make_node(name);
      if (table[fd])
         table[fd]->refs++;
   }
   unlock_table();
   return known_node(fd);
}

/* The kernel lets go of all that the recorder has when it closes the file. */
static void put_node(struct node *node)
{
   if (!node)
      return;
   lock_table();
   bool is_last = --node->refs == 0;
   unlock_table();
   if (!is_last)
      return;
   int error = errno;
   current_fd = -1;
   agxw_recorder_destroy(node->recorder);
   free(node);
   errno = error;
}

/* Takes fd out of the table, before its number is another file's. */
static struct node *take_node(int fd)
{
   if (fd < 0 || fd >= MAX_FDS || !is_watched())
      return NULL;
   lock_table();
   struct node *node = table[fd];
   table[fd] = NULL;
   unlock_table();
   return node;
}

static void forget(int fd)
{
   struct node *node = take_node(fd);
   is_inside = true;
   put_node(node);
   is_inside = false;
}

/* new_fd, if it is one, is a copy of fd: so that the node is known to be open when fd is closed. */
static int copied(int fd, int new_fd)
{
   int error = errno;
   if (new_fd < 0 || new_fd >= MAX_FDS || new_fd == fd || !is_watched())
      return new_fd;
   forget(new_fd);
   lock_table();
   struct node *node = fd >= 0 && fd < MAX_FDS ? table[fd] : NULL;
   if (node)
      node->refs++;
   table[new_fd] = node;
   unlock_table();
   errno = error;
   return new_fd;
}

/* ---- the functions ---- */

EXPORT int ioctl(int fd, unsigned long request, ...)
{
   NEXT(ioctl);
   va_list arguments;
   va_start(arguments, request);
   void *argument = va_arg(arguments, void *);
   va_end(arguments);
   if (AGX_UAPI_LETTER(request) != 'd' || fd < 0 || fd >= MAX_FDS || !is_watched())
      return next_ioctl(fd, request, argument);
   int error = errno;
   is_inside = true;
   struct node *node = get_node(fd);
   int result = 0;
   if (node) {
      current_fd = fd;
      result = agxw_recorder_ioctl(node->recorder, request, argument);
      put_node(node);
   }
   is_inside = false;
   errno = result < 0 ? -result : error;
   if (node)
      return result < 0 ? -1 : 0;
   return next_ioctl(fd, request, argument);
}

static bool is_capture(int fd)
{
   return capture && is_watched() && fd == agxw_capture_file_fd(capture);
}

/* A program that wants the number of the capture's descriptor gets it. */
static void make_room(int fd)
{
   if (!is_capture(fd))
      return;
   is_inside = true;
   agxw_capture_file_move(capture);
   is_inside = false;
}

EXPORT int close(int fd)
{
   NEXT(close);
   if (is_inside)
      return next_close(fd);
   if (is_capture(fd)) {
      errno = EBADF;
      return -1;
   }
   struct node *node = take_node(fd);
   int result = next_close(fd);
   is_inside = true;
   put_node(node);
   is_inside = false;
   return result;
}

/* Around the capture's descriptor. */
EXPORT int close_range(unsigned first, unsigned last, int flags)
{
   NEXT(close_range);
   unsigned own = capture ? (unsigned)agxw_capture_file_fd(capture) : UINT_MAX;
   if (!capture || !is_watched() || first > last || flags & (int)CLOSE_RANGE_CLOEXEC)
      return next_close_range(first, last, flags);
   for (unsigned fd = first; fd <= last && fd < MAX_FDS; fd++)
      if (table[fd])
         close((int)fd);
   if (own < first || own > last)
      return next_close_range(first, last, flags);
   int result = own > first ? next_close_range(first, own - 1, flags) : 0;
   return result || own == last ? result : next_close_range(own + 1, last, flags);
}

EXPORT void closefrom(int first)
{
   if (close_range((unsigned)(first < 0 ? 0 : first), ~0u, 0) == 0)
      return;
   for (int fd = first < 0 ? 0 : first; fd < MAX_FDS; fd++) /* an old kernel */
      close(fd);
}

EXPORT int dup(int fd)
{
   NEXT(dup);
   return copied(fd, next_dup(fd));
}

EXPORT int dup2(int fd, int to)
{
   NEXT(dup2);
   make_room(to);
   return copied(fd, next_dup2(fd, to));
}

EXPORT int dup3(int fd, int to, int flags)
{
   NEXT(dup3);
   make_room(to);
   return copied(fd, next_dup3(fd, to, flags));
}

#define FCNTL(name)                                                                                \
   EXPORT int name(int fd, int command, ...)                                                       \
   {                                                                                               \
      NEXT(name);                                                                                  \
      va_list arguments;                                                                           \
      va_start(arguments, command);                                                                \
      void *argument = va_arg(arguments, void *);                                                  \
      va_end(arguments);                                                                           \
      int result = next_##name(fd, command, argument);                                             \
      return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, result) : result;       \
   }
FCNTL(fcntl)
FCNTL(fcntl64)
