/* SPDX-License-Identifier: MIT
 *
 * Several devices of one instance: what one makes another uses, through memory and semaphores that
 * they share; failures go as far as dependences do. Between nodes of the system semaphores go as
 * syncobjs and sync_files; virtual devices in this process are worlds of their own, joined by
 * eventfds and watches.
 */
#include "conformance.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FRAMES 6
#define WORDS  32

/* ---- devices ---------------------------------------------------------------- */

static bool is_in_process(void)
{
   return strncmp(conformance_device_name(), "virtual", 7) == 0;
}

/* Another device of f's instance; in this process of another chip. */
static void open_beside(const struct fixture *f, const struct agx_device_desc *wanted,
                        struct fixture *out)
{
   struct agx_device_desc desc = *wanted;
   desc.size = sizeof(desc);
   desc.name = is_in_process() ? "virtual:g14s" : conformance_device_name();
   *out = (struct fixture){.instance = f->instance};
   agx_retain(f->instance);
   assert_ok(agx_device_open(f->instance, &desc, &out->device));
   out->info.size = sizeof(out->info);
   agx_device_get_info(out->device, &out->info);
}

/* One that a fault script is for: the rules of the run with `more` behind them. */
static void open_injected(const struct fixture *f, const char *more, struct fixture *out)
{
   const char *had = getenv("AGX_VIRTUAL_INJECT");
   char *rules = had ? strdup(had) : NULL, script[256];
   snprintf(script, sizeof(script), "%s%s%s", rules ? rules : "", rules ? "; " : "", more);
   setenv("AGX_VIRTUAL_INJECT", script, 1);
   open_beside(f, &(struct agx_device_desc){0}, out);
   if (rules)
      setenv("AGX_VIRTUAL_INJECT", rules, 1);
   else
      unsetenv("AGX_VIRTUAL_INJECT");
   free(rules);
}

static agx_status submit_on(struct fixture *f, uint64_t queues, struct agx_command_buffer *commands,
                            struct agx_point wait, struct agx_point signal)
{
   struct agx_op op = {
      .size = sizeof(op),
      .kind = commands ? AGX_OP_EXECUTE : AGX_OP_BARRIER,
      .queues = queues,
      .waits = &wait,
      .signals = &signal,
      .wait_count = wait.semaphore != NULL,
      .signal_count = signal.semaphore != NULL,
      .u.execute.commands = commands,
   };
   return agx_submit(f->device, &op, 1, NULL);
}

/* 32 words of `to` become those of `from` and push. */
static struct agx_command_buffer *record_add(struct fixture *f, struct agx_executable *add,
                                             struct agx_buffer *from, struct agx_buffer *to,
                                             uint32_t push)
{
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, add, 1, (struct agx_buffer *[]){from, to}, 2, &push, 4);
   assert_ok(agx_command_buffer_end(commands));
   return commands;
}

/* A store to where nothing is, which is a fault: main asks for that. */
static struct agx_command_buffer *record_fault(struct fixture *f, struct agx_executable *stray)
{
   const uint64_t address = UINT64_C(0x7000000000);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, stray, 1, NULL, 0, &address, 8);
   assert_ok(agx_command_buffer_end(commands));
   return commands;
}

static struct agx_buffer *make_shared(struct fixture *a, struct fixture *b,
                                      struct agx_buffer **out_theirs)
{
   const struct agx_buffer_desc desc = {.size = sizeof(desc),
                                        .size_B = a->info.page_B,
                                        .usage = AGX_USAGE_DISPATCH | AGX_USAGE_TRANSFER |
                                                 AGX_USAGE_SHARING_EXPORT};
   struct agx_external external = {.size = sizeof(external)};
   struct agx_buffer *ours;
   assert_ok(agx_buffer_create(a->device, &desc, &ours));
   assert_ok(agx_buffer_export(ours, AGX_EXTERNAL_DMA_BUF, &external));
   assert_ok(
      agx_buffer_import(b->device, NULL, &external, (struct agx_release_callback){0}, out_theirs));
   close(external.fd);
   return ours;
}

/* ---- wires: values of one device's semaphore become another's ---------------- */

enum way {
   BY_SYNCOBJ,
   BY_SYNC_FILE,
   BY_EVENTFD,
   BY_WATCH,
};

struct wire {
   enum way way;
   struct agx_semaphore *from, *to;
   struct agx_watch watches[FRAMES + 1];
};

static void open_wire(struct wire *wire, enum way way, struct fixture *a, struct fixture *b)
{
   int fd;
   *wire = (struct wire){.way = way, .from = fixture_semaphore(a)};
   if (way != BY_SYNCOBJ) {
      wire->to = fixture_semaphore(b);
      return;
   }
   assert_ok(agx_semaphore_export(wire->from, 0, AGX_FD_SYNCOBJ, &fd));
   assert_ok(agx_semaphore_import(b->device, fd, &wire->to));
   close(fd);
}

static void close_wire(struct wire *wire)
{
   agx_release(wire->from);
   agx_release(wire->to);
}

/* As an adapter for another driver's semaphores would. */
static void pass_on(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct agx_semaphore *to = watch->user;
   char text[512];
   agx_error_text(text, sizeof(text));
   if (status != AGX_OK)
      agx_semaphore_fail(to, status, text);
   else
      (void)!agx_semaphore_signal(to, watch->value); /* a later one may have come before */
}

/* Once for each value, which for sync_files is submitted and on the GPU. */
static void carry(struct wire *wire, uint64_t value)
{
   int fd;
   if (wire->way == BY_SYNC_FILE || wire->way == BY_EVENTFD) {
      uint32_t kind = wire->way == BY_SYNC_FILE ? AGX_FD_SYNC_FILE : AGX_FD_EVENTFD;
      agx_status status = agx_semaphore_export(wire->from, value, kind, &fd);
      char text[512];
      agx_error_text(text, sizeof(text));
      if (status != AGX_OK) /* it has failed by then */
         agx_semaphore_fail(wire->to, status, text);
      else
         assert_ok(agx_semaphore_import_point(wire->to, value, kind, fd));
   } else if (wire->way == BY_WATCH) {
      struct agx_watch *watch = &wire->watches[value];
      *watch = (struct agx_watch){.value = value, .fn = pass_on, .user = wire->to};
      assert_ok(agx_semaphore_watch(wire->from, watch));
   }
}

/* Descriptors of the kernel's objects say what they are; another virtual device knows none. */
static bool is_possible(enum way way)
{
   return !is_in_process() || way == BY_EVENTFD || way == BY_WATCH;
}

/* ---- pipelines --------------------------------------------------------------- */

/* A makes frame after frame in one buffer, B takes each out of it before A may make the next. */
static void run_pipeline(struct fixture *a, struct fixture *b, enum way way, uint64_t b_queues)
{
   struct agx_executable *add_a = fixture_kernel(a, &agx_test_add);
   struct agx_executable *add_b = fixture_kernel(b, &agx_test_add);
   struct agx_command_buffer *make[FRAMES], *take[FRAMES];
   struct agx_buffer *theirs, *ours = make_shared(a, b, &theirs), *base, *out[FRAMES];
   uint32_t *base_words, *words[FRAMES];
   struct wire made, taken;
   open_wire(&made, way, a, b);
   open_wire(&taken, way, b, a);
   base = fixture_buffer(a, 4 * WORDS, &base_words);
   for (uint32_t i = 0; i < WORDS; i++)
      base_words[i] = 3 * i;
   for (uint32_t i = 0; i < FRAMES; i++) {
      out[i] = fixture_buffer(b, 4 * WORDS, &words[i]);
      make[i] = record_add(a, add_a, base, ours, 100 * (i + 1));
      take[i] = record_add(b, add_b, theirs, out[i], 7);
   }
   for (uint32_t i = 0; i < FRAMES; i++) {
      struct agx_point free_again = i ? conformance_point(taken.to, i) : NO_POINT;
      if (way == BY_SYNC_FILE && i)
         assert_ok(fixture_wait(taken.to, i)); /* only what the GPU has can be exported */
      assert_ok(submit_on(a, 0, make[i], free_again, conformance_point(made.from, i + 1)));
      carry(&made, i + 1);
      assert_ok(submit_on(b, b_queues, take[i], conformance_point(made.to, i + 1),
                          conformance_point(taken.from, i + 1)));
      if (way == BY_SYNC_FILE)
         assert_ok(fixture_wait(taken.from, i + 1));
      carry(&taken, i + 1);
   }
   assert_ok(fixture_wait(taken.from, FRAMES));
   assert_ok(fixture_wait(taken.to, FRAMES));
   for (uint32_t frame = 0; frame < FRAMES; frame++) {
      for (uint32_t i = 0; i < WORDS; i++)
         assert_int_equal(words[frame][i], 3 * i + 100 * (frame + 1) + 7);
      agx_release(out[frame]);
      agx_release(make[frame]);
      agx_release(take[frame]);
   }
   close_wire(&made);
   close_wire(&taken);
   agx_release(base);
   agx_release(ours);
   agx_release(theirs);
   agx_release(add_a);
   agx_release(add_b);
}

static void a_pipeline(void **state, enum way way)
{
   struct fixture *a = conformance_gpu(state), b;
   if (!is_possible(way))
      skip();
   open_beside(a, &(struct agx_device_desc){0}, &b);
   run_pipeline(a, &b, way, 0);
   fixture_close(&b);
}

static void a_pipeline_by_syncobjs(void **state)
{
   a_pipeline(state, BY_SYNCOBJ);
}

static void a_pipeline_by_sync_files(void **state)
{
   a_pipeline(state, BY_SYNC_FILE);
}

static void a_pipeline_by_eventfds(void **state)
{
   a_pipeline(state, BY_EVENTFD);
}

static void a_pipeline_by_watches(void **state)
{
   a_pipeline(state, BY_WATCH);
}

static void devices_have_queues_of_their_own(void **state)
{
   static const uint32_t priorities[] = {AGX_QUEUE_LOW, AGX_QUEUE_MEDIUM, AGX_QUEUE_LOW,
                                         AGX_QUEUE_MEDIUM};
   struct fixture *a = conformance_gpu(state), one, four;
   open_beside(a, &(struct agx_device_desc){.queue_count = 1}, &one);
   open_beside(a, &(struct agx_device_desc){.queue_count = 4, .queue_priorities = priorities},
               &four);
   assert_int_equal(one.info.queue_count, 1);
   assert_int_equal(four.info.queue_count, 4);
   assert_fails(submit_on(&one, 2, NULL, NO_POINT, NO_POINT), AGX_INVALID_ARGUMENT,
                "queues 0x2; the device has 1");
   for (uint32_t queue = 0; queue < 4; queue++)
      run_pipeline(&one, &four, BY_WATCH, UINT64_C(1) << queue);
   run_pipeline(&four, &one, BY_EVENTFD, 1);
   assert_fails(agx_flush(one.device, 2), AGX_INVALID_ARGUMENT, "");
   assert_ok(agx_flush(four.device, 8));
   fixture_close(&one);
   fixture_close(&four);
}

static void other_worlds_are_told_apart(void **state)
{
   struct fixture *a = conformance_gpu(state), b;
   struct agx_semaphore *ours = fixture_semaphore(a), *imported = NULL;
   int fd;
   if (!is_in_process())
      skip();
   open_beside(a, &(struct agx_device_desc){0}, &b);
   assert_ok(agx_semaphore_export(ours, 0, AGX_FD_SYNCOBJ, &fd));
   assert_fails(agx_semaphore_import(b.device, fd, &imported), AGX_INVALID_ARGUMENT, "syncobj");
   assert_null(imported);
   close(fd);
   agx_release(ours);
   fixture_close(&b);
}

/* ---- waits ------------------------------------------------------------------- */

static int64_t in_ms(int64_t ms)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + ms * 1000000;
}

struct waiter {
   pthread_t thread;
   const struct agx_point *points;
   uint32_t count;
   bool any;
   agx_status status;
   char text[256];
};

static void *wait_there(void *argument)
{
   struct waiter *it = argument;
   it->status = agx_semaphore_wait(it->points, it->count, it->any, AGX_DEADLINE_NEVER);
   agx_error_text(it->text, sizeof(it->text));
   return NULL;
}

static void start(struct waiter *it, const struct agx_point *points, uint32_t count, bool any)
{
   *it = (struct waiter){.points = points, .count = count, .any = any};
   assert_int_equal(pthread_create(&it->thread, NULL, wait_there, it), 0);
}

static void points_of_three_devices(void **state)
{
   struct fixture *a = conformance_gpu(state), others[2];
   struct agx_semaphore *s[3] = {fixture_semaphore(a)};
   struct agx_executable *count[3] = {fixture_kernel(a, &agx_test_count)};
   struct agx_point points[3];
   struct waiter any, all, both;
   uint32_t *words;
   for (unsigned i = 0; i < 2; i++) {
      open_beside(a, &(struct agx_device_desc){0}, &others[i]);
      s[i + 1] = fixture_semaphore(&others[i]);
      count[i + 1] = fixture_kernel(&others[i], &agx_test_count);
   }
   for (unsigned i = 0; i < 3; i++)
      points[i] = conformance_point(s[i], 1);
   assert_fails(agx_semaphore_wait(points, 3, true, 0), AGX_DEADLINE_EXCEEDED, "waited for 1");
   assert_fails(agx_semaphore_wait(points, 3, false, in_ms(3)), AGX_DEADLINE_EXCEEDED,
                "waited for 1");
   start(&any, points, 3, true);
   start(&all, points, 3, false);
   struct agx_buffer *buffer = fixture_buffer(&others[1], 256, &words);
   struct agx_command_buffer *commands = fixture_begin(&others[1]);
   fixture_dispatch(commands, count[2], 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&others[1], commands, NO_POINT, points[2]));
   pthread_join(any.thread, NULL);
   assert_int_equal(any.status, AGX_OK);
   assert_int_equal(words[63], 64);
   assert_ok(agx_semaphore_wait(points, 3, true, 0));
   assert_fails(agx_semaphore_wait(points, 3, false, 0), AGX_DEADLINE_EXCEEDED, "waited for 1");
   assert_ok(agx_semaphore_signal(s[0], 1));
   assert_ok(agx_semaphore_signal(s[1], 1));
   pthread_join(all.thread, NULL);
   assert_int_equal(all.status, AGX_OK);
   assert_ok(agx_semaphore_wait(points, 3, false, 0));

   /* A failure ends a wait for all, whatever the others do, but not one that is over. */
   for (unsigned i = 0; i < 3; i++)
      points[i].value = 2;
   start(&both, points, 2, false);
   start(&all, points, 3, false);
   start(&any, points, 3, true);
   agx_semaphore_fail(s[1], AGX_DATA_LOSS, "the second one is cut");
   struct waiter *ended[] = {&both, &all, &any};
   for (unsigned i = 0; i < 3; i++) {
      pthread_join(ended[i]->thread, NULL);
      assert_int_equal(ended[i]->status, AGX_DATA_LOSS);
      assert_string_equal(ended[i]->text, "the second one is cut");
   }
   assert_fails(agx_semaphore_wait(points, 3, false, 0), AGX_DATA_LOSS, "second one");
   assert_fails(agx_semaphore_wait(points, 3, false, AGX_DEADLINE_NEVER), AGX_DATA_LOSS, "");
   assert_ok(agx_semaphore_signal(s[2], 2));
   assert_ok(agx_semaphore_wait(points, 3, true, AGX_DEADLINE_NEVER));
   points[1].value = 1; /* which it had reached */
   points[0].value = 1;
   assert_ok(agx_semaphore_wait(points, 3, false, AGX_DEADLINE_NEVER));
   for (unsigned i = 0; i < 3; i++) {
      agx_release(s[i]);
      agx_release(count[i]);
   }
   agx_release(commands);
   agx_release(buffer);
   fixture_close(&others[0]);
   fixture_close(&others[1]);
}

/* ---- failures ---------------------------------------------------------------- */

/* A fault on A fails what depends on it on B, and by that on C; nothing else. expected AGX_OK: one
 * of the codes of a GPU's failure. */
static void a_fault_travels(void **state, enum way way, agx_status expected, const char *text)
{
   struct fixture *f = conformance_gpu(state), a, b, c;
   struct agx_semaphore *free_a, *free_b;
   struct wire first, second;
   uint32_t *words_a, *words_b, *words_c;
   if (!is_possible(way))
      skip();
   open_beside(f, &(struct agx_device_desc){0}, &a);
   open_beside(f, &(struct agx_device_desc){0}, &b);
   open_beside(f, &(struct agx_device_desc){0}, &c);
   open_wire(&first, way, &a, &b);
   open_wire(&second, BY_WATCH, &b, &c);
   struct agx_executable *stray = fixture_kernel(&a, &agx_test_stray);
   struct agx_executable *add_a = fixture_kernel(&a, &agx_test_add);
   struct agx_executable *add_b = fixture_kernel(&b, &agx_test_add);
   struct agx_executable *add_c = fixture_kernel(&c, &agx_test_add);
   struct agx_buffer *on_a = fixture_buffer(&a, 4 * WORDS, &words_a);
   struct agx_buffer *on_b = fixture_buffer(&b, 4 * WORDS, &words_b);
   struct agx_buffer *on_c = fixture_buffer(&c, 4 * WORDS, &words_c);
   struct agx_command_buffer *faulting = record_fault(&a, stray);
   struct agx_command_buffer *of_a = record_add(&a, add_a, on_a, on_a, 1);
   struct agx_command_buffer *of_b = record_add(&b, add_b, on_b, on_b, 1);
   struct agx_command_buffer *of_c = record_add(&c, add_c, on_c, on_c, 1);
   free_a = fixture_semaphore(&a);
   free_b = fixture_semaphore(&b);
   carry(&second, 1);
   assert_ok(submit_on(&a, 1, faulting, NO_POINT, conformance_point(first.from, 1)));
   carry(&first, 1);
   assert_ok(
      fixture_submit(&b, of_b, conformance_point(first.to, 1), conformance_point(second.from, 1)));
   assert_ok(fixture_submit(&c, of_c, conformance_point(second.to, 1), NO_POINT));
   assert_ok(fixture_submit(&b, of_b, NO_POINT, conformance_point(free_b, 1)));
   assert_ok(submit_on(&a, 2, of_a, NO_POINT, conformance_point(free_a, 1)));
   /* Unrelated: another queue of A, and B. */
   assert_ok(fixture_wait(free_b, 1));
   assert_ok(fixture_wait(free_a, 1));
   assert_fails(fixture_wait(first.from, 1), AGX_DATA_LOSS, "GPU fault");
   if (expected == AGX_OK) {
      expected = fixture_wait(first.to, 1);
      assert_true(expected == AGX_DATA_LOSS || expected == AGX_ABORTED);
   }
   assert_fails(fixture_wait(first.to, 1), expected, text);
   assert_fails(fixture_wait(second.from, 1), expected, text);
   assert_fails(fixture_wait(second.to, 1), expected, text);
   assert_ok(agx_device_status(b.device));
   assert_ok(agx_device_status(c.device));
   assert_int_equal(words_a[0], 1);
   /* By the one that depended on nothing; the other may have been on the GPU, behind the fence. */
   assert_in_range(words_b[0], 1, way == BY_WATCH ? 1 : 2);
   assert_int_equal(words_c[0], 0);
   /* A's queue comes back; B and C never went. */
   assert_ok(agx_queue_recreate(a.device, 0));
   assert_fails(agx_queue_recreate(b.device, 0), AGX_FAILED_PRECONDITION, "");
   assert_ok(submit_on(&a, 1, of_a, NO_POINT, conformance_point(free_a, 2)));
   assert_ok(fixture_submit(&c, of_c, NO_POINT, NO_POINT));
   assert_ok(fixture_wait(free_a, 2));
   void *objects[] = {of_a,  of_b,  of_c,  faulting, on_a,   on_b,  on_c,
                      stray, add_a, add_b, add_c,    free_a, free_b};
   for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
      agx_release(objects[i]);
   close_wire(&first);
   close_wire(&second);
   fixture_close(&a);
   fixture_close(&b);
   fixture_close(&c);
}

/* As the fence's error, or, where A has told of its failure already, as the value that means one:
 * a syncobj has no failures. */
static void a_fault_travels_by_syncobjs(void **state)
{
   a_fault_travels(state, BY_SYNCOBJ, AGX_OK, "");
}

static void a_fault_travels_by_sync_files(void **state)
{
   a_fault_travels(state, BY_SYNC_FILE, AGX_DATA_LOSS, "GPU fault");
}

static void a_fault_travels_by_watches(void **state)
{
   a_fault_travels(state, BY_WATCH, AGX_DATA_LOSS, "GPU fault");
}

/* Nodes of the system are lost as a whole, with all devices on them. */
static void a_lost_device_leaves_the_others(void **state)
{
   struct fixture *f = conformance_gpu(state), lost, other;
   struct wire wire;
   uint32_t *words, *lost_words;
   if (!is_in_process())
      skip();
   open_injected(f, "lose 1", &lost);
   open_beside(f, &(struct agx_device_desc){0}, &other);
   open_wire(&wire, BY_WATCH, &lost, &other);
   struct agx_executable *add_lost = fixture_kernel(&lost, &agx_test_add);
   struct agx_executable *add = fixture_kernel(&other, &agx_test_add);
   struct agx_buffer *theirs, *ours = make_shared(&lost, &other, &theirs);
   struct agx_buffer *on_lost = fixture_buffer(&lost, 4 * WORDS, &lost_words);
   struct agx_buffer *out = fixture_buffer(&other, 4 * WORDS, &words);
   struct agx_command_buffer *make = record_add(&lost, add_lost, on_lost, ours, 5);
   struct agx_command_buffer *take = record_add(&other, add, theirs, out, 7);
   struct agx_semaphore *own = fixture_semaphore(&other), *parked = fixture_semaphore(&lost);
   assert_ok(
      fixture_submit(&lost, NULL, conformance_point(parked, 1), conformance_point(parked, 2)));
   carry(&wire, 1);
   assert_ok(
      fixture_submit(&other, take, conformance_point(wire.to, 1), conformance_point(own, 10)));
   (void)!fixture_submit(&lost, make, NO_POINT, conformance_point(wire.from, 1));
   assert_int_not_equal(fixture_wait(wire.from, 1), AGX_OK);
   assert_int_not_equal(agx_device_status(lost.device), AGX_OK);
   assert_int_not_equal(fixture_wait(parked, 2), AGX_OK);
   assert_int_not_equal(fixture_wait(own, 10), AGX_OK);
   assert_ok(agx_device_status(other.device));
   assert_int_equal(words[0], 0);
   /* The memory outlives the device that made it. */
   agx_release(own);
   own = fixture_semaphore(&other);
   agx_release(make);
   agx_release(ours);
   assert_ok(fixture_submit(&other, take, NO_POINT, conformance_point(own, 1)));
   assert_ok(fixture_wait(own, 1));
   assert_int_equal(words[0], 7);
   void *objects[] = {take, on_lost, theirs, out, add, add_lost, own, parked};
   for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
      agx_release(objects[i]);
   close_wire(&wire);
   fixture_close(&lost);
   fixture_close(&other);
}

AGX_TEST_FILE(void)
{
   setenv("AGX_VIRTUAL_STRICT", "1", 1); /* stray accesses are faults */
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pipeline_by_syncobjs),
      cmocka_unit_test(a_pipeline_by_sync_files),
      cmocka_unit_test(a_pipeline_by_eventfds),
      cmocka_unit_test(a_pipeline_by_watches),
      cmocka_unit_test(devices_have_queues_of_their_own),
      cmocka_unit_test(other_worlds_are_told_apart),
      cmocka_unit_test(points_of_three_devices),
      cmocka_unit_test(a_fault_travels_by_syncobjs),
      cmocka_unit_test(a_fault_travels_by_sync_files),
      cmocka_unit_test(a_fault_travels_by_watches),
      cmocka_unit_test(a_lost_device_leaves_the_others),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
