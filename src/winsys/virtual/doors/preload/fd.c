/* SPDX-License-Identifier: MIT
 *
 * The node of this process and the table of descriptors that are open files of it.
 * The table only spares looking: what a descriptor is, it says itself (node/file.c), so those
 * that were inherited or received are found when they are first used. Its lock is never
 * held while the node is called, and the node may call functions that take it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "winsys/virtual/doors/preload/preload_impl.h"
#include "winsys/virtual/doors/tree.h"

#define MEMORY_FILE "/memfd:agx-virtual" /* what /proc calls the segment */

struct agxv_open {
   unsigned refs; /* descriptors and calls under way */
   uint64_t serial;
   struct agx_virtual_file *file;
   struct agxv_recording *recording; /* NULL: none */
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct agxv_open *table[AGXV_MAX_FDS];
static _Atomic unsigned open_count;

static pthread_once_t node_once = PTHREAD_ONCE_INIT;
static _Atomic(struct agx_virtual_node *) the_node;
static const struct agx_chip *the_chip;

/* The segment that the programs of one `agx virtual` share. */
static const char *session;
static struct stat session_info;
static _Atomic int inherited =
   -1; /* a descriptor of a segment that the environment does not name */

/* A child of vfork borrows the memory of its parent: what it closes, the parent keeps. */
static _Atomic int table_pid;

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
   atomic_store(&table_pid, getpid());
   pthread_mutex_unlock(&table_lock);
}

static bool is_borrowed(void)
{
   return getpid() != atomic_load_explicit(&table_pid, memory_order_relaxed);
}

int agxv_to_errno(int result)
{
   if (result >= 0)
      return result;
   errno = -result;
   return -1;
}

const char *agxv_redirect_path(int folder, const char *path, char buffer[PATH_MAX])
{
   if (agxv_is_inside())
      return path;
   agxv_enter();
   const char *led = agxv_tree_at(folder, path, buffer);
   agxv_leave();
   return led;
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
   agx_virtual_set_thread_start(agxv_enter);
   atomic_store(&table_pid, getpid());
   session = getenv("AGX_VIRTUAL_SEGMENT");
   if (session && (!*session || stat(session, &session_info)))
      session_info = (struct stat){0};
   the_chip = wanted_chip();
   if (the_chip && !agxv_tree_init(the_chip))
      the_chip = NULL;
   agxv_leave();
}

/* The segment to share, -1 for one of our own, -2 when the one to share is gone. */
static int open_segment(void)
{
   char path[64];
   int fd = atomic_load(&inherited);
   snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
   if (fd < 0 && (!session || !*session))
      return -1;
   const char *name = fd >= 0 ? path : session;
   fd = open(name, O_RDWR | O_CLOEXEC | O_CREAT, 0600);
   if (fd >= 0)
      return fd;
   fprintf(stderr, "agx virtual: AGX_VIRTUAL_SEGMENT=%s: %s; no device is shown\n", name,
           strerror(errno));
   return -2;
}

static void make_node(void)
{
   struct agx_virtual_node *node = NULL;
   int segment = the_chip ? open_segment() : -2;
   if (segment > -2 && agx_virtual_node_create(the_chip, segment, &node) != AGX_OK)
      fprintf(stderr, "agx virtual: %s\n", agx_error_peek());
   pthread_atfork(agxv_enter, agxv_leave, agxv_leave); /* around what the node does then */
   if (node && segment >= 0)
      agx_virtual_new_program(node);
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

bool agxv_is_device(uint64_t device, uint64_t inode)
{
   struct agx_virtual_node *node = agxv_node_if_made();
   return agxv_tree_is_node(device, inode) ||
          (session_info.st_ino && session_info.st_ino == inode && session_info.st_dev == device) ||
          (node && agx_virtual_is_segment(node, device, inode));
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
      agxv_open_put(old);
   }
}

/* fd becomes a descriptor of the file, as open as it was before. Where the host can't make
 * one (no /proc), the table alone must know. */
static void stand_for(int fd, struct agx_virtual_file *file)
{
   int made = agx_virtual_file_fd(file);
   if (made < 0)
      return;
   bool is_closed_on_exec = fcntl(fd, F_GETFD) & FD_CLOEXEC;
   dup3(made, fd, is_closed_on_exec ? O_CLOEXEC : 0);
   close(made);
}

/* A new open of the node: fd is its file. */
static struct agxv_open *open_node(struct agx_virtual_node *node, int fd)
{
   struct agxv_open *opened = calloc(1, sizeof(*opened));
   if (!opened || agx_virtual_open(node, &opened->file) != AGX_OK) {
      free(opened);
      return NULL;
   }
   stand_for(fd, opened->file);
   opened->serial = agx_virtual_fd_serial(node, fd);
   opened->recording = agxv_recording_begin(node, false);
   return opened;
}

/* The same open file under another number, with a reference. */
static struct agxv_open *find_serial(uint64_t serial)
{
   struct agxv_open *found = NULL;
   pthread_mutex_lock(&table_lock);
   for (int fd = 0; fd < AGXV_MAX_FDS && !found; fd++)
      if (table[fd] && table[fd]->serial == serial)
         found = table[fd];
   if (found)
      found->refs++;
   pthread_mutex_unlock(&table_lock);
   return found;
}

/* An open file that another process made, or that is known under another number. */
static struct agxv_open *attach(struct agx_virtual_node *node, uint64_t serial)
{
   struct agxv_open *opened = find_serial(serial);
   if (opened)
      return opened;
   opened = calloc(1, sizeof(*opened));
   if (!opened || agx_virtual_attach(node, serial, &opened->file) != AGX_OK) {
      free(opened);
      return NULL;
   }
   opened->serial = serial;
   opened->refs = 1;
   opened->recording = agxv_recording_begin(node, false);
   return opened;
}

/* Whether fd is the memory file of a node, though none is known: inherited from a program
 * that made a node of its own. */
static bool is_foreign_segment(int fd)
{
   char path[64], name[64] = "";
   snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
   ssize_t length = readlink(path, name, sizeof(name) - 1);
   return length > 0 && strncmp(name, MEMORY_FILE, strlen(MEMORY_FILE)) == 0;
}

static bool is_device_fd(int fd, bool may_be_foreign)
{
   struct stat info;
   if (fstat(fd, &info))
      return false;
   if (agxv_is_device(info.st_dev, info.st_ino))
      return true;
   if (!may_be_foreign || session_info.st_ino || agxv_node_if_made() || !the_chip ||
       !S_ISREG(info.st_mode) || !is_foreign_segment(fd))
      return false;
   atomic_store(&inherited, fd);
   return true;
}

/* Makes fd one of ours, if it is the node: 1, 0 when it isn't, or -1. */
static int take_in(int fd, bool may_be_foreign)
{
   if (!is_device_fd(fd, may_be_foreign) || fcntl(fd, F_GETFL) & O_PATH)
      return 0;
   struct agx_virtual_node *node = fd < AGXV_MAX_FDS ? agxv_node() : NULL;
   if (!node)
      return -1;
   uint64_t serial = agx_virtual_fd_serial(node, fd);
   struct agxv_open *opened = serial ? attach(node, serial) : open_node(node, fd);
   if (!opened)
      return -1;
   enter_fd(fd, opened);
   if (serial)
      agxv_open_put(opened);
   return 1;
}

int agxv_adopt(int fd)
{
   if (fd < 0 || agxv_is_inside() || is_borrowed())
      return fd;
   int error = errno;
   agxv_open_put(agxv_open_take(fd)); /* a number that came free unseen */
   agxv_enter();
   int taken = take_in(fd, false);
   if (taken < 0)
      close(fd);
   agxv_leave();
   errno = taken < 0 ? ENODEV : error;
   return taken < 0 ? -1 : fd;
}

struct agxv_open *agxv_open_find(int fd, bool may_be_foreign)
{
   struct agxv_open *opened = agxv_open_get(fd);
   if (opened || fd < 0 || fd >= AGXV_MAX_FDS || agxv_is_inside() || is_borrowed())
      return opened;
   int error = errno;
   agxv_enter();
   int taken = take_in(fd, may_be_foreign);
   agxv_leave();
   errno = error;
   return taken > 0 ? agxv_open_get(fd) : NULL;
}

bool agxv_is_node(int fd)
{
   struct agxv_open *opened = agxv_is_inside() ? NULL : agxv_open_get(fd);
   agxv_open_put(opened);
   return opened;
}

uint64_t agxv_buffer_size(int fd)
{
   if (agxv_is_inside() || !agxv_node_if_made())
      return 0;
   int error = errno;
   agxv_enter();
   uint64_t bytes = agx_virtual_buffer_bytes(fd);
   agxv_leave();
   errno = error;
   return bytes;
}

bool agxv_is_buffer(int fd)
{
   return agxv_buffer_size(fd) != 0;
}

bool agxv_is_udmabuf(int fd)
{
   struct stat info;
   int error = errno;
   agxv_enter();
   bool is = fstat(fd, &info) == 0 && agxv_tree_is_udmabuf(info.st_dev, info.st_ino);
   agxv_leave();
   errno = error;
   return is;
}

bool agxv_has_nodes(void)
{
   return !agxv_is_inside() && atomic_load_explicit(&open_count, memory_order_relaxed);
}

int agxv_next_own_fd(int first)
{
   int of_node = agx_virtual_next_own_fd(agxv_node_if_made(), first);
   int of_recording = agxv_recording_next_fd(first);
   return of_node < of_recording ? of_node : of_recording;
}

bool agxv_is_own(int fd)
{
   struct agx_virtual_node *node = agxv_is_inside() ? NULL : agxv_node_if_made();
   if (!node || fd < 0 || is_borrowed())
      return false;
   agxv_enter();
   bool is_own = agxv_next_own_fd(fd) == fd;
   agxv_leave();
   return is_own;
}

void agxv_make_room(int fd)
{
   if (!agxv_is_own(fd))
      return;
   agxv_enter();
   if (!agxv_recording_move_fd(fd))
      agx_virtual_move_own_fd(agxv_node_if_made(), fd);
   agxv_leave();
}

struct agxv_open *agxv_open_get(int fd)
{
   if (fd < 0 || fd >= AGXV_MAX_FDS || !atomic_load_explicit(&open_count, memory_order_relaxed))
      return NULL;
   pthread_mutex_lock(&table_lock);
   struct agxv_open *opened = table[fd];
   if (opened)
      opened->refs++;
   pthread_mutex_unlock(&table_lock);
   return opened;
}

void agxv_open_put(struct agxv_open *opened)
{
   if (!opened)
      return;
   pthread_mutex_lock(&table_lock);
   bool last = --opened->refs == 0;
   pthread_mutex_unlock(&table_lock);
   if (!last)
      return;
   agxv_enter();
   agxv_recording_end(opened->recording, opened->file);
   agx_virtual_close(opened->file);
   agxv_leave();
   free(opened);
}

struct agx_virtual_file *agxv_file_of(struct agxv_open *opened)
{
   return opened->file;
}

struct agxv_recording *agxv_recording_of(struct agxv_open *opened)
{
   return opened->recording;
}

void agxv_copied(int old_fd, int new_fd)
{
   if (new_fd < 0 || new_fd >= AGXV_MAX_FDS || new_fd == old_fd || agxv_is_inside() ||
       is_borrowed())
      return;
   agxv_open_put(agxv_open_take(new_fd));
   struct agxv_open *opened = agxv_open_get(old_fd);
   if (!opened)
      return;
   enter_fd(new_fd, opened);
   agxv_open_put(opened);
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

struct agxv_open *agxv_open_take(int fd)
{
   if (fd < 0 || fd >= AGXV_MAX_FDS || !atomic_load(&open_count) || is_borrowed())
      return NULL;
   pthread_mutex_lock(&table_lock);
   struct agxv_open *opened = table[fd];
   table[fd] = NULL;
   pthread_mutex_unlock(&table_lock);
   if (opened)
      atomic_fetch_sub(&open_count, 1);
   return opened;
}
