/* SPDX-License-Identifier: MIT
 *
 * Whole programs through the requests and the simulator: the addition that ran on an
 * M1 (source: reference/cmdstream, worked example), byte for byte; one that never
 * ends; one that leaves its memory; one that is no program.
 */
#include "device.h"

#define CODE_VA    (USC_BASE + 0x4000)
#define WORDS_VA   (USC_BASE + 0x8000)
#define UNIFORM_VA 0x2000000000ull
#define STREAM_VA  0x2000004000ull
#define A_VA       0x2000008000ull
#define B_VA       0x200000c000ull
#define OUT_VA     0x2000010000ull

static const uint8_t add_code[] = {
   0x72, 0x01, 0x10, 0x04,                         /* r0 = thread in grid, x */
   0x05, 0x09, 0x08, 0x0e, 0x00, 0xc0, 0x12, 0x00, /* r1 = A[r0] */
   0x05, 0x11, 0x04, 0x4e, 0x00, 0xc0, 0x12, 0x00, /* r2 = B[r0] */
   0x38, 0x00, 0x38, 0x01,                         /* wait for both */
   0x2a, 0x85, 0xc2, 0x42, 0x2c, 0x00,             /* r1 = r1 + r2, as floats */
   0x45, 0x09, 0x00, 0x0e, 0x00, 0xc0, 0x12, 0x00, /* out[r0] = r1 */
   0x88, 0x00,                                     /* stop */
   0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00,
};

static const uint8_t endless_code[] = {
   0x00, 0xc0, 0x00, 0x00, 0x00, 0x00, /* jump to itself while any thread is active */
   0x88, 0x00, 0x08, 0x00, 0x08, 0x00,
};

static const uint8_t usc_words[] = {
   0x1d, 0x00, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x20, /* 12 uniform halves */
   0x4d, 0x90, 0x00, 0x00,                         /* no threadgroup memory */
   0x0d, 0x0c, 0x00, 0x40, 0x00, 0x00,             /* code at + 0x4000 */
   0x8d, 0x01, 0x00, 0x00,                         /* 8 register halves */
   0x88, 0x00,                                     /* no preamble, end */
};

static const uint32_t stream[] = {0x00000002, 0x00008000, 4,          1,          1, 4,
                                  1,          1,          0x600fffff, 0x40000000, 0};

struct program {
   struct device device;
   float *out;
   uint32_t syncobj;
};

static void *place(struct device *device, uint64_t va, uint32_t flags, const void *bytes,
                   size_t size)
{
   uint32_t gem = make_gem(device, PAGE, AGX_UAPI_GEM_VM_PRIVATE);
   void *memory = map_gem(device, gem, PAGE);
   assert_int_equal(bind_gem(device, gem, va, PAGE, flags), 0);
   memcpy(memory, bytes, size);
   return memory;
}

static struct program load(const uint8_t *code, size_t size)
{
   static const uint64_t uniforms[] = {OUT_VA, B_VA, A_VA};
   static const float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40}, zero[4];
   struct program it = {.device = device_open(agx_virtual_default_run_compute())};
   struct device *device = &it.device;
   agx_virtual_set_option(device->node, AGX_VIRTUAL_THREADS, 1);
   place(device, CODE_VA, AGX_UAPI_BIND_READ, code, size);
   place(device, WORDS_VA, AGX_UAPI_BIND_READ, usc_words, sizeof(usc_words));
   place(device, UNIFORM_VA, AGX_UAPI_BIND_READ, uniforms, sizeof(uniforms));
   place(device, STREAM_VA, AGX_UAPI_BIND_READ, stream, sizeof(stream));
   place(device, A_VA, AGX_UAPI_BIND_READ, a, sizeof(a));
   place(device, B_VA, AGX_UAPI_BIND_READ, b, sizeof(b));
   it.out = place(device, OUT_VA, AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE, zero, sizeof(zero));
   return it;
}

/* Submits and returns the status of the out-fence: 1 or a negative errno. */
static int finish(struct program *it)
{
   struct device *device = &it->device;
   uint32_t handle = make_syncobj(device);
   struct agx_uapi_sync out = {AGX_UAPI_SYNC_SYNCOBJ, handle, 0};
   struct compute_record command = compute_command(STREAM_VA);
   assert_int_equal(submit(device, &command, &out, 0, 1), 0);
   assert_int_equal(wait_syncobj(device, handle, INT64_MAX, AGX_UAPI_SYNCOBJ_WAIT_ALL), 0);
   return fence_status(device, handle);
}

static void assert_last_error(struct program *it, const char *part)
{
   char text[512];
   agx_virtual_last_error(it->device.node, text, sizeof(text));
   if (!strstr(text, part))
      fail_msg("\"%s\" is not in \"%s\"", part, text);
}

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

static void what_is_no_instruction_is_named(void **state)
{
   static const uint8_t nonsense[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
   struct program it = load(nonsense, sizeof(nonsense));
   assert_true(finish(&it) < 0);
   assert_last_error(&it, "submission 1, command 0");
   device_close(&it.device);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_recorded_addition_adds),
      cmocka_unit_test(an_endless_program_times_out),
      cmocka_unit_test(soft_faults_read_0_and_are_told),
      cmocka_unit_test(strict_makes_them_errors),
      cmocka_unit_test(a_stream_that_is_not_there_is_a_fault),
      cmocka_unit_test(what_is_no_instruction_is_named),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
