/* SPDX-License-Identifier: MIT
 *
 * Imports of any memory of the host, for transfers: done by the host, in the order of semaphores,
 * and refused by name for everything that the GPU would have to reach.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES 10007u /* no pages, no words */
#define USAGE (AGX_USAGE_TRANSFER | AGX_USAGE_MAPPING)

/* A buffer over malloc's memory, at an odd address. */
struct imported_bytes {
   struct work w;
   uint8_t *memory, *bytes;
   struct agx_buffer *buffer, *device_buffer;
   uint32_t *device_words;
   _Atomic int releases;
};

static void count_release(void *user)
{
   ++*(_Atomic int *)user;
}

static agx_status import_bytes(struct imported_bytes *it, uint32_t usage, void *pointer,
                               uint64_t bytes, struct agx_buffer **out)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .usage = usage, .label = "of malloc"};
   const struct agx_external external = {.size = sizeof(external),
                                         .kind = AGX_EXTERNAL_HOST_POINTER,
                                         .pointer = pointer,
                                         .size_B = bytes};
   const struct agx_release_callback callback = {count_release, (void *)&it->releases};
   return agx_buffer_import(it->w.f->device, &desc, &external, callback, out);
}

static void open_imported(struct imported_bytes *it)
{
   *it = (struct imported_bytes){0};
   work_open(&it->w, "virtual");
   it->memory = malloc(BYTES + 3);
   it->bytes = it->memory + 3;
   for (uint32_t i = 0; i < BYTES; i++)
      it->bytes[i] = (uint8_t)(i * 7);
   it->device_buffer = fixture_buffer(it->w.f, 16384, &it->device_words);
   assert_ok(import_bytes(it, USAGE, it->bytes, BYTES, &it->buffer));
}

static void close_imported(struct imported_bytes *it)
{
   agx_release(it->buffer);
   while (!it->releases) /* the last operation's reference goes after its signals */
      usleep(500);
   assert_int_equal(it->releases, 1);
   agx_release(it->device_buffer);
   work_close(&it->w);
   free(it->memory);
}

static agx_status submit_op(struct imported_bytes *it, struct agx_op op, uint64_t wait,
                            uint64_t signal)
{
   const struct agx_point points[] = {{it->w.done, wait}, {it->w.done, signal}};
   op.size = sizeof(op);
   op.waits = &points[0];
   op.wait_count = 1;
   op.signals = &points[1];
   op.signal_count = 1;
   return agx_submit(it->w.f->device, &op, 1, NULL);
}

static struct agx_op copy_of(struct agx_buffer *from, uint64_t from_B, struct agx_buffer *to,
                             uint64_t to_B, uint64_t bytes)
{
   return (struct agx_op){.kind = AGX_OP_COPY,
                          .u.copy = {{from, from_B, bytes}, {to, to_B, bytes}}};
}

/* Each waits for the one before: host, GPU and host again. */
static void transfers_are_done_in_order(void **state)
{
   struct imported_bytes it;
   open_imported(&it);
   const struct agx_op fill_device = {.kind = AGX_OP_FILL,
                                      .u.fill = {{it.device_buffer, 0, 16}, {0xaa}, 1}};
   const struct agx_op fill_host = {.kind = AGX_OP_FILL,
                                    .u.fill = {{it.buffer, 100, 200}, {1, 2, 3, 4}, 4}};
   const struct agx_op update = {.kind = AGX_OP_UPDATE,
                                 .u.update = {"hello", {it.buffer, 9000, 5}}};
   assert_ok(submit_op(&it, copy_of(it.buffer, 1, it.device_buffer, 0, BYTES - 1), 1, 2));
   assert_ok(submit_op(&it, fill_device, 2, 3));
   assert_ok(submit_op(&it, copy_of(it.device_buffer, 0, it.buffer, 5000, 32), 3, 4));
   assert_ok(submit_op(&it, fill_host, 4, 5));
   assert_ok(submit_op(&it, update, 5, 6));
   it.bytes[1] = 99; /* before the first one runs */
   assert_ok(agx_semaphore_signal(it.w.done, 1));
   assert_ok(fixture_wait(it.w.done, 6));
   const uint8_t *device = (const uint8_t *)it.device_words;
   assert_int_equal(device[0], 0xaa);
   assert_int_equal(device[15], 0xaa);
   assert_int_equal(device[16], (uint8_t)(17 * 7));
   assert_int_equal(device[BYTES - 2], (uint8_t)((BYTES - 1) * 7));
   for (uint32_t i = 0; i < 16; i++) {
      assert_int_equal(it.bytes[5000 + i], 0xaa);
      assert_int_equal(it.bytes[5016 + i], (uint8_t)((17 + i) * 7));
   }
   assert_int_equal(it.bytes[99], (uint8_t)(99 * 7));
   for (uint32_t i = 0; i < 200; i++)
      assert_int_equal(it.bytes[100 + i], i % 4 + 1);
   assert_int_equal(it.bytes[300], (uint8_t)(300 * 7));
   assert_memory_equal(it.bytes + 9000, "hello", 5);
   close_imported(&it);
}

static void the_host_sees_it(void **state)
{
   struct imported_bytes it;
   void *memory;
   struct agx_buffer_info info = {.size = sizeof(info)};
   struct agx_external external = {.size = sizeof(external)};
   open_imported(&it);
   assert_ok(agx_buffer_map(it.buffer, &memory));
   assert_ptr_equal(memory, it.bytes);
   agx_buffer_get_info(it.buffer, &info);
   assert_int_equal(info.size_B, BYTES);
   assert_true(info.is_imported);
   assert_false(info.is_exportable);
   assert_fails(agx_buffer_export(it.buffer, AGX_EXTERNAL_ADDRESS, &external),
                AGX_FAILED_PRECONDITION, "of malloc");
   assert_fails(agx_buffer_export(it.buffer, AGX_EXTERNAL_DMA_BUF, &external),
                AGX_FAILED_PRECONDITION, "of malloc");
   close_imported(&it);
}

static void the_gpu_is_refused_by_name(void **state)
{
   struct imported_bytes it;
   open_imported(&it);
   const struct agx_buffer_ref all = {it.buffer, 0, 256}, device = {it.device_buffer, 0, 256};
   const struct agx_binding binding = {.ref = all};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = it.w.count,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 1,
                                         .bindings = &binding};
   const uint32_t pattern = 0;
   struct agx_command_buffer *commands = fixture_begin(it.w.f);
   assert_fails(agx_cmd_fill(commands, all, &pattern, 4), AGX_PERMISSION_DENIED, "of malloc");
   agx_release(commands);
   commands = fixture_begin(it.w.f);
   assert_fails(agx_cmd_copy(commands, device, all), AGX_PERMISSION_DENIED, "AGX_OP_COPY");
   agx_release(commands);
   commands = fixture_begin(it.w.f);
   assert_fails(agx_cmd_update(commands, &pattern, (struct agx_buffer_ref){it.buffer, 0, 4}),
                AGX_PERMISSION_DENIED, "of malloc");
   agx_release(commands);
   commands = fixture_begin(it.w.f);
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_PERMISSION_DENIED, "of malloc");
   agx_release(commands);
   struct agx_buffer *more = NULL;
   assert_fails(import_bytes(&it, 0, it.bytes, BYTES, &more), AGX_UNAVAILABLE, "anonymous");
   assert_fails(import_bytes(&it, USAGE | AGX_USAGE_STORAGE_READ, it.bytes, BYTES, &more),
                AGX_UNAVAILABLE, "anonymous");
   assert_null(more);
   close_imported(&it);
}

static void what_is_wrong_is_said(void **state)
{
   struct imported_bytes it;
   struct agx_buffer *more = NULL;
   open_imported(&it);
   const size_t page = (size_t)sysconf(_SC_PAGESIZE);
   uint8_t *hole = mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   assert_true(hole != MAP_FAILED);
   assert_fails(import_bytes(&it, USAGE, hole, page, &more), AGX_UNAVAILABLE, "not mapped for");
   munmap(hole + page, page);
   assert_fails(import_bytes(&it, USAGE, hole, 3 * page, &more), AGX_UNAVAILABLE, "mapped");
   munmap(hole, 3 * page);
   assert_fails(submit_op(&it, copy_of(it.buffer, 0, it.device_buffer, 0, BYTES + 1), 0, 1),
                AGX_OUT_OF_RANGE, "of malloc");
   assert_fails(submit_op(&it, copy_of(it.buffer, 0, it.buffer, 10, 20), 0, 1),
                AGX_INVALID_ARGUMENT, "overlap");
   const struct agx_op update = {.kind = AGX_OP_UPDATE, .u.update = {NULL, {it.buffer, 0, 5}}};
   assert_fails(submit_op(&it, update, 0, 1), AGX_INVALID_ARGUMENT, "at NULL");
   const struct agx_op fill = {.kind = AGX_OP_FILL, .u.fill = {{it.buffer, 1, 8}, {0}, 4}};
   assert_fails(submit_op(&it, fill, 0, 1), AGX_INVALID_ARGUMENT, "no multiples");
   close_imported(&it);
}

/* What waits when the device is cancelled moves nothing, and the buffer goes. */
static void transfers_can_be_cancelled(void **state)
{
   struct imported_bytes it;
   open_imported(&it);
   assert_ok(submit_op(&it, copy_of(it.device_buffer, 0, it.buffer, 0, 64), 1, 2));
   agx_device_cancel(it.w.f->device);
   assert_int_equal(fixture_wait(it.w.done, 2), AGX_CANCELLED);
   assert_int_equal(it.bytes[1], 7);
   close_imported(&it);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(transfers_are_done_in_order), cmocka_unit_test(the_host_sees_it),
      cmocka_unit_test(the_gpu_is_refused_by_name),  cmocka_unit_test(what_is_wrong_is_said),
      cmocka_unit_test(transfers_can_be_cancelled),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
