/* SPDX-License-Identifier: MIT
 *
 * What the host does with timelines beside submitting.
 */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "soak.h"

/* ---- timelines ------------------------------------------------------------ */

static void signal_one(struct soak_thread *thread)
{
   struct soak_timeline *timeline = soak_timeline_pick(thread);
   uint64_t value = atomic_fetch_add(&timeline->next, 1) + 1;
   (void)!agx_semaphore_signal(timeline->semaphore, value);
}

static void fail_one(struct soak_thread *thread)
{
   if (soak_chance(thread, 30))
      agx_semaphore_fail(soak_timeline_pick(thread)->semaphore, 5 + (int)soak_below(thread, 12),
                         "failed by the soak");
}

/* A value that there is, will be, or may never be. */
static uint64_t some_value(struct soak_thread *thread, struct soak_timeline *timeline)
{
   return 1 + agx_test_random_below(&thread->rng, atomic_load(&timeline->next) + 3);
}

struct counts {
   uint32_t reached, failed; /* failed: or it can't be known */
};

static struct counts look_at(const struct agx_point *points, uint32_t count)
{
   struct counts counts = {0};
   for (uint32_t i = 0; i < count; i++) {
      uint64_t value = 0;
      const agx_status status = agx_semaphore_query(points[i].semaphore, &value);
      counts.reached += value >= points[i].value;
      counts.failed += status != AGX_OK && value < points[i].value;
   }
   return counts;
}

/* A wait says what is so: reached when enough points are, too late when too few were. */
static void wait_and_look(const struct agx_point *points, uint32_t count, bool any,
                          int64_t deadline_ns)
{
   const uint32_t enough = any ? 1 : count;
   const struct counts before = look_at(points, count);
   const agx_status status = agx_semaphore_wait(points, count, any, deadline_ns);
   const struct counts after = look_at(points, count);
   if (status == AGX_OK)
      soak_check(after.reached >= enough, "a wait for %s of %u: %u are reached",
                 any ? "any" : "all", count, after.reached);
   if (status == AGX_DEADLINE_EXCEEDED)
      soak_check(before.reached < enough, "no wait for %s of %u: %u were reached",
                 any ? "any" : "all", count, before.reached);
}

static void wait_some(struct soak_thread *thread)
{
   static const int64_t lengths_ns[] = {0, 1, 20000, 300000, 3000000};
   struct agx_point points[4];
   const uint32_t count = 1 + soak_below(thread, 4);
   int64_t length_ns = lengths_ns[soak_below(thread, 5)];
   for (uint32_t i = 0; i < count; i++) {
      struct soak_timeline *timeline = soak_timeline_pick_any(thread);
      points[i] = (struct agx_point){timeline->semaphore, some_value(thread, timeline)};
   }
   wait_and_look(points, count, soak_chance(thread, 500), length_ns ? soak_now() + length_ns : 0);
}

static void query_one(struct soak_thread *thread)
{
   uint64_t before = 0, after = 0;
   struct soak_timeline *timeline = soak_timeline_pick(thread);
   if (agx_semaphore_query(timeline->semaphore, &before) != AGX_OK)
      return;
   if (agx_semaphore_query(timeline->semaphore, &after) == AGX_OK)
      soak_check(after >= before, "a semaphore went from %llu to %llu", (unsigned long long)before,
                 (unsigned long long)after);
}

/* ---- watches --------------------------------------------------------------- */

static void on_watch(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct soak_watch *it = watch->user;
   if (status == AGX_OK && value < watch->value)
      soak_die(__FILE__, __LINE__, "watch", "called at %llu for %llu", (unsigned long long)value,
               (unsigned long long)watch->value);
   atomic_fetch_add(&it->calls, 1);
}

bool soak_unwatch(struct soak_watch *watch)
{
   if (!watch->semaphore)
      return false;
   watch->taken_back += agx_semaphore_unwatch(watch->semaphore, &watch->watch);
   uint32_t calls = atomic_load(&watch->calls);
   soak_check(calls + watch->taken_back == watch->armed,
              "watch: %u times watched, %u calls, %u taken back", watch->armed, calls,
              watch->taken_back);
   agx_release(watch->semaphore);
   watch->semaphore = NULL;
   return true;
}

static void watch_some(struct soak_thread *thread)
{
   struct soak_watch *watch = &thread->watches[soak_below(thread, SOAK_WATCHES)];
   if (soak_unwatch(watch) && soak_chance(thread, 300))
      return;
   struct soak_timeline *timeline = soak_timeline_pick(thread);
   watch->watch =
      (struct agx_watch){.value = some_value(thread, timeline), .fn = on_watch, .user = watch};
   if (agx_semaphore_watch(timeline->semaphore, &watch->watch) != AGX_OK)
      return;
   watch->armed++;
   watch->semaphore = timeline->semaphore;
   agx_retain(watch->semaphore);
}

/* ---- descriptors ------------------------------------------------------------ */

static void drop_fd(struct soak_thread *thread, int *fd)
{
   struct pollfd ready = {.fd = *fd, .events = POLLIN};
   if (*fd < 0)
      return;
   if (soak_chance(thread, 500))
      (void)poll(&ready, 1, 0);
   close(*fd);
   *fd = -1;
}

/* A descriptor of one timeline becomes a point of another, or of the same, or of another device. */
static void import_fd(struct soak_thread *thread, int *fd, uint32_t kind)
{
   struct soak_timeline *timeline = soak_timeline_pick_any(thread);
   uint64_t value = atomic_fetch_add(&timeline->next, 1) + 1;
   if (agx_semaphore_import_point(timeline->semaphore, value, kind, *fd) == AGX_OK)
      *fd = -1;
}

static void export_point(struct soak_thread *thread)
{
   static const uint32_t kinds[] = {AGX_FD_SYNC_FILE, AGX_FD_EVENTFD};
   const uint32_t kind = kinds[soak_below(thread, 2)];
   struct soak_timeline *timeline = soak_timeline_pick(thread);
   int *fd = &thread->fds[soak_below(thread, SOAK_HELD)];
   drop_fd(thread, fd);
   if (agx_semaphore_export(timeline->semaphore, some_value(thread, timeline), kind, fd) != AGX_OK)
      soak_check(*fd == -1, "a failed export left descriptor %d", *fd);
   else if (soak_chance(thread, 300))
      import_fd(thread, fd, kind);
}

/* A second semaphore over the same syncobj, for a moment. */
static void share_one(struct soak_thread *thread)
{
   struct soak_timeline *timeline = soak_timeline_pick(thread);
   struct agx_semaphore *other = NULL;
   int fd = -1;
   if (agx_semaphore_export(timeline->semaphore, 0, AGX_FD_SYNCOBJ, &fd) != AGX_OK)
      return;
   if (agx_semaphore_import(thread->device->device, fd, &other) == AGX_OK) {
      const struct agx_point point = {other, some_value(thread, timeline)};
      if (soak_chance(thread, 300))
         (void)!agx_semaphore_signal(other, atomic_fetch_add(&timeline->next, 1) + 1);
      if (soak_chance(thread, 300))
         (void)!agx_semaphore_wait(&point, 1, false, soak_now() + 200000);
      agx_release(other);
   }
   close(fd);
}

static void ring_eventfd(struct soak_thread *thread)
{
   struct soak_timeline *timeline = soak_timeline_pick(thread);
   const uint64_t value = atomic_fetch_add(&timeline->next, 1) + 1, one = 1;
   int fd = eventfd(soak_chance(thread, 500), EFD_CLOEXEC), copy = dup(fd);
   soak_check(fd >= 0 && copy >= 0, "no eventfd");
   if (agx_semaphore_import_point(timeline->semaphore, value, AGX_FD_EVENTFD, fd) != AGX_OK)
      close(fd);
   (void)!write(copy, &one, sizeof(one));
   close(copy);
}

/* ---- the device -------------------------------------------------------------- */

static void disturb(struct soak_thread *thread)
{
   struct soak_device *it = thread->device;
   struct agx_memory_stats stats = {.size = sizeof(stats)};
   switch (soak_below(thread, 8)) {
   case 0:
      agx_device_trim(it->device);
      break;
   case 1:
      agx_pool_trim(soak_chance(thread, 300) ? it->chain_pool : it->pools[soak_below(thread, 2)]);
      break;
   case 2:
      if (thread->round->plan.cancels && soak_chance(thread, 100)) {
         atomic_store(&it->is_cancelled, true);
         agx_device_cancel(it->device);
      }
      break;
   case 3:
      agx_device_get_memory_stats(it->device, &stats);
      break;
   default:
      (void)!agx_queue_recreate(it->device, soak_below(thread, thread->round->plan.queues));
   }
}

/* ---- receipts ------------------------------------------------------------------ */

/* A wait may fail by itself, as when it finds the device lost: the semaphore says. */
bool soak_await(struct agx_semaphore *semaphore, uint64_t value, int64_t deadline_ns,
                agx_status *out_status)
{
   const struct agx_point point = {semaphore, value};
   uint64_t now = 0;
   do {
      *out_status = agx_semaphore_wait(&point, 1, false, deadline_ns);
      if (*out_status == AGX_OK)
         return true;
      *out_status = agx_semaphore_query(semaphore, &now);
   } while (*out_status == AGX_OK && now < value && soak_now() < deadline_ns);
   return *out_status != AGX_OK || now >= value;
}

/* Nothing is done before what it waits for. */
static void check_after(const struct soak_receipt *receipt, const struct agx_point *point)
{
   uint64_t value = 0;
   if (!point->semaphore)
      return;
   const agx_status status = agx_semaphore_query(point->semaphore, &value);
   soak_check(value >= point->value,
              "an operation of kind %u is done, and %llu that it waits for is not: %s, at %llu",
              receipt->kind, (unsigned long long)point->value, agx_status_name(status),
              (unsigned long long)value);
}

bool soak_receipt_check(struct soak_receipt *receipt, int64_t deadline_ns)
{
   if (!receipt->semaphore)
      return true;
   agx_status status;
   if (!soak_await(receipt->semaphore, 1, deadline_ns, &status))
      return false;
   atomic_fetch_add(status == AGX_OK ? &receipt->round->reached : &receipt->round->failed, 1);
   for (uint32_t i = 0; status == AGX_OK && i < 2; i++)
      check_after(receipt, &receipt->after[i]);
   if (status == AGX_OK && receipt->call)
      soak_check(atomic_load(&receipt->call->calls) == 1, "a host call is done after %u calls",
                 receipt->call->calls);
   agx_release(receipt->semaphore);
   receipt->semaphore = NULL;
   return true;
}

void soak_host(struct soak_thread *thread)
{
   static const struct {
      const char *name;
      uint32_t weight;
      void (*run)(struct soak_thread *thread);
   } acts[] = {
      {"signal", 20, signal_one},
      {"fail", 3, fail_one},
      {"wait", 16, wait_some},
      {"query", 10, query_one},
      {"watch", 16, watch_some},
      {"export", 10, export_point},
      {"share", 2, share_one},
      {"import an eventfd", 3, ring_eventfd},
      {"renew", 12, soak_timeline_renew},
      {"disturb", 8, disturb},
   };
   uint32_t pick = soak_below(thread, 100);
   for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
      if (pick < acts[i].weight) {
         atomic_store(&thread->doing, acts[i].name);
         acts[i].run(thread);
         return;
      }
      pick -= acts[i].weight;
   }
}
