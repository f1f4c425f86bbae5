/* SPDX-License-Identifier: MIT
 *
 * The whole winsys over a kernel: real submissions of the smallest stream there is,
 * real fences, threads, and failures injected between. AGX_TEST_DEVICE says which
 * device; without it, it is the virtual one in this process. With "drm" under the
 * preload library the same tests go through libdrm and system calls.
 */
#include "fake_kmd.h"
#include "timeline_bed.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "winsys/device_impl.h"

/* A device, a queue, a timeline, and a stream that ends at once. */
struct client {
   struct agxw_device *device;
   struct agxw_queue *queue;
   struct agxw_timeline *timeline;
   struct agxw_bo *stream;
   struct agxw_compute command;
};

static agx_status client_fill(struct client *client)
{
   static const uint32_t terminate[2] = {0x40000000, 0};
   void *memory;
   AGX_TRY(agxw_queue_create(client->device, 0, &client->queue));
   AGX_TRY(agxw_timeline_create(client->device, 0, &client->timeline));
   AGX_TRY(agxw_bo_create(client->device, 16, 0, 0, "stream", &client->stream));
   AGX_TRY(agxw_bo_map(client->stream, &memory));
   memcpy(memory, terminate, sizeof(terminate));
   client->command = (struct agxw_compute){agxw_bo_va(client->stream), agxw_bo_va(client->stream)};
   return AGX_OK;
}

static void begin_on(struct client *client, const char *name)
{
   struct agx_kmd *kmd;
   *client = (struct client){0};
   assert_ok(agxw_kmd_open(name, NULL, &kmd));
   assert_ok(agxw_device_create(kmd, NULL, &client->device));
   assert_ok(client_fill(client));
}

static void begin(struct client *client)
{
   begin_on(client, bed_device_name());
}

static void end(struct client *client)
{
   agxw_bo_destroy(client->stream);
   agxw_timeline_destroy(client->timeline);
   agxw_queue_destroy(client->queue);
   agxw_device_destroy(client->device);
}

/* Submits count times the stream; value is signalled on the timeline. */
static agx_status submit(struct client *client, uint32_t count, const struct agxw_point *wait,
                         uint64_t value)
{
   struct agxw_compute commands[130];
   for (uint32_t i = 0; i < count; i++)
      commands[i] = client->command;
   const struct agxw_point signal = {client->timeline, value};
   return agxw_submit(client->queue, &(struct agxw_submit){.commands = commands,
                                                           .command_count = count,
                                                           .waits = wait,
                                                           .wait_count = wait != NULL,
                                                           .signals = &signal,
                                                           .signal_count = 1});
}

/* A real node, or what the preload library shows as one. */
static void nodes_are_found(void **state)
{
   if (strcmp(bed_device_name(), "drm") != 0)
      skip();
   static struct agxw_node_info nodes[AGXW_MAX_NODES];
   uint32_t count, usable = 0;
   assert_ok(agxw_enumerate(nodes, &count));
   for (uint32_t i = 0; i < count; i++)
      usable += nodes[i].status == AGX_OK && strcmp(nodes[i].driver, "asahi") == 0;
   assert_true(usable > 0);
   struct agx_kmd *kmd;
   assert_ok(agxw_kmd_open("auto", NULL, &kmd));
   assert_true(strncmp(kmd->name, "renderD", 7) == 0);
   assert_true(kmd->fd >= 0);
   kmd->ops->close(kmd);
}

static void every_chip_opens(void **state)
{
   for (size_t i = 0; agx_chip_at(i); i++) {
      char name[32];
      struct client client;
      snprintf(name, sizeof(name), "virtual:%s", agx_chip_at(i)->name);
      begin_on(&client, name);
      const struct agxw_device_info *info = agxw_device_info(client.device);
      assert_true(info->is_virtual);
      assert_ptr_equal(info->chip, agx_chip_at(i));
      assert_int_equal(info->core_count, info->chip->clusters * info->chip->cores_per_cluster);
      assert_non_null(strstr(info->name, info->chip->market));
      end(&client);
   }
   struct agx_kmd *kmd;
   assert_int_not_equal(agxw_kmd_open("virtual:g99x", NULL, &kmd), AGX_OK);
   assert_non_null(strstr(agx_error_peek(), "g99x"));
}

static void work_is_done_and_signalled(void **state)
{
   struct client client;
   begin(&client);
   uint64_t value;
   assert_ok(agxw_timeline_query(client.timeline, &value));
   assert_int_equal(value, 0);
   const uint32_t counts[] = {0, 1, 64, 65, 130};
   for (uint64_t i = 1; i < 5; i++) {
      const struct agxw_point point = {client.timeline, i + 1};
      assert_ok(submit(&client, counts[i], NULL, i + 1));
      assert_ok(agxw_wait(client.device, &point, 1, false, bed_in_ms(20000)));
      assert_ok(agxw_timeline_query(client.timeline, &value));
      assert_int_equal(value, i + 1);
      assert_ok(agxw_point_status(&point));
   }
   end(&client);
}

static void a_fault_is_found_at_the_point(void **state)
{
   struct client client;
   begin(&client);
   const struct agxw_point point = {client.timeline, 2};
   client.command.stream_va = client.command.stream_end_va = 0x3000000000;
   assert_ok(submit(&client, 1, NULL, 2));
   assert_ok(agxw_wait(client.device, &point, 1, false, bed_in_ms(20000)));
   assert_fails(agxw_point_status(&point), AGX_DATA_LOSS, "GPU fault");
   char text[200];
   if (agxw_device_info(client.device)->is_virtual) {
      assert_true(agxw_device_fault_text(client.device, text, sizeof(text)) > 0);
      assert_non_null(strstr(agx_error_peek(), text));
   }
   end(&client);
}

/* Of three parts, whichever fails: its submission has failed, and no other one of the timeline. */
static void a_fault_of_any_part_is_found(void **state)
{
   if (strcmp(bed_device_name(), "virtual") != 0)
      skip();
   for (int part = 0; part <= 3; part++) {
      struct client client;
      char inject[32];
      snprintf(inject, sizeof(inject), "fault %d", part + 2);
      setenv("AGX_VIRTUAL_INJECT", inject, 1);
      begin(&client);
      unsetenv("AGX_VIRTUAL_INJECT");
      for (uint64_t value = 1; value <= 3; value++) {
         const struct agxw_point point = {client.timeline, value};
         assert_ok(submit(&client, value == 2 ? 130 : 1, NULL, value));
         assert_ok(agxw_wait(client.device, &point, 1, false, bed_in_ms(60000)));
         if (value == (part < 3 ? 2 : 3))
            assert_fails(agxw_point_status(&point), AGX_DATA_LOSS, "GPU fault");
         else
            assert_ok(agxw_point_status(&point));
      }
      end(&client);
   }
}

/* Nothing is signalled when one was refused, and the timeline goes on. */
static void a_part_may_be_refused(void **state)
{
   if (strcmp(bed_device_name(), "virtual") != 0)
      skip();
   for (int part = 1; part <= 3; part++) {
      struct client client;
      char inject[64];
      snprintf(inject, sizeof(inject), "slow 1 20; ioctl submit %d ENOMEM", part);
      setenv("AGX_VIRTUAL_INJECT", inject, 1);
      begin(&client);
      unsetenv("AGX_VIRTUAL_INJECT");
      const struct agxw_point point = {client.timeline, 1};
      uint64_t value = 0;
      assert_fails(submit(&client, 130, NULL, 1), AGX_RESOURCE_EXHAUSTED, "SUBMIT of");
      assert_ok(agxw_timeline_query(client.timeline, &value));
      assert_int_equal(value, 0);
      assert_ok(submit(&client, 130, NULL, 1));
      assert_ok(agxw_wait(client.device, &point, 1, false, bed_in_ms(60000)));
      assert_ok(agxw_point_status(&point));
      end(&client);
   }
}

static void waits_hold_a_submission_back(void **state)
{
   struct client client;
   begin(&client);
   struct agxw_timeline *gate, *other;
   assert_ok(agxw_timeline_create(client.device, 0, &gate));
   assert_ok(agxw_timeline_create(client.device, 5, &other));
   /* The gate's point is not submitted yet. */
   const struct agxw_point wait = {gate, 1}, done = {client.timeline, 1};
   assert_fails(submit(&client, 1, &wait, 1), AGX_INVALID_ARGUMENT, "SUBMIT");
   assert_fails(agxw_wait(client.device, &done, 1, false, 0), AGX_DEADLINE_EXCEEDED, "");
   assert_fails(agxw_point_status(&done), AGX_INVALID_ARGUMENT, "point 1");
   assert_ok(agxw_timeline_signal(gate, 1));
   assert_ok(submit(&client, 1, &wait, 1));
   assert_ok(agxw_wait(client.device, &done, 1, false, bed_in_ms(20000)));
   /* Any: one of them has been reached all the time. */
   const struct agxw_point any[] = {{gate, 99}, {other, 5}};
   assert_ok(agxw_wait(client.device, any, 2, true, 0));
   assert_fails(agxw_wait(client.device, any, 2, false, 0), AGX_DEADLINE_EXCEEDED, "");
   agxw_timeline_destroy(gate);
   agxw_timeline_destroy(other);
   end(&client);
}

static void submissions_without_commands_pass_fences_on(void **state)
{
   struct client client;
   begin(&client);
   struct agxw_timeline *others[3];
   for (int i = 0; i < 3; i++)
      assert_ok(agxw_timeline_create(client.device, 0, &others[i]));
   const struct agxw_point waits[] = {{client.timeline, 1}, {others[0], 4}};
   const struct agxw_point signals[] = {{others[1], 7}, {others[2], 8}};
   for (uint32_t count = 0; count <= 2; count++) {
      assert_ok(submit(&client, 1, NULL, count + 2));
      assert_ok(agxw_timeline_signal(others[0], count + 4));
      const struct agxw_point now[] = {{others[1], 7 + count}, {others[2], 8 + count}};
      assert_ok(agxw_submit(
         client.queue, &(struct agxw_submit){
                          .waits = waits, .wait_count = count, .signals = now, .signal_count = 2}));
      assert_ok(agxw_wait(client.device, now, 2, false, bed_in_ms(20000)));
   }
   /* An error goes with the fence. */
   client.command.stream_va = 0x3000000000;
   assert_ok(submit(&client, 1, NULL, 10));
   const struct agxw_point bad = {client.timeline, 10}, after = {signals[0].timeline, 20};
   assert_ok(agxw_submit(
      client.queue,
      &(struct agxw_submit){.waits = &bad, .wait_count = 1, .signals = &after, .signal_count = 1}));
   assert_ok(agxw_wait(client.device, &after, 1, false, bed_in_ms(20000)));
   assert_fails(agxw_point_status(&after), AGX_DATA_LOSS, "GPU fault");
   for (int i = 0; i < 3; i++)
      agxw_timeline_destroy(others[i]);
   end(&client);
}

static void buffers_keep_what_was_written(void **state)
{
   struct client client;
   begin(&client);
   struct agxw_bo *bos[20];
   for (uint32_t i = 0; i < 20; i++) {
      uint8_t *memory;
      uint32_t flags = i % 16;
      assert_ok(agxw_bo_create(client.device, (i + 1) * 9000, 0, flags, "b", &bos[i]));
      assert_ok(agxw_bo_map(bos[i], (void **)&memory));
      for (uint64_t at = 0; at < agxw_bo_size(bos[i]); at += 512)
         assert_int_equal(memory[at], 0);
      memset(memory, (int)i + 1, agxw_bo_size(bos[i]));
   }
   for (uint32_t i = 0; i < 20; i++) {
      uint8_t *memory;
      assert_ok(agxw_bo_map(bos[i], (void **)&memory));
      assert_int_equal(memory[agxw_bo_size(bos[i]) - 1], i + 1);
      agxw_bo_destroy(bos[i]);
   }
   end(&client);
}

struct waiter {
   struct client *client;
   agx_status status;
};

static void *wait_for_three(void *argument)
{
   struct waiter *waiter = argument;
   const struct agxw_point point = {waiter->client->timeline, 3};
   waiter->status = agxw_wait(waiter->client->device, &point, 1, false, bed_in_ms(20000));
   return NULL;
}

static void a_wait_may_come_before_the_submission(void **state)
{
   struct client client;
   begin(&client);
   struct waiter waiter = {&client, AGX_UNKNOWN};
   pthread_t thread;
   assert_int_equal(pthread_create(&thread, NULL, wait_for_three, &waiter), 0);
   for (uint64_t value = 1; value <= 3; value++)
      assert_ok(submit(&client, 1, NULL, value));
   pthread_join(thread, NULL);
   assert_int_equal(waiter.status, AGX_OK);
   end(&client);
}

#define THREADS 4
#define ROUNDS  40

/* Everything at once: buffers, submissions, waits, on one device from many threads. */
static void *work(void *argument)
{
   struct waiter *worker = argument;
   struct client mine = {.device = worker->client->device};
   worker->status = client_fill(&mine);
   for (uint64_t value = 1; worker->status == AGX_OK && value <= ROUNDS; value++) {
      const struct agxw_point done = {mine.timeline, value};
      struct agxw_bo *bo = NULL;
      void *memory;
      worker->status = agxw_bo_create(mine.device, value * 5000, 0, 0, "b", &bo);
      if (worker->status == AGX_OK)
         worker->status = agxw_bo_map(bo, &memory);
      if (worker->status == AGX_OK)
         worker->status = submit(&mine, 1 + value % 3, NULL, value);
      if (worker->status == AGX_OK && value % 2)
         worker->status = agxw_wait(mine.device, &done, 1, false, bed_in_ms(60000));
      agxw_bo_destroy(bo);
   }
   const struct agxw_point last = {mine.timeline, ROUNDS};
   if (worker->status == AGX_OK)
      worker->status = agxw_wait(mine.device, &last, 1, false, bed_in_ms(60000));
   agxw_bo_destroy(mine.stream);
   agxw_timeline_destroy(mine.timeline);
   agxw_queue_destroy(mine.queue);
   return NULL;
}

static void threads_share_a_device(void **state)
{
   struct client client;
   begin(&client);
   struct waiter workers[THREADS];
   pthread_t threads[THREADS];
   for (int i = 0; i < THREADS; i++) {
      workers[i] = (struct waiter){&client, AGX_UNKNOWN};
      assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
   }
   for (int i = 0; i < THREADS; i++) {
      pthread_join(threads[i], NULL);
      assert_int_equal(workers[i].status, AGX_OK);
   }
   end(&client);
}

/* A life in which the nth request fails; the status of the first failure. */
static agx_status live(struct agx_kmd *kmd)
{
   struct client client = {0};
   AGX_TRY(agxw_device_create(kmd, NULL, &client.device));
   agx_status status = client_fill(&client);
   if (status == AGX_OK)
      status = submit(&client, 2, NULL, 1);
   const struct agxw_point done = {client.timeline, 1};
   if (status == AGX_OK)
      status = agxw_wait(client.device, &done, 1, false, bed_in_ms(20000));
   if (status == AGX_OK)
      status = agxw_point_status(&done);
   end(&client);
   return status;
}

static void any_request_may_fail(void **state)
{
   static const int errors[] = {ENOMEM, EINTR, ENODEV, EINVAL};
   for (int e = 0; e < 4; e++) {
      int failed = 0, nth = 0;
      for (bool over = false; !over; nth++) {
         struct agx_kmd *inner;
         struct fake_kmd fake;
         assert_ok(agxw_kmd_open(bed_device_name(), NULL, &inner));
         fake_kmd_wrap(&fake, inner);
         fake_kmd_fail(&fake, nth, 0, errors[e]);
         failed += live(&fake.base) != AGX_OK;
         over = fake.requests <= nth; /* nothing was left to fail */
         fake_kmd_assert_clean(&fake);
      }
      assert_in_range(failed, 10, nth);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_are_found),
      cmocka_unit_test(every_chip_opens),
      cmocka_unit_test(work_is_done_and_signalled),
      cmocka_unit_test(a_fault_is_found_at_the_point),
      cmocka_unit_test(a_fault_of_any_part_is_found),
      cmocka_unit_test(a_part_may_be_refused),
      cmocka_unit_test(waits_hold_a_submission_back),
      cmocka_unit_test(submissions_without_commands_pass_fences_on),
      cmocka_unit_test(buffers_keep_what_was_written),
      cmocka_unit_test(a_wait_may_come_before_the_submission),
      cmocka_unit_test(threads_share_a_device),
      cmocka_unit_test(any_request_may_fail),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
