/* SPDX-License-Identifier: MIT
 *
 * Fault scripts: what they say happens, exactly then; and scripts that say nothing
 * sensible are refused with line and word.
 */
#include <pthread.h>
#include <stdlib.h>

#include "device.h"
#include "script.h"

static uint64_t ran[64];
static unsigned run_count;

static agx_status note_run(const struct agx_chip *chip, const struct agxs_memory *memory,
                           const struct agxs_options *options, uint64_t usc_base,
                           uint64_t stream_va, struct agxs_stats *out_stats)
{
   if (run_count < AGX_COUNT(ran))
      ran[run_count++] = stream_va;
   return AGX_OK;
}

static struct device open_with(const char *script)
{
   struct device device = device_open(note_run);
   run_count = 0;
   assert_ok(set_script(device.node, script));
   return device;
}

static int submit_at(struct device *device, uint64_t va, uint32_t handle)
{
   struct compute_record command = compute_command(va);
   struct agx_uapi_sync out = {AGX_UAPI_SYNC_SYNCOBJ, handle, 0};
   return submit(device, &command, &out, 0, 1);
}

/* Submits, waits, and returns what the fence says. */
static int outcome(struct device *device, uint64_t va)
{
   uint32_t handle = make_syncobj(device);
   assert_int_equal(submit_at(device, va, handle), 0);
   assert_int_equal(wait_syncobj(device, handle, INT64_MAX, 0), 0);
   return fence_status(device, handle);
}

static uint64_t count_injected(struct device *device)
{
   struct agx_virtual_statistics counts;
   agx_virtual_read_statistics(device->node, &counts);
   return counts.injected;
}

static int try_gem(struct device *device, uint64_t size)
{
   struct agx_uapi_gem_create args = {.size = size};
   return CALL(device, ASAHI_GEM_CREATE, args);
}

static int get_time(struct device *device)
{
   struct agx_uapi_get_time args = {0};
   return CALL(device, ASAHI_GET_TIME, args);
}

static void requests_fail_when_told(void **state)
{
   static const struct {
      const char *script;
      int results[6];
   } rows[] = {
      {"ioctl get_time 3 EINTR", {0, 0, -EINTR, 0, 0, 0}},
      {"ioctl get_time 2-3 ENOMEM", {0, -ENOMEM, -ENOMEM, 0, 0, 0}},
      {"ioctl get_time 4- 5", {0, 0, 0, -EIO, -EIO, -EIO}},
      {"ioctl get_time /2 EAGAIN", {0, -EAGAIN, 0, -EAGAIN, 0, -EAGAIN}},
      {"ioctl get_time 2-/3 EAGAIN", {0, -EAGAIN, 0, 0, -EAGAIN, 0}},
      {"ioctl get_time 2-4/2 EAGAIN", {0, -EAGAIN, 0, -EAGAIN, 0, 0}},
      {"ioctl any * EBUSY", {-EBUSY, -EBUSY, -EBUSY, -EBUSY, -EBUSY, -EBUSY}},
      {"# all\n\n ioctl get_time 1 EIO ; ioctl get_time 2 ENODEV # two\n",
       {-EIO, -ENODEV, 0, 0, 0, 0}},
      {"ioctl gem_create 1 EINTR", {0, 0, 0, 0, 0, 0}},
   };
   for (unsigned row = 0; row < AGX_COUNT(rows); row++) {
      struct device device = open_with(rows[row].script);
      unsigned failed = 0;
      for (unsigned i = 0; i < 6; i++) {
         assert_int_equal(get_time(&device), rows[row].results[i]);
         failed += rows[row].results[i] != 0;
      }
      assert_int_equal(count_injected(&device), failed);
      device_close(&device);
   }
}

/* Nothing is done by a request that fails so, and the argument stays as it was. */
static void a_request_that_fails_leaves_no_trace(void **state)
{
   struct device device = open_with("ioctl gem_create 1 ENOMEM; ioctl mmap 1 ENFILE");
   struct agx_uapi_gem_create args = {.size = PAGE, .handle = 77};
   assert_int_equal(CALL(&device, ASAHI_GEM_CREATE, args), -ENOMEM);
   assert_int_equal(args.handle, 77);
   assert_int_equal(make_gem(&device, PAGE, 0), 1);
   int error = 0;
   uint64_t offset = mmap_offset(&device, 1);
   assert_null(agx_virtual_mmap(device.file, NULL, PAGE, PROT_READ, MAP_SHARED, offset, &error));
   assert_int_equal(error, ENFILE);
   unmap_gem(&device, map_gem(&device, 1, PAGE), PAGE);
   device_close(&device);
   /* A mapping is no ioctl: these neither count nor fail it. */
   device = open_with("ioctl any 2 EBUSY; ioctl any 5 EINTR");
   uint32_t gem = make_gem(&device, PAGE, 0);
   assert_int_equal(get_time(&device), -EBUSY);
   unmap_gem(&device, map_gem(&device, gem, PAGE), PAGE);
   assert_int_equal(get_time(&device), 0);
   assert_int_equal(get_time(&device), -EINTR);
   device_close(&device);
}

static void binding_can_stop_halfway(void **state)
{
   struct device device = open_with("bind 2 2 ENOMEM");
   uint32_t gem = make_gem(&device, PAGE, 0);
   struct agx_uapi_gem_bind_op ops[3];
   for (unsigned i = 0; i < 3; i++)
      ops[i] = (struct agx_uapi_gem_bind_op){AGX_UAPI_BIND_READ, gem, 0, PAGE, (i + 1) * PAGE};
   assert_int_equal(bind_ops(&device, ops, 1), 0);
   assert_int_equal(bind_ops(&device, ops, 3), -ENOMEM);
   assert_int_equal(bind_ops(&device, ops, 3), 0);
   assert_int_equal(count_injected(&device), 1);
   device_close(&device);
}

static void memory_can_be_short(void **state)
{
   struct device device = open_with("memory 65536");
   assert_int_equal(try_gem(&device, 3 * PAGE), 0);
   assert_int_equal(try_gem(&device, 2 * PAGE), -ENOMEM);
   assert_int_equal(try_gem(&device, PAGE), 0);
   assert_int_equal(try_gem(&device, PAGE), -ENOMEM);
   struct agx_uapi_gem_close args = {.handle = 2};
   assert_int_equal(CALL(&device, GEM_CLOSE, args), 0);
   assert_int_equal(try_gem(&device, PAGE), 0);
   device_close(&device);
}

static void submissions_hang_and_fault(void **state)
{
   struct device device = open_with("hang 2 500; fault 3");
   assert_int_equal(outcome(&device, 1), 1);
   assert_int_equal(outcome(&device, 2), -ETIMEDOUT);
   assert_int_equal(outcome(&device, 3), -EIO);
   assert_int_equal(outcome(&device, 4), 1);
   assert_int_equal(run_count, 2);
   assert_int_equal(ran[1], 4);
   device_close(&device);
}

/* What was queued before is lost as well; other requests go on. */
static void a_lost_device_stays_lost(void **state)
{
   struct device device = open_with("slow 1 50000; lose 2");
   struct agx_uapi_get_params params = {0};
   uint32_t handles[3];
   for (unsigned i = 0; i < 3; i++) {
      handles[i] = make_syncobj(&device);
      assert_int_equal(submit_at(&device, i + 1, handles[i]), 0);
   }
   for (unsigned i = 0; i < 3; i++) {
      assert_int_equal(wait_syncobj(&device, handles[i], INT64_MAX, 0), 0);
      assert_int_equal(fence_status(&device, handles[i]), i ? -ENODEV : 1);
   }
   assert_int_equal(run_count, 1);
   assert_int_equal(submit_at(&device, 4, handles[0]), -ENODEV);
   assert_int_equal(CALL(&device, ASAHI_GET_PARAMS, params), -ENODEV);
   assert_int_equal(get_time(&device), 0);
   assert_int_equal(try_gem(&device, PAGE), 0);
   device_close(&device);
}

/* The one that is slow doesn't hold up the other. */
static void a_queue_can_be_slow(void **state)
{
   struct device device = open_with("slow 1 60000000");
   uint32_t slow = make_syncobj(&device);
   assert_int_equal(submit_at(&device, 1, slow), 0);
   device.queue = make_queue(&device, device.vm);
   for (uint64_t i = 2; i < 6; i++)
      assert_int_equal(outcome(&device, i), 1);
   assert_int_equal(wait_syncobj(&device, slow, 0, 0), -ETIME);
   assert_int_equal(run_count, 4);
   device_close(&device);
}

struct waiter {
   struct device *device;
   uint32_t handle;
   int64_t deadline_ns;
   int result;
   pthread_t thread;
};

static void *wait_in_thread(void *user)
{
   struct waiter *waiter = user;
   waiter->result = wait_syncobj(waiter->device, waiter->handle, waiter->deadline_ns,
                                 AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT);
   return NULL;
}

/* A waiter that isn't woken finds out by its own timeout, by the next event, or, where it
 * has no timeout, after a second. */
static void a_lost_wake_up_is_survived(void **state)
{
   struct device device = open_with("unwoken *");
   for (unsigned i = 0; i < 3; i++) {
      struct waiter waiter = {.device = &device, .handle = make_syncobj(&device)};
      waiter.deadline_ns = i == 0 ? now_ns() + 20000000 : INT64_MAX;
      pthread_create(&waiter.thread, NULL, wait_in_thread, &waiter);
      usleep(2000);
      assert_int_equal(submit_at(&device, i + 1, waiter.handle), 0);
      while (wait_syncobj(&device, waiter.handle, 0, 0) == -ETIME)
         usleep(100);
      bool was_late = now_ns() > waiter.deadline_ns; /* a busy machine */
      if (i == 1)
         signal_syncobj(&device, make_syncobj(&device));
      pthread_join(waiter.thread, NULL);
      assert_true(waiter.result == 0 || (was_late && waiter.result == -ETIME));
   }
   assert_int_equal(count_injected(&device), 3);
   device_close(&device);
}

static void scripts_are_refused_with_words(void **state)
{
   static const struct {
      const char *script, *text;
   } rows[] = {
      {"explode 1", "line 1: \"explode\" is none of ioctl, bind"},
      {"hang 1\n\nioctl submits 1 EIO", "line 3: \"submits\" is no request"},
      {"ioctl submit 1 EWHAT", "\"EWHAT\" is no errno"},
      {"ioctl submit 1 0", "\"0\" is no errno"},
      {"ioctl submit 1 4096", "\"4096\" is no errno"},
      {"ioctl submit 1", "\"ioctl\" ioctl NAME WHICH ERRNO"},
      {"ioctl", "\"ioctl\" ioctl NAME WHICH ERRNO"},
      {"ioctl submit 0 EIO", "\"0\" is none of N"},
      {"ioctl submit 5-4 EIO", "\"5-4\" is none of N"},
      {"ioctl submit -4 EIO", "\"-4\" is none of N"},
      {"ioctl submit 4-x EIO", "\"4-x\" is none of N"},
      {"ioctl submit 1-2-3 EIO", "\"1-2-3\" is none of N"},
      {"ioctl submit /0 EIO", "\"/0\" is none of N"},
      {"ioctl submit / EIO", "\"/\" is none of N"},
      {"ioctl submit 2-/0 EIO", "\"2-/0\" is none of N"},
      {"ioctl submit 2/3/4 EIO", "\"2/3/4\" is none of N"},
      {"hang 99999999999999999999", "\"99999999999999999999\" is none of N"},
      {"hang 1 60000001", "\"60000001\" is too large"},
      {"hang 1 1 1", "\"1\" is a word too many"},
      {"lose 1 2 3 4 5 6 7 8", "is a word too many"},
      {"slow 1", "\"slow\" slow WHICH MICROSECONDS"},
      {"memory lots", "\"lots\" is no number"},
      {"bind 1 -1 EIO", "\"-1\" is no number"},
      {"hang 1;\x01\x80", "\"??\" is none of"},
      {"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz 1",
       "\"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...\""},
   };
   struct agx_virtual_node *node;
   assert_ok(agx_virtual_node_create(agx_chip_find("g13g"), -1, &node));
   for (unsigned i = 0; i < AGX_COUNT(rows); i++)
      assert_fails(set_script(node, rows[i].script), AGX_INVALID_ARGUMENT, rows[i].text);
   agx_virtual_node_destroy(node);
}

static void a_script_has_limits(void **state)
{
   static char text[70000];
   struct agx_virtual_node *node;
   assert_ok(agx_virtual_node_create(agx_chip_find("g13g"), -1, &node));
   for (unsigned i = 0; i < 256; i++)
      memcpy(text + 7 * i, "hang 1;", 7);
   assert_ok(set_script(node, text));
   strcpy(text + 7 * 256, "hang 1");
   assert_fails(set_script(node, text), AGX_INVALID_ARGUMENT, "256 are allowed");
   memset(text, ' ', sizeof(text) - 1);
   assert_fails(set_script(node, text), AGX_INVALID_ARGUMENT, "more than 65536 bytes");
   agx_virtual_node_destroy(node);
}

/* Random bytes and random words never do more than be refused. */
static void any_text_is_survived(void **state)
{
   static const char *const words[] = {
      "ioctl", "bind",   "hang", "lose", "memory", "slow", "any",
      "mmap",  "submit", "1",    "2-",   "/3",     "2-/3", "*",
      "EIO",   ";",      "\n",   "#",    "-",      "\t",   "18446744073709551615"};
   struct agx_test_rng rng = {31};
   struct agx_virtual_node *node;
   assert_ok(agx_virtual_node_create(agx_chip_find("g13g"), -1, &node));
   for (unsigned i = 0; i < 20000; i++) {
      char text[160] = "";
      for (unsigned n = agx_test_random_below(&rng, 12); n; n--) {
         strcat(text, words[agx_test_random_below(&rng, AGX_COUNT(words))]);
         strcat(text, " ");
      }
      size_t length = strlen(text);
      if (length && i % 3 == 0)
         text[agx_test_random_below(&rng, length)] = (char)(1 + agx_test_random_below(&rng, 255));
      agx_status status = set_script(node, text);
      assert_true(status == AGX_OK || status == AGX_INVALID_ARGUMENT);
   }
   agx_virtual_node_destroy(node);
}

/* From the environment, the script itself or a file of it; a bad one opens no node. */
static void the_environment_gives_a_script(void **state)
{
   static const struct {
      const char *value, *text;
   } rows[] = {
      {"hang 1; bogus 2", "\"bogus\""},
      {"/nowhere/at/all", "fault script /nowhere/at/all"},
      {"@/", "fault script /"},
      {"/dev/zero", "more than 65536 bytes"},
   };
   struct agx_virtual_node *node;
   for (unsigned i = 0; i < AGX_COUNT(rows); i++) {
      setenv("AGX_VIRTUAL_INJECT", rows[i].value, 1);
      assert_true(agx_virtual_node_create(agx_chip_find("g13g"), -1, &node) != AGX_OK);
      assert_null(node);
      assert_non_null(strstr(agx_error_peek(), rows[i].text));
   }
   char path[] = "/tmp/agx-inject-XXXXXX";
   int fd = mkstemp(path);
   static const char script[] = "ioctl get_time 1 EINTR\n";
   assert_int_equal(write(fd, script, sizeof(script) - 1), sizeof(script) - 1);
   close(fd);
   setenv("AGX_VIRTUAL_INJECT", path, 1);
   struct device device = device_open(note_run);
   unsetenv("AGX_VIRTUAL_INJECT");
   unlink(path);
   assert_int_equal(get_time(&device), -EINTR);
   assert_int_equal(get_time(&device), 0);
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(requests_fail_when_told),
      cmocka_unit_test(a_request_that_fails_leaves_no_trace),
      cmocka_unit_test(binding_can_stop_halfway),
      cmocka_unit_test(memory_can_be_short),
      cmocka_unit_test(submissions_hang_and_fault),
      cmocka_unit_test(a_lost_device_stays_lost),
      cmocka_unit_test(a_queue_can_be_slow),
      cmocka_unit_test(a_lost_wake_up_is_survived),
      cmocka_unit_test(scripts_are_refused_with_words),
      cmocka_unit_test(a_script_has_limits),
      cmocka_unit_test(any_text_is_survived),
      cmocka_unit_test(the_environment_gives_a_script),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
