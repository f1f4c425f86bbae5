/* SPDX-License-Identifier: MIT
 *
 * Files that close, and processes that die, while a command of theirs executes that
 * would not end for years: its fence fails at once, and no memory stays.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "program.h"

/* Tells that it executes, then goes on for ever. */
static const char *const endless = "mov d=r0 a=1\n"
                                   "mov d=r1 a=0\n"
                                   "store r=r0 base=du0 index=r1 format=i32 mask=x group=a\n"
                                   "jmp_any offset=0";
static const char *const brief = "mov d=r0 a=1\n"
                                 "mov d=r1 a=0\n"
                                 "store r=r0 base=du0 index=r1 format=i32 mask=x group=a";
static const uint32_t huge[] = {2, 0x8000, 0xffffffff, 0xffff, 1, 4, 1, 1};

static struct program load_text(const char *text)
{
   uint8_t code[512];
   size_t size = assemble(text, code, sizeof(code));
   struct program it = load(code, size);
   agx_virtual_set_option(it.device.node, AGX_VIRTUAL_TIMEOUT, 0);
   agx_virtual_set_option(it.device.node, AGX_VIRTUAL_WORKGROUPS, 0);
   return it;
}

static uint32_t submit_one(struct program *it)
{
   uint32_t handle = make_syncobj(&it->device);
   struct agx_uapi_sync out = {AGX_UAPI_SYNC_SYNCOBJ, handle, 0};
   struct compute_record command = compute_command(STREAM_VA);
   assert_int_equal(submit(&it->device, &command, &out, 0, 1), 0);
   return handle;
}

/* The GPU writes what this reads, with nothing between: that is the point. */
__attribute__((no_sanitize("thread"))) static void await_execution(struct program *it)
{
   while (*(volatile float *)it->out == 0)
      usleep(100);
}

/* The same syncobj in another open file. */
static uint32_t share(struct program *it, struct device *other, uint32_t handle)
{
   struct agx_uapi_syncobj_handle args = {.handle = handle};
   assert_int_equal(CALL(&it->device, SYNCOBJ_HANDLE_TO_FD, args), 0);
   assert_int_equal(CALL(other, SYNCOBJ_FD_TO_HANDLE, args), 0);
   close(args.fd);
   return args.handle;
}

static void assert_gone(struct device *other, uint32_t handle)
{
   struct agx_virtual_statistics counts;
   assert_int_equal(wait_syncobj(other, handle, INT64_MAX, 0), 0);
   assert_int_equal(fence_status(other, handle), -ECANCELED);
   agx_virtual_read_statistics(other->node, &counts);
   assert_int_equal(counts.cancelled, 1);
   assert_int_equal(counts.memory_bytes, 0);
}

static void close_in_flight(struct program *it)
{
   struct device other = {.node = it->device.node};
   assert_ok(agx_virtual_open(other.node, &other.file));
   uint32_t shared = share(it, &other, submit_one(it));
   await_execution(it);
   /* A queue that has no number any more still belongs to the file. */
   struct agx_uapi_queue_destroy destroy = {it->device.queue, 0};
   assert_int_equal(CALL(&it->device, ASAHI_QUEUE_DESTROY, destroy), 0);
   unmap_all(it);
   agx_virtual_close(it->device.file);
   assert_gone(&other, shared);
   agx_virtual_close(other.file);
   agx_virtual_node_destroy(other.node);
}

static void a_close_ends_an_endless_kernel(void **state)
{
   struct program it = load_text(endless);
   close_in_flight(&it);
}

static void a_close_ends_a_huge_grid(void **state)
{
   struct program it = load_text(brief);
   memcpy(it.stream, huge, sizeof(huge));
   close_in_flight(&it);
}

static atomic_bool executes;

/* Meets the mappings' end before it looks whether it was told to end. */
static agx_status without_mappings(const struct agx_chip *chip, const struct agxs_memory *memory,
                                   const struct agxs_options *options, uint64_t usc_base,
                                   uint64_t stream_va, struct agxs_stats *out_stats)
{
   atomic_store(&executes, true);
   while (!atomic_load(options->cancel))
      usleep(100);
   return AGX_FAIL(AGX_DATA_LOSS, "stream: not mapped");
}

static void a_close_is_what_failed(void **state)
{
   struct program it = load(add_code, sizeof(add_code));
   agx_virtual_set_run_compute(it.device.node, without_mappings);
   struct device other = {.node = it.device.node};
   assert_ok(agx_virtual_open(other.node, &other.file));
   uint32_t shared = share(&it, &other, submit_one(&it));
   while (!atomic_load(&executes))
      usleep(100);
   unmap_all(&it);
   agx_virtual_close(it.device.file);
   assert_gone(&other, shared);
   agx_virtual_close(other.file);
   agx_virtual_node_destroy(other.node);
}

/* Its workers go with it, so that only the jobs are left, which others find. */
static void a_death_frees_what_it_left(void **state)
{
   struct agx_virtual_node *node;
   int ready[2];
   int fd = memfd_create("agx-virtual-test", 0);
   assert_int_equal(pipe(ready), 0);
   pid_t child = fork();
   if (child == 0) {
      uint8_t code[512];
      size_t size = assemble(endless, code, sizeof(code));
      struct program it = load_on(fd, code, size);
      submit_one(&it);
      await_execution(&it);
      assert_int_equal(write(ready[1], "r", 1), 1);
      pause();
   }
   char byte;
   assert_int_equal(read(ready[0], &byte, 1), 1);
   kill(child, SIGKILL);
   waitpid(child, NULL, 0);
   assert_ok(agx_virtual_node_create(agx_chip_find("g13g"), fd, &node));
   struct agx_virtual_statistics counts;
   agx_virtual_read_statistics(node, &counts);
   assert_int_equal(counts.submissions, 1);
   assert_int_equal(counts.cancelled, 1);
   assert_int_equal(counts.memory_bytes, 0);
   agx_virtual_node_destroy(node);
}

/* More than any GPU would get through. */
static void a_huge_grid_times_out(void **state)
{
   struct program it = load_text(brief);
   memcpy(it.stream, huge, sizeof(huge));
   agx_virtual_set_option(it.device.node, AGX_VIRTUAL_WORKGROUPS, 1u << 20);
   assert_int_equal(finish(&it), -ETIMEDOUT);
   assert_last_error(&it, "more than 1048576 workgroups");
   device_close(&it.device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_close_ends_an_endless_kernel),
      cmocka_unit_test(a_close_ends_a_huge_grid),
      cmocka_unit_test(a_close_is_what_failed),
      cmocka_unit_test(a_death_frees_what_it_left),
      cmocka_unit_test(a_huge_grid_times_out),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
