/* SPDX-License-Identifier: MIT
 *
 * Objects of one device given to another of the same instance: refused wherever they can be given,
 * with a text that names both devices, and nothing is left behind.
 */
#include "conformance.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE_B 16384

/* One of each on a device. */
struct kit {
   struct fixture f;
   struct agx_executable *add;
   struct agx_buffer *buffer, *reserved;
   struct agx_pages *pages;
   struct agx_pool *pool;
   struct agx_file *file;
   struct agx_event *event;
   struct agx_semaphore *semaphore;
   struct agx_command_buffer *commands;
   uint64_t page_B;
};

static uint8_t file_bytes[64];

static void make_kit(struct kit *kit)
{
   struct fixture *f = &kit->f;
   const struct agx_buffer_desc desc = {.size = sizeof(desc),
                                        .size_B = SIZE_B,
                                        .usage = AGX_USAGE_DISPATCH | AGX_USAGE_TRANSFER |
                                                 AGX_USAGE_INDIRECT_PARAMETERS,
                                        .label = "thing"};
   const struct agx_pool_desc pool = {.size = sizeof(pool), .strategy = AGX_POOL_VARIABLE};
   const struct agx_file_desc file = {.size = sizeof(file),
                                      .kind = AGX_FILE_HOST_MEMORY,
                                      .access = AGX_FILE_READ | AGX_FILE_WRITE,
                                      .memory = file_bytes,
                                      .memory_B = sizeof(file_bytes)};
   struct agx_buffer_desc space = {.size = sizeof(space)};
   uint64_t best_B;
   agx_vmem_granularity(f->device, &kit->page_B, &best_B);
   space.size_B = kit->page_B;
   kit->add = fixture_kernel(f, &agx_test_add);
   assert_ok(agx_buffer_create(f->device, &desc, &kit->buffer));
   assert_ok(agx_vmem_reserve(f->device, &space, &kit->reserved));
   assert_ok(agx_pages_create(f->device, &space, &kit->pages));
   assert_ok(agx_pool_create(f->device, &pool, &kit->pool));
   assert_ok(agx_file_import(f->device, &file, &kit->file));
   assert_ok(agx_event_create(f->device, &kit->event));
   kit->semaphore = fixture_semaphore(f);
   kit->commands = fixture_begin(f);
   assert_ok(agx_command_buffer_end(kit->commands));
}

static void drop_kit(struct kit *kit)
{
   void *objects[] = {kit->add,  kit->buffer, kit->reserved,  kit->pages,   kit->pool,
                      kit->file, kit->event,  kit->semaphore, kit->commands};
   for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
      agx_release(objects[i]);
}

/* ---- what a text must say ------------------------------------------------------ */

/* "number 4 (virtual:g14s), not number 3 (renderD128)" */
static void assert_names_both(agx_status status, const struct kit *theirs, const struct kit *ours)
{
   char text[512], *not ;
   agx_error_text(text, sizeof(text));
   if (getenv("AGX_TEST_SHOW"))
      print_message("%s\n", text);
   assert_int_equal(status, AGX_INVALID_ARGUMENT);
   assert_non_null(strstr(text, "of another device: number "));
   not = strstr(text, ", not number ");
   assert_non_null(not );
   assert_non_null(strstr(not, ours->f.info.node));
   *not = 0;
   assert_non_null(strstr(text, theirs->f.info.node));
   assert_int_not_equal(strtol(strstr(text, "number ") + 7, NULL, 10), strtol(not +13, NULL, 10));
}

static agx_status submit(struct kit *ours, uint32_t kind, void (*fill)(struct agx_op *, void *),
                         void *user)
{
   struct agx_op op = {.size = sizeof(op), .kind = kind};
   uint32_t queued = 1;
   fill(&op, user);
   agx_status status = agx_submit(ours->f.device, &op, 1, &queued);
   assert_int_equal(queued, 0);
   return status;
}

static void assert_cannot_end(struct agx_command_buffer *commands)
{
   assert_fails(agx_command_buffer_end(commands), AGX_INVALID_ARGUMENT, "recording call failed");
   agx_release(commands);
}

/* What a dispatch uses, one of which is theirs. */
struct used {
   struct agx_executable *executable;
   struct agx_buffer *x, *y, *counts;
};

static void try_dispatch(struct kit *ours, struct kit *theirs, const struct used *used)
{
   const uint32_t push = 1;
   struct agx_binding bindings[] = {{0, 0, {used->x, 0, 128}}, {0, 1, {used->y, 0, 128}}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = used->executable,
                                   .workgroups = {1, 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings,
                                   .push = &push,
                                   .push_B = 4,
                                   .counts = {used->counts, 0, used->counts ? 12 : 0}};
   struct agx_op op = {
      .size = sizeof(op), .kind = AGX_OP_DISPATCH, .u.dispatch.dispatch = &dispatch};
   struct agx_command_buffer *commands = fixture_begin(&ours->f);
   assert_names_both(agx_submit(ours->f.device, &op, 1, NULL), theirs, ours);
   assert_names_both(agx_cmd_dispatch(commands, &dispatch), theirs, ours);
   assert_cannot_end(commands);
}

static void dispatches(struct kit *ours, struct kit *theirs)
{
   const struct used all[] = {
      {theirs->add, ours->buffer, ours->buffer, NULL},
      {ours->add, theirs->buffer, ours->buffer, NULL},
      {ours->add, ours->buffer, theirs->buffer, NULL},
      {ours->add, ours->buffer, ours->buffer, theirs->buffer},
   };
   for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
      try_dispatch(ours, theirs, &all[i]);
}

static void wait_for(struct agx_op *op, void *point)
{
   op->waits = point;
   op->wait_count = 1;
}

static void signal_to(struct agx_op *op, void *point)
{
   op->signals = point;
   op->signal_count = 1;
}

static void execute(struct agx_op *op, void *commands)
{
   op->u.execute.commands = commands;
}

static void fill(struct agx_op *op, void *buffer)
{
   op->u.fill = (struct agx_op_fill){{buffer, 0, 8}, {1}, 1};
}

static void update(struct agx_op *op, void *buffer)
{
   op->u.update = (struct agx_op_update){file_bytes, {buffer, 0, 8}};
}

static void copy(struct agx_op *op, void *buffers)
{
   struct agx_buffer **two = buffers;
   op->u.copy = (struct agx_op_copy){{two[0], 0, 8}, {two[1], 8, 8}};
}

static struct agx_buffer *from_pool;

static void take(struct agx_op *op, void *pool)
{
   op->u.alloca = (struct agx_op_alloca){pool, 64, 0, &from_pool};
}

static void give_back(struct agx_op *op, void *buffer)
{
   op->u.dealloca.buffer = buffer;
}

struct transfer {
   struct agx_file *file;
   struct agx_buffer *buffer;
};

static void move(struct agx_op *op, void *transfer)
{
   struct transfer *it = transfer;
   op->u.file = (struct agx_op_file){it->file, 0, {it->buffer, 0, 8}};
}

static void operations(struct kit *ours, struct kit *theirs)
{
   struct agx_point point = conformance_point(theirs->semaphore, 1);
   struct agx_buffer *from[] = {theirs->buffer, ours->buffer};
   struct agx_buffer *to[] = {ours->buffer, theirs->buffer};
   struct transfer file = {theirs->file, ours->buffer}, buffer = {ours->file, theirs->buffer};
   const struct {
      uint32_t kind;
      void (*fill)(struct agx_op *op, void *user);
      void *user;
   } all[] = {
      {AGX_OP_BARRIER, wait_for, &point},
      {AGX_OP_BARRIER, signal_to, &point},
      {AGX_OP_EXECUTE, execute, theirs->commands},
      {AGX_OP_FILL, fill, theirs->buffer},
      {AGX_OP_UPDATE, update, theirs->buffer},
      {AGX_OP_COPY, copy, from},
      {AGX_OP_COPY, copy, to},
      {AGX_OP_ALLOCA, take, theirs->pool},
      {AGX_OP_DEALLOCA, give_back, theirs->buffer},
      {AGX_OP_READ, move, &file},
      {AGX_OP_READ, move, &buffer},
      {AGX_OP_WRITE, move, &file},
      {AGX_OP_WRITE, move, &buffer},
   };
   for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
      assert_names_both(submit(ours, all[i].kind, all[i].fill, all[i].user), theirs, ours);
   assert_null(from_pool);
   assert_names_both(agx_buffer_release_after(ours->buffer, &point, 1), theirs, ours);
}

static void a_table(struct kit *ours, struct kit *theirs)
{
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc), .table_slots = 1};
   const struct agx_buffer_ref theirs_ref = {theirs->buffer, 0, 128};
   struct agx_command_buffer *commands;
   assert_ok(agx_command_buffer_create(ours->f.device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(agx_command_buffer_end(commands));
   struct agx_op op = {
      .size = sizeof(op), .kind = AGX_OP_EXECUTE, .u.execute = {commands, &theirs_ref, 1}};
   assert_names_both(agx_submit(ours->f.device, &op, 1, NULL), theirs, ours);
   agx_release(commands);
}

static void commands(struct kit *ours, struct kit *theirs)
{
   struct agx_buffer *barrier_buffers[] = {ours->buffer, theirs->buffer};
   const struct agx_barrier barrier = {
      .size = sizeof(barrier), .buffer_count = 2, .buffers = barrier_buffers};
   const struct agx_buffer_ref mine = {ours->buffer, 0, 8}, other = {theirs->buffer, 0, 8};
   for (int which = 0; which < 6; which++) {
      struct agx_command_buffer *it = fixture_begin(&ours->f);
      agx_status status = AGX_OK;
      switch (which) {
      case 0:
         status = agx_cmd_barrier(it, &barrier);
         break;
      case 1:
         status = agx_cmd_event(it, theirs->event, AGX_EVENT_SIGNAL, NULL);
         break;
      case 2:
         status = agx_cmd_fill(it, other, "x", 1);
         break;
      case 3:
         status = agx_cmd_update(it, file_bytes, other);
         break;
      case 4:
         status = agx_cmd_copy(it, other, mine);
         break;
      default:
         status = agx_cmd_copy(it, mine, other);
         break;
      }
      assert_names_both(status, theirs, ours);
      assert_cannot_end(it);
   }
}

static void memory(struct kit *ours, struct kit *theirs)
{
   assert_names_both(agx_vmem_bind(ours->reserved, 0, theirs->pages, 0, ours->page_B,
                                   AGX_ACCESS_READ | AGX_ACCESS_WRITE),
                     theirs, ours);
}

static void everything_is_refused(void **state)
{
   struct kit one = {.f = *conformance_gpu(state)}, two = {0};
   const struct agx_device_desc desc = {.size = sizeof(desc), .name = conformance_device_name()};
   two.f.instance = one.f.instance;
   assert_ok(agx_device_open(one.f.instance, &desc, &two.f.device));
   two.f.info.size = sizeof(two.f.info);
   agx_device_get_info(two.f.device, &two.f.info);
   make_kit(&one);
   make_kit(&two);
   for (int turn = 0; turn < 2; turn++) {
      struct kit *ours = turn ? &two : &one, *theirs = turn ? &one : &two;
      dispatches(ours, theirs);
      operations(ours, theirs);
      a_table(ours, theirs);
      commands(ours, theirs);
      memory(ours, theirs);
   }
   drop_kit(&one);
   drop_kit(&two);
   agx_release(two.f.device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_is_refused),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
