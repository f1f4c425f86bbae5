/* SPDX-License-Identifier: MIT
 *
 * One thread that waits for any number of files to become readable. file_wait.c makes one for a
 * device with the first file.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/list.h"
#include "base/thread.h"
#include "base/util.h"
#include "hal/core/fork.h"
#include "hal/core/log.h"
#include "hal/sync/poller.h"

struct entry {
   struct agx_link link;
   int fd;
   agx_poll_fn ready;
   void *user;
};

struct agx_poller {
   const struct agx_host_alloc *alloc;
   const struct agx_log *log;
   int epoll;
   int wake_fd; /* an eventfd, written when the thread shall look at stop and cancel */
   pthread_t thread;
   pthread_mutex_t lock;
   struct agx_link entries;
   bool stop, cancel;
   int broken; /* an errno: it waits for nothing any more */
};

/* The poller's lock, as attributes name it. */
extern struct agx_lock_class agx_poller_lock_class;

AGX_ACQUIRES(agx_poller_lock_class) AGX_TRUSTED static void lock(struct agx_poller *poller)
{
   pthread_mutex_lock(&poller->lock);
}

AGX_RELEASES(agx_poller_lock_class) AGX_TRUSTED static void unlock(struct agx_poller *poller)
{
   pthread_mutex_unlock(&poller->lock);
}

/* The file is ready, or never will be: lets go of it, and calls back. */
AGX_EXCLUDES(agx_poller_lock_class)
static void end_entry(struct agx_poller *poller, struct entry *entry, int error)
{
   lock(poller);
   agx_list_remove(&entry->link);
   unlock(poller);
   epoll_ctl(poller->epoll, EPOLL_CTL_DEL, entry->fd, NULL);
   close(entry->fd);
   entry->ready(entry->user, error);
   agx_host_free(poller->alloc, entry, sizeof(*entry));
}

/* A file is readable although its other side has closed when data is left to read. */
static int event_error(uint32_t events)
{
   return events & EPOLLIN ? 0 : EPIPE;
}

AGX_EXCLUDES(agx_poller_lock_class) static void end_all(struct agx_poller *poller, int error)
{
   for (;;) {
      lock(poller);
      struct entry *entry = agx_list_empty(&poller->entries)
                               ? NULL
                               : agx_container_of(poller->entries.next, struct entry, link);
      unlock(poller);
      if (!entry)
         return;
      end_entry(poller, entry, error);
   }
}

/* True: the thread was woken to stop. */
AGX_EXCLUDES(agx_poller_lock_class) static bool answer_wake(struct agx_poller *poller)
{
   uint64_t written;
   (void)!read(poller->wake_fd, &written, sizeof(written));
   lock(poller);
   bool cancels = poller->cancel, stops = poller->stop;
   poller->cancel = false;
   unlock(poller);
   if (cancels)
      end_all(poller, ECANCELED);
   return stops;
}

/* The thread can wait no longer: all that waits for files must end. */
AGX_EXCLUDES(agx_poller_lock_class) static void give_up(struct agx_poller *poller, int error)
{
   agx_log(poller->log, AGX_LOG_WARNING,
           "files can't be waited for any more (epoll_wait: errno %d); the semaphores that do fail",
           error);
   lock(poller);
   poller->broken = error;
   unlock(poller);
   end_all(poller, error);
}

AGX_EXCLUDES(agx_poller_lock_class) static void wake(struct agx_poller *poller, bool *flag)
{
   const uint64_t one = 1;
   lock(poller);
   *flag = true;
   unlock(poller);
   (void)!write(poller->wake_fd, &one, sizeof(one));
}

static void *work(void *argument)
{
   struct agx_poller *poller = argument;
   agx_on_library_thread = true;
   for (;;) {
      struct epoll_event event;
      int count = epoll_wait(poller->epoll, &event, 1, -1);
      if (count < 0 && errno != EINTR) {
         give_up(poller, errno);
         return NULL;
      }
      if (count <= 0)
         continue;
      if (event.data.ptr)
         end_entry(poller, event.data.ptr, event_error(event.events));
      else if (answer_wake(poller))
         return NULL;
   }
}

static agx_status start(struct agx_poller *poller)
{
   struct epoll_event event = {.events = EPOLLIN};
   poller->epoll = epoll_create1(EPOLL_CLOEXEC);
   poller->wake_fd = eventfd(0, EFD_CLOEXEC);
   if (poller->epoll < 0 || poller->wake_fd < 0 ||
       epoll_ctl(poller->epoll, EPOLL_CTL_ADD, poller->wake_fd, &event) != 0)
      return agx_status_fail_errno(errno, "semaphore: files to wait for others with");
   int error = agx_thread_start(&poller->thread, NULL, work, poller);
   return error ? agx_status_fail_errno(error, "semaphore: a thread that waits for files") : AGX_OK;
}

static void free_poller(struct agx_poller *poller)
{
   if (poller->epoll >= 0)
      close(poller->epoll);
   if (poller->wake_fd >= 0)
      close(poller->wake_fd);
   pthread_mutex_destroy(&poller->lock);
   agx_host_free(poller->alloc, poller, sizeof(*poller));
}

agx_status agx_poller_create(const struct agx_host_alloc *alloc, const struct agx_log *log,
                             struct agx_poller **out_poller)
{
   struct agx_poller *poller = agx_host_zalloc(alloc, sizeof(*poller));
   if (!poller)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "semaphore: out of host memory");
   poller->alloc = alloc;
   poller->log = log;
   poller->epoll = poller->wake_fd = -1;
   pthread_mutex_init(&poller->lock, NULL);
   agx_list_init(&poller->entries);
   agx_status status = start(poller);
   if (status != AGX_OK)
      free_poller(poller);
   else
      *out_poller = poller;
   return status;
}

void agx_poller_cancel(struct agx_poller *poller)
{
   wake(poller, &poller->cancel);
}

void agx_poller_destroy(struct agx_poller *poller)
{
   if (!poller)
      return;
   wake(poller, &poller->stop);
   pthread_join(poller->thread, NULL);
   free_poller(poller);
}

/* EPERM says of the file that it always is ready, not that waiting for it is forbidden. */
static agx_status refuse(int fd, int error, bool is_broken)
{
   if (is_broken)
      return AGX_FAIL(AGX_UNAVAILABLE,
                      "semaphore: no file can be waited for any more, for epoll_wait has failed "
                      "(errno %d); open the device again",
                      error);
   if (error == EPERM)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "semaphore: file %d can't be waited for: it is none that becomes readable, "
                      "as pipes, sockets and eventfds do",
                      fd);
   return agx_status_fail_errno(error, "semaphore: file %d can't be waited for", fd);
}

agx_status agx_poller_add(struct agx_poller *poller, int fd, agx_poll_fn ready, void *user)
{
   struct entry *entry = agx_host_zalloc(poller->alloc, sizeof(*entry));
   if (!entry)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "semaphore: out of host memory");
   *entry = (struct entry){.fd = fd, .ready = ready, .user = user};
   struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = entry};
   lock(poller);
   int error = poller->broken;
   bool is_broken = error;
   if (!error && epoll_ctl(poller->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
      error = errno;
   if (!error)
      agx_list_append(&poller->entries, &entry->link);
   unlock(poller);
   if (!error)
      return AGX_OK;
   agx_host_free(poller->alloc, entry, sizeof(*entry));
   return refuse(fd, error, is_broken);
}
