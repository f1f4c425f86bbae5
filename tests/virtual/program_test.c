/* SPDX-License-Identifier: MIT
 *
 * Whole programs through the requests and the simulator: the addition that ran on an
 * M1 (source: docs/hw/cmdstream.md 3), byte for byte; one that never
 * ends; one that leaves its memory; one that is no program.
 */
#include "program.h"

static const uint8_t endless_code[] = {
   0x00, 0xc0, 0x00, 0x00, 0x00, 0x00, /* jump to itself while any thread is active */
   0x88, 0x00, 0x08, 0x00, 0x08, 0x00,
};

static void the_recorded_addition_adds(void **state)
{
   struct program it = load(add_code, sizeof(add_code));
   assert_int_equal(finish(&it), 1);
   for (int i = 0; i < 4; i++)
      assert_true(it.out[i] == 11.0f * (float)(i + 1));
   device_close(&it.device);
}

static void an_endless_program_times_out(void **state)
{
   struct program it = load(endless_code, sizeof(endless_code));
   agx_virtual_set_option(it.device.node, AGX_VIRTUAL_TIMEOUT, 100000);
   assert_int_equal(finish(&it), -ETIMEDOUT);
   assert_last_error(&it, "DEADLINE_EXCEEDED");
   device_close(&it.device);
}

static void unbind(struct program *it, uint64_t va)
{
   struct agx_uapi_gem_bind_op op = {AGX_UAPI_BIND_UNBIND, 0, 0, PAGE, va};
   assert_int_equal(bind_ops(&it->device, &op, 1), 0);
}

static void soft_faults_read_0_and_are_told(void **state)
{
   struct program it = load(add_code, sizeof(add_code));
   unbind(&it, A_VA);
   assert_int_equal(finish(&it), 1);
   for (int i = 0; i < 4; i++)
      assert_true(it.out[i] == 10.0f * (float)(i + 1));
   assert_last_error(&it, "soft fault");
   assert_last_error(&it, "0x200000800");
   device_close(&it.device);
}

static void strict_makes_them_errors(void **state)
{
   struct program it = load(add_code, sizeof(add_code));
   agx_virtual_set_option(it.device.node, AGX_VIRTUAL_STRICT, 1);
   unbind(&it, OUT_VA);
   assert_int_equal(finish(&it), -EIO);
   assert_last_error(&it, "0x200001000");
   device_close(&it.device);
}

static void a_stream_that_is_not_there_is_a_fault(void **state)
{
   struct program it = load(add_code, sizeof(add_code));
   unbind(&it, STREAM_VA);
   assert_int_equal(finish(&it), -EIO);
   assert_last_error(&it, "0x2000004000");
   device_close(&it.device);
}

/* Everything about them can be read afterwards. */
static void faults_are_counted_and_kept(void **state)
{
   struct program it = load(add_code, sizeof(add_code));
   struct agx_virtual_statistics counts;
   struct agx_virtual_fault faults[16];
   unbind(&it, A_VA);
   assert_int_equal(finish(&it), 1);
   unbind(&it, OUT_VA);
   assert_int_equal(finish(&it), 1);
   unbind(&it, STREAM_VA);
   assert_int_equal(finish(&it), -EIO);
   agx_virtual_read_statistics(it.device.node, &counts);
   assert_int_equal(counts.submissions, 3);
   assert_int_equal(counts.soft_loads, 8);
   assert_int_equal(counts.soft_stores, 4);
   assert_int_equal(counts.hard_faults, 1);
   assert_int_equal(counts.failures, 1);
   assert_int_equal(counts.memory_bytes, PROGRAM_PAGES * PAGE);
   assert_int_equal(agx_virtual_read_faults(it.device.node, faults, 16), 4 + 4 + 4 + 1);
   assert_int_equal(faults[2].va, A_VA + 8);
   assert_int_equal(faults[2].thread, 2);
   assert_int_equal(faults[2].submission, 1);
   assert_string_equal(faults[2].access, "load");
   assert_false(faults[2].is_hard);
   assert_int_equal(agx_virtual_read_faults(it.device.node, faults, 2), 2);
   assert_string_equal(faults[0].access, "store");
   assert_int_equal(faults[0].va, OUT_VA + 12);
   assert_true(faults[1].is_hard);
   assert_int_equal(faults[1].va, STREAM_VA);
   device_close(&it.device);
}

/* Told of one stream, until told otherwise; the program runs to its end. */
static void accesses_out_of_bounds_fail_a_command(void **state)
{
   struct program it = load(add_code, sizeof(add_code));
   struct agx_virtual_node *node = it.device.node;
   struct agxs_range ranges[] = {
      {A_VA, 16, 0, AGXS_READ}, {B_VA, 16, 0, AGXS_READ}, {OUT_VA, 16, 0, AGXS_WRITE}};
   struct agx_virtual_statistics counts;
   struct agx_virtual_fault fault;
   assert_int_equal(agx_virtual_declare_bounds(node, STREAM_VA, ranges, 3), 0);
   assert_int_equal(finish(&it), 1);
   ranges[1].bytes = 11;
   assert_int_equal(agx_virtual_declare_bounds(node, STREAM_VA + 4, ranges, 3), 0);
   assert_int_equal(finish(&it), 1);
   assert_int_equal(agx_virtual_declare_bounds(node, STREAM_VA, ranges, 3), 0);
   memset(it.out, 0, 16);
   assert_int_equal(finish(&it), -EIO);
   assert_last_error(&it, "submission 3, command 0: 2 accesses out of bounds; dispatch 0: ");
   assert_last_error(&it,
                     "(load) at address 0x200000c008, 4 bytes, workgroup 0,0,0, thread 2, pc 0x");
   assert_true(it.out[3] == 44.0f);
   agx_virtual_read_statistics(node, &counts);
   assert_int_equal(counts.outside, 2);
   assert_int_equal(counts.soft_loads + counts.soft_stores, 0);
   assert_int_equal(counts.failures, 1);
   assert_int_equal(agx_virtual_read_faults(node, &fault, 1), 1);
   assert_int_equal(fault.va, B_VA + 12);
   assert_int_equal(fault.bytes, 4);
   assert_int_equal(fault.thread, 3);
   assert_false(fault.is_hard);
   assert_int_equal(agx_virtual_declare_bounds(node, STREAM_VA, NULL, 0), 0);
   assert_int_equal(finish(&it), 1);
   device_close(&it.device);
}

static void what_is_no_instruction_is_named(void **state)
{
   static const uint8_t nonsense[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
   struct program it = load(nonsense, sizeof(nonsense));
   assert_true(finish(&it) < 0);
   assert_last_error(&it, "submission 1, command 0");
   device_close(&it.device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_recorded_addition_adds),
      cmocka_unit_test(an_endless_program_times_out),
      cmocka_unit_test(soft_faults_read_0_and_are_told),
      cmocka_unit_test(strict_makes_them_errors),
      cmocka_unit_test(a_stream_that_is_not_there_is_a_fault),
      cmocka_unit_test(faults_are_counted_and_kept),
      cmocka_unit_test(accesses_out_of_bounds_fail_a_command),
      cmocka_unit_test(what_is_no_instruction_is_named),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
