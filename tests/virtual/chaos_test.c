/* SPDX-License-Identifier: MIT
 *
 * The adversarial mode's scheduling: what fences and barriers order stays in order
 * under every seed, what they don't doesn't; ends are told in the order of a queue;
 * memory that is released under a running command is poisoned.
 */
#include <pthread.h>
#include <stdlib.h>

#include "program.h"

#define SEEDS 32u
#define HELD  0x100000ull

/* A machine that notes which streams it ran, and holds those at HELD until released. */
static struct {
   pthread_mutex_t lock;
   pthread_cond_t changed;
   bool open, started;
   uint64_t ran[16], seeds[16];
   unsigned count;
   const uint8_t *seen; /* by the held command, before it was held */
   uint8_t byte;        /* what it saw there afterwards */
} machine = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static agx_status run_noted(const struct agx_chip *chip, const struct agxs_memory *memory,
                            const struct agxs_options *options, uint64_t usc_base,
                            uint64_t stream_va, struct agxs_stats *out_stats)
{
   pthread_mutex_lock(&machine.lock);
   if (stream_va == HELD)
      machine.seen = memory->translate(memory->user, A_VA, AGXS_READ);
   machine.started = true;
   pthread_cond_broadcast(&machine.changed);
   while (stream_va == HELD && !machine.open)
      pthread_cond_wait(&machine.changed, &machine.lock);
   if (stream_va == HELD)
      machine.byte = *machine.seen;
   if (machine.count < AGX_COUNT(machine.ran)) {
      machine.seeds[machine.count] = options->chaos_seed;
      machine.ran[machine.count++] = stream_va;
   }
   pthread_mutex_unlock(&machine.lock);
   return AGX_OK;
}

static struct device open_machine(uint64_t seed)
{
   machine.open = machine.started = false;
   machine.count = 0;
   struct device device = device_open(run_noted);
   agx_virtual_set_option(device.node, AGX_VIRTUAL_CHAOS, seed);
   return device;
}

static struct agx_uapi_sync binary(uint32_t handle)
{
   return (struct agx_uapi_sync){AGX_UAPI_SYNC_SYNCOBJ, handle, 0};
}

static struct agx_uapi_sync point(uint32_t handle, uint64_t value)
{
   return (struct agx_uapi_sync){AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, handle, value};
}

/* Work behind the gate is ready all at once, when the gate opens. */
struct gated {
   struct device device;
   uint32_t gate, done;
   uint64_t points;
   void *page; /* at A_VA, which the gate's command sees; the first buffer */
};

static struct gated open_gated(uint64_t seed)
{
   struct gated it = {.device = open_machine(seed)};
   it.gate = make_syncobj(&it.device);
   it.done = make_syncobj(&it.device);
   return it;
}

static void submit_commands(struct gated *it, uint32_t queue, const struct compute_record *commands,
                            uint32_t count, bool after_last)
{
   struct agx_uapi_sync syncs[3];
   uint32_t ins = 0;
   syncs[ins++] = binary(it->gate);
   if (after_last)
      syncs[ins++] = point(it->done, it->points);
   syncs[ins] = point(it->done, ++it->points);
   struct agx_uapi_submit args = {
      .syncs = (uintptr_t)syncs,
      .cmdbuf = (uintptr_t)commands,
      .queue_id = queue,
      .in_sync_count = ins,
      .out_sync_count = 1,
      .cmdbuf_size = count * sizeof(*commands),
   };
   assert_int_equal(CALL(&it->device, ASAHI_SUBMIT, args), 0);
}

/* The gate: a submission that runs until released, on a queue of its own. */
static void close_gate(struct gated *it)
{
   struct device device = it->device;
   struct compute_record command = compute_command(HELD);
   struct agx_uapi_sync out = binary(it->gate);
   device.queue = make_queue(&device, device.vm);
   it->page = place(&it->device, A_VA, AGX_UAPI_BIND_READ, "x", 1);
   assert_int_equal(submit(&device, &command, &out, 0, 1), 0);
   pthread_mutex_lock(&machine.lock);
   while (!machine.started)
      pthread_cond_wait(&machine.changed, &machine.lock);
   pthread_mutex_unlock(&machine.lock);
}

static void open_gate(struct gated *it)
{
   pthread_mutex_lock(&machine.lock);
   machine.open = true;
   pthread_cond_broadcast(&machine.changed);
   pthread_mutex_unlock(&machine.lock);
   assert_int_equal(wait_point(&it->device, it->done, it->points, INT64_MAX, 0), 0);
}

/* Two commands at 1 and 2, in several ways; whether they ran in that order. */
enum way {
   TWO_QUEUES,
   TWO_QUEUES_FENCED,
   ONE_SUBMISSION_FREE,
   ONE_SUBMISSION_ORDERED,
   ONE_QUEUE_FREE,
   ONE_QUEUE_ORDERED,
};

static bool runs_in_order(enum way way, uint64_t seed)
{
   struct gated it = open_gated(seed);
   uint32_t other = make_queue(&it.device, it.device.vm);
   struct compute_record commands[2] = {compute_command(1), compute_command(2)};
   close_gate(&it);
   switch (way) {
   case TWO_QUEUES:
   case TWO_QUEUES_FENCED:
      submit_commands(&it, it.device.queue, &commands[0], 1, false);
      submit_commands(&it, other, &commands[1], 1, way == TWO_QUEUES_FENCED);
      break;
   case ONE_SUBMISSION_FREE:
   case ONE_SUBMISSION_ORDERED:
      commands[1].header.cdm_barrier = way == ONE_SUBMISSION_FREE ? AGX_UAPI_BARRIER_NONE : 1;
      submit_commands(&it, it.device.queue, commands, 2, false);
      break;
   case ONE_QUEUE_FREE:
   case ONE_QUEUE_ORDERED:
      commands[1].header.cdm_barrier = way == ONE_QUEUE_FREE ? AGX_UAPI_BARRIER_NONE : 0;
      submit_commands(&it, it.device.queue, &commands[0], 1, false);
      submit_commands(&it, it.device.queue, &commands[1], 1, false);
      break;
   }
   open_gate(&it);
   assert_int_equal(machine.count, 3);
   assert_int_equal(machine.ran[0], HELD);
   bool in_order = machine.ran[1] == 1;
   assert_int_equal(machine.ran[1] + machine.ran[2], 3);
   assert_int_equal(query(&it.device, it.done, 0), it.points);
   device_close(&it.device);
   return in_order;
}

static void only_what_is_ordered_stays_in_order(void **state)
{
   static const struct {
      enum way way;
      bool is_ordered;
   } rows[] = {
      {TWO_QUEUES, false},          {TWO_QUEUES_FENCED, true},
      {ONE_SUBMISSION_FREE, false}, {ONE_SUBMISSION_ORDERED, true},
      {ONE_QUEUE_FREE, false},      {ONE_QUEUE_ORDERED, true},
   };
   for (unsigned i = 0; i < AGX_COUNT(rows); i++) {
      unsigned in_order = 0;
      for (uint64_t seed = 1; seed <= SEEDS; seed++)
         in_order += runs_in_order(rows[i].way, seed);
      if (rows[i].is_ordered ? in_order != SEEDS : in_order < SEEDS / 8 || in_order > SEEDS * 7 / 8)
         fail_msg("way %u: in order under %u of %u seeds", rows[i].way, in_order, SEEDS);
   }
}

/* Without chaos everything goes in order. */
static void without_a_seed_there_is_no_chaos(void **state)
{
   assert_true(runs_in_order(ONE_SUBMISSION_FREE, 0));
   assert_true(runs_in_order(ONE_QUEUE_FREE, 0));
   assert_int_equal(machine.seeds[1], 0);
}

static void a_seed_gives_the_same_again(void **state)
{
   uint64_t seeds[3];
   for (uint64_t seed = 1; seed <= 8; seed++) {
      bool first = runs_in_order(TWO_QUEUES, seed);
      memcpy(seeds, machine.seeds, sizeof(seeds));
      assert_int_equal(runs_in_order(TWO_QUEUES, seed), first);
      assert_memory_equal(machine.seeds, seeds, sizeof(seeds));
      assert_true(seeds[0] && seeds[1] && seeds[2] && seeds[1] != seeds[2]);
   }
}

/* A command that still executes when its buffer goes reads poison, not what was there; the
 * next owner of the memory reads zeros. */
static void released_memory_is_poisoned(void **state)
{
   struct gated it = open_gated(5);
   struct device *device = &it.device;
   struct agx_virtual_statistics counts;
   struct agx_uapi_gem_close args = {.handle = 1};
   close_gate(&it);
   assert_int_equal(*machine.seen, 'x');
   unmap_gem(device, it.page, PAGE);
   assert_int_equal(CALL(device, GEM_CLOSE, args), 0);
   struct compute_record command = compute_command(1);
   submit_commands(&it, device->queue, &command, 1, false);
   open_gate(&it);
   assert_int_equal(machine.byte, 0xa5);
   agx_virtual_read_statistics(device->node, &counts);
   assert_int_equal(counts.memory_bytes, 0);
   const uint8_t *mapped = map_gem(device, make_gem(device, PAGE, 0), PAGE);
   for (unsigned i = 0; i < PAGE; i++)
      assert_int_equal(mapped[i], 0);
   device_close(device);
}

/* A real program, under the simulator's chaos too. */
static void a_sound_program_survives(void **state)
{
   for (uint64_t seed = 1; seed <= 16; seed++) {
      struct program it = load(add_code, sizeof(add_code));
      agx_virtual_set_option(it.device.node, AGX_VIRTUAL_CHAOS, seed);
      agx_virtual_set_option(it.device.node, AGX_VIRTUAL_STRICT, 1);
      for (int again = 0; again < 4; again++) {
         memset(it.out, 0, 16);
         assert_int_equal(finish(&it), 1);
         for (int i = 0; i < 4; i++)
            assert_true(it.out[i] == 11.0f * (float)(i + 1));
      }
      unmap_all(&it);
      device_close(&it.device);
   }
}

/* Who mistypes the seed is told, and doesn't run without chaos unknowingly. */
static void the_environment_gives_a_seed(void **state)
{
   static const char *const bad[] = {"x", "7 ", "-1", "99999999999999999999", "1.5"};
   struct agx_virtual_node *node;
   for (unsigned i = 0; i < AGX_COUNT(bad); i++) {
      setenv("AGX_VIRTUAL_CHAOS", bad[i], 1);
      assert_fails(agx_virtual_node_create(agx_chip_find("g13g"), -1, &node), AGX_INVALID_ARGUMENT,
                   "it takes a number from 0 to");
   }
   setenv("AGX_VIRTUAL_CHAOS", "0x11", 1);
   struct device device = device_open(run_noted);
   unsetenv("AGX_VIRTUAL_CHAOS");
   machine.count = 0;
   run(&device, 1);
   assert_int_equal(machine.count, 1);
   assert_true(machine.seeds[0] != 0);
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_what_is_ordered_stays_in_order),
      cmocka_unit_test(without_a_seed_there_is_no_chaos),
      cmocka_unit_test(a_seed_gives_the_same_again),
      cmocka_unit_test(released_memory_is_poisoned),
      cmocka_unit_test(a_sound_program_survives),
      cmocka_unit_test(the_environment_gives_a_seed),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
