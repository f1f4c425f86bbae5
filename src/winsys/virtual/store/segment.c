/* SPDX-License-Identifier: MIT
 *
 * Making, mapping and locking the shared segment, and its block allocator: sizes are
 * rounded up to a power of two, freed blocks wait in a list per size. It never gives
 * memory back, which bounds it by the most that was in use at once.
 */
#include "winsys/virtual/store/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/sanitizers.h"
#include "base/util.h"
#include "winsys/virtual/store/node.h"

#define SEGMENT_VERSION 7
#define HIGH_FD         600

enum {
   SEGMENT_NEW,
   SEGMENT_MAKING,
   SEGMENT_READY
};

_Static_assert(sizeof(struct agxv_shared) <= 65536, "the header is small");

void *agxv_at(const struct agx_virtual_node *node, uint32_t ref)
{
   return ref ? (uint8_t *)node->shared + (uint64_t)ref * AGXV_UNIT_BYTES : NULL;
}

uint32_t agxv_ref(const struct agx_virtual_node *node, const void *address)
{
   return (uint32_t)(((uintptr_t)address - (uintptr_t)node->shared) / AGXV_UNIT_BYTES);
}

static unsigned size_class(uint64_t size)
{
   unsigned class = 0;
   while (((uint64_t)AGXV_UNIT_BYTES << class) < size)
      class ++;
   return class;
}

uint32_t agxv_alloc(struct agx_virtual_node *node, uint64_t size)
{
   struct agxv_shared *shared = node->shared;
   unsigned class = size_class(size);
   if (class >= AGXV_SIZE_CLASSES)
      return 0;
   uint32_t ref = shared->free_blocks[class];
   if (ref) {
      shared->blocks_used++;
      memcpy(&shared->free_blocks[class], agxv_at(node, ref), sizeof(uint32_t));
      AGXV_STEP();
      memset(agxv_at(node, ref), 0, size);
      return ref;
   }
   uint64_t bytes = (uint64_t)AGXV_UNIT_BYTES << class;
   if (!agx_range_fits(shared->top_B, bytes, AGXV_STATE_BYTES))
      return 0;
   ref = (uint32_t)(shared->top_B / AGXV_UNIT_BYTES);
   shared->top_B += bytes;
   shared->blocks_used++;
   return ref;
}

void agxv_free(struct agx_virtual_node *node, uint32_t ref, uint64_t size)
{
   if (!ref)
      return;
   unsigned class = size_class(size);
   node->shared->blocks_used--;
   memcpy(agxv_at(node, ref), &node->shared->free_blocks[class], sizeof(uint32_t));
   AGXV_STEP();
   node->shared->free_blocks[class] = ref;
}

static int make_lock(pthread_mutex_t *lock)
{
   pthread_mutexattr_t attributes;
   if (pthread_mutexattr_init(&attributes))
      return -ENOMEM;
   pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
   pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
   int error = pthread_mutex_init(lock, &attributes);
   if (error == ENOTSUP) { /* an emulator: then a death with the lock held is final */
      pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_STALLED);
      error = pthread_mutex_init(lock, &attributes);
   }
   pthread_mutexattr_destroy(&attributes);
   return -error;
}

static int make_header(struct agx_virtual_node *node, uint64_t memory_bytes)
{
   struct agxv_shared *shared = node->shared;
   shared->version = SEGMENT_VERSION;
   shared->memory_bytes = memory_bytes;
   shared->chip_id = node->chip.chip_id;
   shared->top_B = agx_align_up(sizeof(*shared), 4096);
   uint64_t pages = memory_bytes >> AGXV_PAGE_LOG2;
   shared->page_bits = agxv_alloc(node, agx_div_up(pages, 64) * 8);
   shared->page_owners = agxv_alloc(node, pages * 4);
   if (!shared->page_bits || !shared->page_owners)
      return -ENOMEM;
   return make_lock(&shared->lock);
}

/* The first to come fills the header, later ones wait for it. */
static int enter(struct agx_virtual_node *node, uint64_t memory_bytes)
{
   struct agxv_shared *shared = node->shared;
   uint32_t expected = SEGMENT_NEW;
   if (atomic_compare_exchange_strong(&shared->state, &expected, SEGMENT_MAKING)) {
      int error = make_header(node, memory_bytes);
      atomic_store(&shared->state, error ? SEGMENT_NEW : SEGMENT_READY);
      return error;
   }
   for (int tries = 0; atomic_load(&shared->state) != SEGMENT_READY; tries++) {
      if (tries == 1000)
         return -EBUSY;
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
   }
   if (shared->version != SEGMENT_VERSION || shared->memory_bytes != memory_bytes ||
       shared->chip_id != node->chip.chip_id)
      return -EPROTO;
   return 0;
}

/* Ours stay out of the low numbers that programs count on. */
static int move_up(int fd)
{
   int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
   if (moved < 0)
      return fd;
   close(fd);
   return moved;
}

int agxv_segment_attach(struct agx_virtual_node *node, int fd, uint64_t memory_bytes)
{
   uint64_t bytes = AGXV_MEMORY_OFFSET + memory_bytes;
   node->is_private = fd < 0;
   node->fd = fd >= 0 ? fd : memfd_create("agx-virtual", MFD_CLOEXEC | MFD_ALLOW_SEALING);
   if (node->fd < 0)
      return -errno;
   node->fd = move_up(node->fd);
   struct stat info;
   if (fstat(node->fd, &info) || ((uint64_t)info.st_size < bytes && ftruncate(node->fd, bytes)))
      return -errno;
   (void)fcntl(node->fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK); /* where it may be sealed */
   void *mapped =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, node->fd, 0);
   if (mapped == MAP_FAILED)
      return -errno;
   node->shared = mapped;
   node->segment_device = info.st_dev;
   node->segment_inode = info.st_ino;
   node->memory = (uint8_t *)mapped + AGXV_MEMORY_OFFSET;
   return enter(node, memory_bytes);
}

void agxv_segment_detach(struct agx_virtual_node *node)
{
   if (node->shared)
      munmap(node->shared, AGXV_MEMORY_OFFSET + node->options.memory_bytes);
   if (node->fd >= 0)
      close(node->fd);
   node->shared = NULL;
   node->fd = -1;
}

/* How long to sleep for the lock before looking again. A waiter of another process that is
 * woken, and killed before it takes the lock, takes the wake with it: when another thread locks in
 * between, neither the C library nor the kernel wakes the next one. */
#define LOCK_RETRY_NS 50000000
#define LOCK_POLL_NS  20000

static int take_lock(pthread_mutex_t *lock)
{
   int error = pthread_mutex_trylock(lock);
#if AGX_THREAD_SANITIZED /* which doesn't see that a wait with an end took over from the dead */
   while (error == EBUSY) {
      nanosleep(&(struct timespec){.tv_nsec = LOCK_POLL_NS}, NULL);
      error = pthread_mutex_trylock(lock);
   }
   return error;
#else
   while (error == EBUSY || error == ETIMEDOUT) {
      struct timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
      until.tv_nsec += LOCK_RETRY_NS;
      until.tv_sec += until.tv_nsec / 1000000000;
      until.tv_nsec %= 1000000000;
      error = pthread_mutex_timedlock(lock, &until);
   }
   return error;
#endif
}

void agxv_lock(struct agx_virtual_node *node)
{
   pthread_mutex_t *lock = &node->shared->lock;
   int error = take_lock(lock);
   /* The state may be half changed where its holder died: every list is linked in an
    * order that leaves at worst a leak. */
   if (error == EOWNERDEAD)
      pthread_mutex_consistent(lock);
   if (node->backings_seen != node->shared->backing_changes)
      node->calls->sync_backings(node);
}

void agxv_unlock(struct agx_virtual_node *node)
{
   pthread_mutex_unlock(&node->shared->lock);
}

/* Whether system calls go on after every signal that the program handles, for hosts without
 * futex_waitv. Which signal it was can't be found out, so one handler without SA_RESTART decides
 * for all; those of crashes don't count. */
static bool handlers_restart(void)
{
   static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
   for (int number = 1; number < NSIG; number++) {
      struct sigaction action;
      bool is_crash = false;
      for (size_t i = 0; i < AGX_COUNT(crashes); i++)
         is_crash |= crashes[i] == number;
      if (is_crash || sigaction(number, NULL, &action))
         continue;
      bool is_handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
      if (is_handled && !(action.sa_flags & SA_RESTART))
         return false;
   }
   return true;
}

/* From Linux 5.16 on there is a wait with a deadline that the kernel itself restarts, or not, by
 * the handler's SA_RESTART, as it does the waits of drivers. */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

struct waiter { /* struct futex_waitv, which old headers lack */
   uint64_t seen, word;
   uint32_t flags, reserved;
};

/* 0 or the errno; ENOSYS where the host has no such call, or forbids it. */
static int wait_restartable(_Atomic uint32_t *word, uint32_t seen, const struct timespec *until)
{
   static _Atomic bool is_missing;
   const struct waiter waiter = {seen, (uintptr_t)word, 2 /* 32 bits, shared */, 0};
   if (atomic_load_explicit(&is_missing, memory_order_relaxed))
      return ENOSYS;
   if (syscall(SYS_futex_waitv, &waiter, 1, 0, until, CLOCK_MONOTONIC) >= 0)
      return 0;
   if (errno != ENOSYS && errno != EPERM && errno != EINVAL)
      return errno;
   atomic_store(&is_missing, true);
   return ENOSYS;
}

static int wait_plainly(_Atomic uint32_t *word, uint32_t seen, const struct timespec *until)
{
   if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, until, NULL, FUTEX_BITSET_MATCH_ANY) >= 0)
      return 0;
   return errno == EINTR && handlers_restart() ? 0 : errno;
}

int agxv_sleep(_Atomic uint32_t *word, _Atomic uint32_t *sleepers, uint32_t seen,
               int64_t deadline_ns)
{
   struct timespec until = {deadline_ns / 1000000000, deadline_ns % 1000000000};
   const struct timespec *end = deadline_ns == INT64_MAX ? NULL : &until;
   atomic_fetch_add(sleepers, 1);
   int error = wait_restartable(word, seen, end);
   if (error == ENOSYS)
      error = wait_plainly(word, seen, end);
   atomic_fetch_sub(sleepers, 1);
   if (error == ETIMEDOUT)
      return -ETIME;
   return error == EINTR ? -EINTR : 0;
}

void agxv_wake(_Atomic uint32_t *word, _Atomic uint32_t *sleepers)
{
   atomic_fetch_add(word, 1);
   if (atomic_load(sleepers))
      syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
