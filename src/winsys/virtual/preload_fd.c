/* SPDX-License-Identifier: MIT
 *
 * The node of this process and the table of descriptors that are open files of it.
 * The table's lock is never held while the node is called, and the node may call
 * functions that take it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "winsys/virtual/preload.h"
#include "winsys/virtual/shadow.h"

#define MAX_FDS 65536

struct agxv_open {
   unsigned refs; /* descriptors and calls under way */
   struct agx_virtual_file *file;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct agxv_open *table[MAX_FDS];
static _Atomic unsigned open_count;

static pthread_once_t node_once = PTHREAD_ONCE_INIT;
static _Atomic(struct agx_virtual_node *) the_node;
static const struct agx_chip *the_chip;

static _Thread_local int inside __attribute__((tls_model("initial-exec")));

bool agxv_is_inside(void)
{
   return inside > 0;
}

void agxv_enter(void)
{
   inside++;
}

void agxv_leave(void)
{
   inside--;
}

void *agxv_next(_Atomic(void *) *slot, const char *name)
{
   void *function = atomic_load_explicit(slot, memory_order_acquire);
   if (!function) {
      function = dlsym(RTLD_NEXT, name);
      atomic_store_explicit(slot, function, memory_order_release);
   }
   return function;
}

static void before_fork(void)
{
   pthread_mutex_lock(&table_lock);
}

static void after_fork(void)
{
   pthread_mutex_unlock(&table_lock);
}

static const struct agx_chip *wanted_chip(void)
{
   const char *device = getenv("AGX_DEVICE");
   const char *name = "g13g";
   if (device && strncmp(device, "virtual:", 8) == 0)
      name = device + 8;
   const struct agx_chip *chip = agx_chip_find(name);
   if (!chip)
      fprintf(stderr, "agx virtual: AGX_DEVICE=%s names no chip; no device is shown\n", device);
   return chip;
}

/* Before main: our handlers of fork must be registered before the node's, so that its locks
 * are taken before ours. */
__attribute__((constructor)) static void start(void)
{
   agxv_enter();
   pthread_atfork(before_fork, after_fork, after_fork);
   the_chip = wanted_chip();
   if (the_chip && !agxv_shadow_init(the_chip))
      the_chip = NULL;
   agxv_leave();
}

static void make_node(void)
{
   struct agx_virtual_node *node = NULL;
   if (the_chip && agx_virtual_node_create(the_chip, -1, &node) != AGX_OK)
      fprintf(stderr, "agx virtual: %s\n", agx_error_peek());
   atomic_store(&the_node, node);
}

struct agx_virtual_node *agxv_node(void)
{
   agxv_enter();
   pthread_once(&node_once, make_node);
   agxv_leave();
   return atomic_load(&the_node);
}

struct agx_virtual_node *agxv_node_if_made(void)
{
   return atomic_load_explicit(&the_node, memory_order_acquire);
}

static bool is_node_fd(int fd)
{
   struct stat info;
   agxv_enter();
   bool is = fstat(fd, &info) == 0 && agxv_shadow_is_node(info.st_dev, info.st_ino);
   agxv_leave();
   return is;
}

static struct agxv_open *open_node(void)
{
   struct agx_virtual_node *node = agxv_node();
   struct agxv_open *opened = node ? calloc(1, sizeof(*opened)) : NULL;
   if (!opened)
      return NULL;
   agxv_enter();
   agx_status status = agx_virtual_open(node, &opened->file);
   agxv_leave();
   if (status == AGX_OK)
      return opened;
   free(opened);
   return NULL;
}

/* Puts an open file into the table; the old one, if any, was closed behind our back. */
static void enter_fd(int fd, struct agxv_open *opened)
{
   pthread_mutex_lock(&table_lock);
   struct agxv_open *old = table[fd];
   table[fd] = opened;
   opened->refs++;
   pthread_mutex_unlock(&table_lock);
   atomic_fetch_add(&open_count, 1);
   if (old) {
      atomic_fetch_sub(&open_count, 1);
      agxv_put(old);
   }
}

int agxv_adopt(int fd)
{
   if (fd < 0 || agxv_is_inside())
      return fd;
   int error = errno;
   if (atomic_load(&open_count))
      agxv_closing(fd); /* a number that came free unseen */
   if (!is_node_fd(fd)) {
      errno = error;
      return fd;
   }
   struct agxv_open *opened = fd < MAX_FDS ? open_node() : NULL;
   if (!opened) {
      close(fd);
      errno = ENODEV;
      return -1;
   }
   enter_fd(fd, opened);
   errno = error;
   return fd;
}

struct agxv_open *agxv_get(int fd)
{
   if (fd < 0 || fd >= MAX_FDS || !atomic_load_explicit(&open_count, memory_order_relaxed))
      return NULL;
   pthread_mutex_lock(&table_lock);
   struct agxv_open *opened = table[fd];
   if (opened)
      opened->refs++;
   pthread_mutex_unlock(&table_lock);
   return opened;
}

void agxv_put(struct agxv_open *opened)
{
   pthread_mutex_lock(&table_lock);
   bool last = --opened->refs == 0;
   pthread_mutex_unlock(&table_lock);
   if (!last)
      return;
   agxv_enter();
   agx_virtual_close(opened->file);
   agxv_leave();
   free(opened);
}

struct agx_virtual_file *agxv_file_of(struct agxv_open *opened)
{
   return opened->file;
}

void agxv_copied(int old_fd, int new_fd)
{
   if (new_fd < 0 || new_fd >= MAX_FDS || new_fd == old_fd)
      return;
   agxv_closing(new_fd);
   struct agxv_open *opened = agxv_get(old_fd);
   if (!opened)
      return;
   enter_fd(new_fd, opened);
   agxv_put(opened);
}

const char *agxv_inode_name(uint64_t device, uint64_t inode)
{
   struct agx_virtual_node *node = agxv_is_inside() ? NULL : agxv_node_if_made();
   if (!node)
      return NULL;
   agxv_enter();
   const char *name = agx_virtual_inode_name(node, device, inode);
   agxv_leave();
   return name;
}

const char *agxv_fd_name(int fd)
{
   struct stat info;
   if (agxv_is_inside() || !agxv_node_if_made())
      return NULL;
   int error = errno;
   agxv_enter();
   bool exists = fstat(fd, &info) == 0;
   agxv_leave();
   errno = error;
   return exists ? agxv_inode_name(info.st_dev, info.st_ino) : NULL;
}

void agxv_closing(int fd)
{
   if (fd < 0 || fd >= MAX_FDS || !atomic_load(&open_count))
      return;
   pthread_mutex_lock(&table_lock);
   struct agxv_open *opened = table[fd];
   table[fd] = NULL;
   pthread_mutex_unlock(&table_lock);
   if (!opened)
      return;
   atomic_fetch_sub(&open_count, 1);
   agxv_put(opened);
}
