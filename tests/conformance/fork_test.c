/* SPDX-License-Identifier: MIT
 *
 * What a child of fork(2) may do: nothing with what its parent opened, which says so and never
 * hangs; everything with a device of its own. The parent notices nothing.
 */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

#define HANGS_AFTER_S 60
#define WORDS         64u

/* One of each, with work under way. */
struct world {
   struct fixture f;
   struct agx_buffer *buffer, *unmapped, *range;
   struct agx_pages *pages;
   struct agx_pool *pool;
   struct agx_image *image;
   struct agx_executable *count;
   struct agx_event *event;
   struct agx_semaphore *reached, *parked;
   struct agx_command_buffer *recorded, *open;
   struct agx_watch watch;
   struct agx_host_call *call; /* deferred, whose operation signals parked 3 */
   uint32_t *words;
};

static void ignore(struct agx_watch *watch, agx_status status, uint64_t value) {}

static agx_status defer(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct world *w = user;
   w->call = call;
   assert_ok(agx_semaphore_signal(w->reached, 1));
   return AGX_DEFERRED;
}

static void submit_host_call(struct world *w)
{
   const struct agx_point signal = {w->parked, 3};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_HOST_CALL,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.host_call = {.fn = defer, .user = w}};
   assert_ok(agx_submit(w->f.device, &op, 1, NULL));
   assert_ok(fixture_wait(w->reached, 1));
}

static void make_memory(struct world *w)
{
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 4 * WORDS};
   w->buffer = fixture_buffer(&w->f, 4 * WORDS, &w->words);
   assert_ok(agx_buffer_create(w->f.device, &desc, &w->unmapped));
   desc.size_B = 1u << 20;
   assert_ok(agx_vmem_reserve(w->f.device, &desc, &w->range));
   assert_ok(agx_pages_create(w->f.device, &desc, &w->pages));
   assert_ok(agx_pool_create(w->f.device, NULL, &w->pool));
   const struct agx_image_desc image = {
      .size = sizeof(image), .type = AGX_IMAGE_2D, .format = "R32_UINT", .width = 4, .height = 4};
   assert_ok(agx_image_create(w->f.device, &image, &w->image));
}

static struct agx_command_buffer *record(struct fixture *f, struct agx_executable *count,
                                         struct agx_buffer *buffer)
{
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
   return commands;
}

static void open_world(struct world *w, void **state)
{
   struct fixture *shared = conformance_gpu(state);
   *w = (struct world){0};
   conformance_open_another(&w->f);
   assert_non_null(shared);
   make_memory(w);
   w->count = fixture_kernel(&w->f, &agx_test_count);
   w->reached = fixture_semaphore(&w->f);
   w->parked = fixture_semaphore(&w->f);
   assert_ok(agx_event_create(w->f.device, &w->event));
   w->recorded = record(&w->f, w->count, w->buffer);
   assert_ok(agx_command_buffer_end(w->recorded));
   w->open = record(&w->f, w->count, w->buffer);
   w->watch = (struct agx_watch){.value = 100, .fn = ignore};
   assert_ok(agx_semaphore_watch(w->parked, &w->watch));
   assert_ok(fixture_submit(&w->f, w->recorded, (struct agx_point){w->parked, 1}, NO_POINT));
   submit_host_call(w);
}

static void release_all(struct world *w)
{
   void *objects[] = {w->buffer, w->unmapped, w->range,   w->pages,  w->pool,     w->image,
                      w->count,  w->event,    w->reached, w->parked, w->recorded, w->open};
   for (size_t i = 0; i < AGX_COUNT(objects); i++)
      agx_release(objects[i]);
   fixture_close(&w->f);
}

/* ---- the child --------------------------------------------------------------- */

static int mistakes;

static void expect(bool is_right, const char *what)
{
   char text[256];
   agx_error_text(text, sizeof(text));
   if (!is_right)
      dprintf(STDERR_FILENO, "in the child: %s: \"%s\"\n", what, text);
   mistakes += !is_right;
}

static void refused(agx_status status, const char *what)
{
   char text[256];
   agx_error_text(text, sizeof(text));
   expect(status == AGX_FAILED_PRECONDITION && strstr(text, "fork") && strstr(text, "open"), what);
}

#define REFUSED(call) refused(call, #call)

static void memory_is_refused(struct world *w)
{
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 64};
   struct agx_external external = {.size = sizeof(external), .kind = AGX_EXTERNAL_MEMFD};
   const struct agx_image_region region = {.width = 1, .height = 1, .depth = 1};
   struct agx_buffer *buffer;
   struct agx_pages *pages;
   struct agx_pool *pool;
   struct agx_image *image;
   struct agx_sampler *sampler;
   uint32_t word = 0;
   void *memory;
   REFUSED(agx_buffer_create(w->f.device, &desc, &buffer));
   REFUSED(
      agx_buffer_import(w->f.device, NULL, &external, (struct agx_release_callback){0}, &buffer));
   REFUSED(agx_buffer_export(w->buffer, AGX_EXTERNAL_ADDRESS, &external));
   REFUSED(agx_buffer_map(w->unmapped, &memory));
   REFUSED(agx_buffer_map_range(w->unmapped, 0, 4, AGX_ACCESS_READ, &memory));
   REFUSED(agx_buffer_unmap(w->buffer));
   REFUSED(agx_buffer_flush(w->buffer, 0, 4));
   REFUSED(agx_buffer_invalidate(w->buffer, 0, 4));
   REFUSED(agx_buffer_read(w->buffer, 0, 4, &word));
   REFUSED(agx_buffer_write(w->buffer, 0, 4, &word));
   REFUSED(agx_buffer_fill(w->buffer, 0, 4, &word, 4));
   REFUSED(agx_vmem_reserve(w->f.device, &desc, &buffer));
   REFUSED(agx_vmem_bind(w->range, 0, w->pages, 0, 1u << 20, AGX_ACCESS_READ));
   REFUSED(agx_vmem_protect(w->range, 0, 1u << 20, AGX_ACCESS_READ));
   REFUSED(agx_vmem_advise(w->range, 0, 1u << 20, AGX_ADVICE_WILL_NEED));
   REFUSED(agx_pages_create(w->f.device, &desc, &pages));
   REFUSED(agx_pages_map(w->pages, &memory));
   REFUSED(agx_pool_create(w->f.device, NULL, &pool));
   REFUSED(agx_pool_allocate(w->pool, 64, 0, &buffer));
   REFUSED(agx_image_create(w->f.device, NULL, &image));
   REFUSED(agx_image_write(w->image, &region, &word, 0, 0));
   REFUSED(agx_image_read(w->image, &region, &word, 0, 0));
   REFUSED(agx_sampler_create(w->f.device, NULL, &sampler));
}

static void recording_is_refused(struct world *w)
{
   const struct agx_binding binding = {.ref = {.buffer = w->buffer, .length_B = 4}};
   const struct agx_buffer_ref ref = {.buffer = w->buffer, .length_B = 4};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = w->count,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 1,
                                         .bindings = &binding};
   const struct agx_vertex_dispatch draw = {.size = sizeof(draw), .executable = w->count};
   const uint32_t word = 0;
   struct agx_command_buffer *commands;
   struct agx_event *event;
   struct agx_executable *executable;
   REFUSED(agx_executable_create(w->f.device, NULL, &executable));
   REFUSED(agx_event_create(w->f.device, &event));
   REFUSED(agx_command_buffer_create(w->f.device, NULL, &commands));
   REFUSED(agx_command_buffer_begin(w->recorded));
   REFUSED(agx_cmd_dispatch(w->open, &dispatch));
   REFUSED(agx_cmd_dispatch_vertices(w->open, &draw));
   REFUSED(agx_cmd_fill(w->open, ref, &word, 4));
   REFUSED(agx_cmd_update(w->open, &word, ref));
   REFUSED(agx_cmd_copy(w->open, ref, ref));
   REFUSED(agx_cmd_barrier(w->open, NULL));
   REFUSED(agx_cmd_event(w->open, w->event, AGX_EVENT_SIGNAL, NULL));
   REFUSED(agx_cmd_begin_label(w->open, "label", 0));
   REFUSED(agx_cmd_end_label(w->open));
   REFUSED(agx_command_buffer_end(w->open));
}

static void submission_is_refused(struct world *w)
{
   const struct agx_point points[] = {{w->reached, 1}, {w->parked, 2}};
   const struct agx_op op = {.size = sizeof(op), .kind = AGX_OP_BARRIER};
   const struct agx_file_desc file_desc = {.size = sizeof(file_desc), .access = AGX_FILE_READ};
   struct agx_semaphore *semaphore;
   struct agx_file *file;
   struct agx_watch watch = {.value = 1, .fn = ignore};
   uint64_t value;
   int fd;
   REFUSED(agx_submit(w->f.device, &op, 1, NULL));
   REFUSED(agx_flush(w->f.device, 0));
   REFUSED(agx_queue_recreate(w->f.device, 0));
   REFUSED(agx_device_status(w->f.device));
   REFUSED(agx_buffer_release_after(w->buffer, points, 1));
   REFUSED(agx_semaphore_create(w->f.device, 0, &semaphore));
   REFUSED(agx_semaphore_query(w->reached, &value));
   REFUSED(agx_semaphore_signal(w->parked, 1));
   REFUSED(agx_semaphore_wait(points, 1, false, AGX_DEADLINE_NEVER));
   REFUSED(agx_semaphore_wait(points, 2, true, AGX_DEADLINE_NEVER));
   REFUSED(agx_semaphore_watch(w->parked, &watch));
   REFUSED(agx_semaphore_export(w->parked, 2, AGX_FD_EVENTFD, &fd));
   REFUSED(agx_semaphore_export(w->parked, 0, AGX_FD_SYNCOBJ, &fd));
   REFUSED(agx_semaphore_import(w->f.device, STDIN_FILENO, &semaphore));
   REFUSED(agx_semaphore_import_point(w->parked, 2, AGX_FD_EVENTFD, STDIN_FILENO));
   REFUSED(agx_file_import(w->f.device, &file_desc, &file));
   REFUSED(agx_profile_begin(w->f.device, NULL));
   REFUSED(agx_profile_flush(w->f.device));
   REFUSED(agx_profile_end(w->f.device));
}

/* What returns no status does nothing. */
static void the_rest_is_harmless(struct world *w)
{
   struct agx_device_info info = {.size = sizeof(info)};
   struct agx_buffer_info buffer = {.size = sizeof(buffer)}, range = {.size = sizeof(range)};
   struct agx_memory_stats memory = {.size = sizeof(memory), .pool_count = 7};
   struct agx_pool_stats pool = {.size = sizeof(pool), .slab_count = 7};
   struct agx_cache_stats cache = {.size = sizeof(cache), .compiles = 7};
   agx_device_get_info(w->f.device, &info);
   expect(strcmp(info.name, w->f.info.name) == 0, "the device's info");
   agx_buffer_get_info(w->buffer, &buffer);
   expect(buffer.size_B == 4 * WORDS, "a buffer's info");
   agx_buffer_get_info(w->range, &range);
   agx_device_get_memory_stats(w->f.device, &memory);
   agx_pool_get_stats(w->pool, &pool);
   agx_device_get_cache_stats(w->f.device, &cache);
   expect(memory.pool_count == 0 && pool.slab_count == 0 && cache.compiles == 0, "statistics");
   agx_device_trim(w->f.device);
   agx_pool_trim(w->pool);
   agx_semaphore_fail(w->parked, AGX_ABORTED, "by the child");
   expect(agx_semaphore_unwatch(w->parked, &w->watch), "unwatch");
   agx_host_call_finish(w->call, AGX_OK, NULL);
   agx_device_cancel(w->f.device);
   w->words[WORDS - 1] = 77; /* what is mapped stays so, and is shared */
}

/* With a device of its own, of the parent's instance or of another one. */
static void an_own_device_works(const char *name, struct agx_instance *instance)
{
   struct fixture f = {.instance = instance};
   uint32_t *words;
   expect(fixture_open_device(instance, name, &f.device) == AGX_OK, "a device of its own");
   if (mistakes)
      return;
   f.info.size = sizeof(f.info);
   agx_device_get_info(f.device, &f.info);
   struct agx_buffer *buffer = fixture_buffer(&f, 4 * WORDS, &words);
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   struct agx_semaphore *done = fixture_semaphore(&f);
   struct agx_command_buffer *commands = record(&f, count, buffer);
   expect(agx_command_buffer_end(commands) == AGX_OK, "end");
   expect(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}) == AGX_OK, "submit");
   expect(fixture_wait(done, 1) == AGX_OK, "wait");
   expect(words[1] == 2, "what the kernel wrote");
   void *objects[] = {commands, done, count, buffer};
   for (size_t i = 0; i < AGX_COUNT(objects); i++)
      agx_release(objects[i]);
   fixture_close(&f);
}

static void be_the_child(struct world *w)
{
   struct agx_instance *instance = NULL;
   alarm(HANGS_AFTER_S);
   memory_is_refused(w);
   recording_is_refused(w);
   submission_is_refused(w);
   the_rest_is_harmless(w);
   agx_retain(w->f.instance);
   struct agx_instance *inherited = w->f.instance;
   release_all(w);
   an_own_device_works(getenv("AGX_CONFORMANCE_DEVICE"), inherited);
   expect(agx_instance_create(NULL, &instance) == AGX_OK, "an instance");
   an_own_device_works(getenv("AGX_CONFORMANCE_DEVICE"), instance);
}

static void run_child(struct world *w, void (*body)(struct world *w))
{
   int status = 0;
   fflush(NULL);
   pid_t child = fork();
   assert_true(child >= 0);
   if (child == 0) {
      body(w);
      _exit(mistakes ? 1 : 0);
   }
   assert_int_equal(waitpid(child, &status, 0), child);
   if (WIFSIGNALED(status))
      fail_msg("the child died of signal %d%s", WTERMSIG(status),
               WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
   assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- tests -------------------------------------------------------------------- */

/* All that was under way when it forked ends as it would have. */
static void the_parent_goes_on(struct world *w)
{
   uint64_t value = 9;
   struct agx_command_buffer *again = w->open;
   assert_ok(agx_semaphore_query(w->parked, &value));
   assert_int_equal(value, 0);
   assert_ok(agx_semaphore_signal(w->parked, 1));
   agx_host_call_finish(w->call, AGX_OK, NULL);
   assert_ok(fixture_wait(w->parked, 3));
   assert_ok(agx_command_buffer_end(again));
   assert_ok(fixture_submit(&w->f, again, NO_POINT, (struct agx_point){w->reached, 2}));
   assert_ok(fixture_wait(w->reached, 2));
   assert_int_equal(w->words[1], 2);
   assert_true(agx_semaphore_unwatch(w->parked, &w->watch));
   assert_ok(agx_device_status(w->f.device));
}

static void a_child_is_refused_and_the_parent_goes_on(void **state)
{
   struct world w;
   open_world(&w, state);
   run_child(&w, be_the_child);
   assert_int_equal(w.words[WORDS - 1], 77);
   the_parent_goes_on(&w);
   release_all(&w);
}

static void be_a_grandchild(struct world *w)
{
   alarm(HANGS_AFTER_S);
   submission_is_refused(w);
   release_all(w);
}

static void be_a_parent(struct world *w)
{
   alarm(HANGS_AFTER_S);
   int status = 1;
   pid_t child = fork();
   if (child == 0) {
      be_a_grandchild(w);
      _exit(mistakes ? 1 : 0);
   }
   expect(waitpid(child, &status, 0) == child && status == 0, "the grandchild");
   submission_is_refused(w);
}

static void a_grandchild_is_refused_too(void **state)
{
   struct world w;
   open_world(&w, state);
   run_child(&w, be_a_parent);
   the_parent_goes_on(&w);
   release_all(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_child_is_refused_and_the_parent_goes_on),
      cmocka_unit_test(a_grandchild_is_refused_too),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
