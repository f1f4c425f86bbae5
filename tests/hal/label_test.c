/* SPDX-License-Identifier: MIT
 *
 * Labels of launches, flags of command buffers, and what they hold on to.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stream.h"

static struct agx_command_buffer *begin(struct work *w, uint32_t flags)
{
   const struct agx_command_buffer_desc desc = {
      .size = sizeof(desc), .label = "work", .flags = flags};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(w->f->device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   return commands;
}

static void count(struct work *w, struct agx_command_buffer *commands)
{
   fixture_dispatch(commands, w->count, 1, w->buffers, 1, NULL, 0);
}

static void add(struct work *w, struct agx_command_buffer *commands)
{
   uint32_t one = 1;
   fixture_dispatch(commands, w->add, 1, w->buffers, 2, &one, 4);
}

static void assert_label(const struct agx_command_buffer *commands, uint32_t number,
                         const char *expected)
{
   char text[128];
   size_t length = agx_command_buffer_dispatch_label(commands, number, text, sizeof(text));
   assert_string_equal(text, expected);
   assert_int_equal(length, strlen(expected));
}

static void launches_have_labels(void **state)
{
   struct work w;
   work_open(&w, "virtual:g13g");
   struct agx_command_buffer *commands = begin(&w, 0);
   count(&w, commands);
   assert_ok(agx_cmd_begin_label(commands, "layer 1", 0xff0000ff));
   count(&w, commands);
   count(&w, commands);
   assert_ok(agx_cmd_begin_label(commands, "matmul", 0));
   add(&w, commands);
   fixture_dispatch(commands, w.count, 0, w.buffers, 1, NULL, 0); /* is no launch */
   count(&w, commands);
   assert_ok(agx_cmd_end_label(commands));
   count(&w, commands);
   assert_ok(agx_cmd_end_label(commands));
   assert_ok(agx_cmd_begin_label(commands, NULL, 0));
   assert_ok(agx_cmd_end_label(commands));
   add(&w, commands);
   assert_ok(agx_command_buffer_end(commands));
   static const char *const expected[] = {"count",
                                          "layer 1: count",
                                          "layer 1: count",
                                          "layer 1/matmul: add",
                                          "layer 1/matmul: count",
                                          "layer 1: count",
                                          "add",
                                          ""};
   for (uint32_t i = 0; i < AGX_COUNT(expected); i++)
      assert_label(commands, i, expected[i]);
   char text[8];
   assert_int_equal(agx_command_buffer_dispatch_label(commands, 3, text, sizeof(text)), 19);
   assert_string_equal(text, "layer 1");
   assert_ok(agx_command_buffer_begin(commands));
   count(&w, commands);
   assert_ok(agx_command_buffer_end(commands));
   assert_label(commands, 0, "count");
   assert_label(commands, 1, "");
   agx_release(commands);
   work_close(&w);
}

static void labels_must_balance(void **state)
{
   struct work w;
   work_open(&w, "virtual:g13g");
   struct agx_command_buffer *commands = begin(&w, 0);
   assert_ok(agx_cmd_begin_label(commands, "open", 0));
   assert_fails(agx_command_buffer_end(commands), AGX_FAILED_PRECONDITION, "\"open\" is not ended");
   assert_ok(agx_command_buffer_begin(commands));
   assert_fails(agx_cmd_end_label(commands), AGX_FAILED_PRECONDITION, "not begun");
   assert_fails(agx_command_buffer_end(commands), AGX_FAILED_PRECONDITION, "earlier");
   assert_fails(agx_cmd_begin_label(commands, "late", 0), AGX_FAILED_PRECONDITION, "outside");
   assert_fails(agx_cmd_end_label(commands), AGX_FAILED_PRECONDITION, "outside");
   agx_release(commands);
   work_close(&w);
}

static uint32_t references(const void *object)
{
   return atomic_load(&((const struct agx_object *)object)->references);
}

/* Once, however often they are used; and only in the recordings that are asked to. */
static void objects_are_held_once(void **state)
{
   struct work w;
   work_open(&w, "virtual:g13g");
   struct agx_command_buffer *commands = begin(&w, 0);
   struct agx_command_buffer *unretained = begin(&w, AGX_COMMAND_BUFFER_UNRETAINED);
   for (int i = 0; i < 10; i++) {
      count(&w, commands);
      add(&w, commands);
      count(&w, unretained);
      add(&w, unretained);
   }
   assert_int_equal(references(w.buffers[0]), 2);
   assert_int_equal(references(w.buffers[1]), 2);
   assert_int_equal(references(w.count), 2);
   assert_ok(agx_command_buffer_end(unretained));
   assert_ok(agx_command_buffer_begin(commands));
   assert_int_equal(references(w.buffers[0]), 1);
   assert_int_equal(references(w.count), 1);
   count(&w, commands);
   assert_ok(agx_command_buffer_end(commands));
   assert_int_equal(references(w.buffers[0]), 2);
   agx_release(commands);
   agx_release(unretained);
   assert_int_equal(references(w.buffers[0]), 1);
   assert_int_equal(references(w.add), 1);
   work_close(&w);
}

/* What only helps to find mistakes is left out; what would be one of the library is not. */
static void checks_can_be_left_out(void **state)
{
   struct work w;
   uint32_t one = 1;
   work_open(&w, "virtual:g13g");
   struct agx_command_buffer *commands = begin(&w, AGX_COMMAND_BUFFER_UNCHECKED);
   struct agx_binding bindings[2] = {{.binding = 0, .ref = {w.buffers[0], 0, 128}},
                                     {.binding = 1, .ref = {w.buffers[1], 250, 128}}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = w.add,
                                   .workgroups = {1, 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings,
                                   .push = &one,
                                   .push_B = 4};
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(agx_command_buffer_begin(commands));
   bindings[1].ref.buffer = NULL;
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_INVALID_ARGUMENT, "no buffer");
   assert_ok(agx_command_buffer_begin(commands));
   bindings[1].ref.buffer = w.buffers[1];
   dispatch.binding_count = 1;
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_INVALID_ARGUMENT, "no buffer");
   assert_ok(agx_command_buffer_begin(commands));
   dispatch.binding_count = 2;
   dispatch.bindings = NULL;
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_INVALID_ARGUMENT, "bindings at NULL");
   assert_ok(agx_command_buffer_begin(commands));
   dispatch.bindings = bindings;
   dispatch.push_B = 0;
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_INVALID_ARGUMENT, "push");
   agx_release(commands);
   work_close(&w);
}

static void usage_is_checked(void **state)
{
   struct work w;
   uint32_t one = 1;
   work_open(&w, "virtual:g13g");
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 256, .label = "input", .usage = AGX_USAGE_STORAGE_READ};
   struct agx_buffer *input, *source;
   assert_ok(agx_buffer_create(w.f->device, &desc, &input));
   desc.usage = AGX_USAGE_TRANSFER_SOURCE;
   assert_ok(agx_buffer_create(w.f->device, &desc, &source));
   const struct {
      struct agx_buffer *from, *to;
      const char *text;
   } cases[] = {{input, w.buffers[0], NULL},
                {w.buffers[0], input, "kernel writes to it"},
                {source, w.buffers[0], "kernel reads it"}};
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_command_buffer *commands = begin(&w, 0);
      const struct agx_binding bindings[2] = {
         {.binding = 0, .ref = {cases[i].from, 0, AGX_WHOLE_LENGTH}},
         {.binding = 1, .ref = {cases[i].to, 0, AGX_WHOLE_LENGTH}}};
      const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                            .executable = w.add,
                                            .workgroups = {1, 1, 1},
                                            .binding_count = 2,
                                            .bindings = bindings,
                                            .push = &one,
                                            .push_B = 4};
      agx_status status = agx_cmd_dispatch(commands, &dispatch);
      if (cases[i].text)
         assert_fails(status, AGX_PERMISSION_DENIED, cases[i].text);
      else
         assert_ok(status);
      agx_release(commands);
   }
   agx_release(input);
   agx_release(source);
   work_close(&w);
}

static void a_fault_names_the_label(void **state)
{
   struct work w;
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   work_open(&w, "virtual:g13g");
   struct agx_executable *stray = fixture_kernel(w.f, &agx_test_stray);
   struct agx_semaphore *done = fixture_semaphore(w.f);
   struct agx_command_buffer *commands = begin(&w, 0);
   uint64_t address = 0x2345678000;
   count(&w, commands);
   assert_ok(agx_cmd_begin_label(commands, "attention", 0));
   fixture_dispatch(commands, stray, 1, NULL, 0, &address, 8);
   assert_ok(agx_cmd_end_label(commands));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(w.f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_fails(fixture_wait(done, 1), AGX_DATA_LOSS, "dispatch 1 (\"attention: stray\")");
   agx_release(commands);
   agx_release(done);
   agx_release(stray);
   work_close(&w);
   unsetenv("AGX_VIRTUAL_STRICT");
}

/* ---- labels of objects ------------------------------------------------------ */

static void assert_buffer_label(struct agx_buffer *buffer, const char *label)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(buffer, &info);
   assert_string_equal(info.label, label);
}

/* What was recorded before has the new label, too; a kernel's name comes back without it. */
static void executables_are_known_by_their_labels(void **state)
{
   struct work w;
   char text[200];
   work_open(&w, "virtual:g13g");
   struct agx_command_buffer *commands = begin(&w, 0);
   count(&w, commands);
   assert_ok(agx_set_label(w.count, "softmax"));
   assert_label(commands, 0, "softmax");
   memset(text, 'a', sizeof(text) - 1);
   text[sizeof(text) - 1] = '\0';
   assert_ok(agx_set_label(w.count, text));
   assert_int_equal(agx_command_buffer_dispatch_label(commands, 0, text, sizeof(text)),
                    AGX_NAME_BYTES - 1);
   assert_ok(agx_set_label(w.count, NULL));
   assert_label(commands, 0, "count");
   agx_release(commands);
   size_t size;
   void *elf = agx_test_kernel_elf(&agx_test_add, w.f->info.chip, &size);
   const struct agx_executable_desc desc = {
      .size = sizeof(desc), .data = elf, .data_B = size, .label = "residual"};
   struct agx_executable *named;
   const uint32_t one = 1;
   assert_ok(agx_executable_create(w.f->device, &desc, &named));
   commands = begin(&w, 0);
   fixture_dispatch(commands, named, 1, w.buffers, 2, &one, 4);
   assert_label(commands, 0, "residual");
   agx_release(commands);
   agx_release(named);
   free(elf);
   work_close(&w);
}

static void each_entry_point_has_the_label(void **state)
{
   struct work w;
   struct agx_executable_desc desc = {.size = sizeof(desc), .label = "module"};
   char *path = agx_test_path("kernels/entries.spv");
   desc.data = agx_test_read_file(path, &desc.data_B);
   struct agx_executable *all;
   work_open(&w, "virtual:g13g");
   assert_ok(agx_executable_create(w.f->device, &desc, &all));
   assert_true(agx_executable_get_entry_count(all) > 1);
   for (uint32_t i = 0; i < agx_executable_get_entry_count(all); i++) {
      const char *name;
      char expected[AGX_NAME_BYTES];
      assert_ok(agx_executable_get_entry_name(all, i, &name));
      snprintf(expected, sizeof(expected), "module.%.40s", name);
      assert_string_equal(agx_executable_entry(all, i)->label, expected);
   }
   agx_release(all);
   work_close(&w);
   free((void *)(uintptr_t)desc.data);
   free(path);
}

static void messages_name_what_has_a_label(void **state)
{
   struct work w;
   const struct agx_image_desc square = {
      .size = sizeof(square), .type = AGX_IMAGE_2D, .format = "rgba8", .width = 4, .height = 4};
   const struct agx_image_region outside = {.x = 4, .width = 1, .height = 1, .depth = 1};
   struct agx_image *image = NULL;
   struct agx_event *event = NULL;
   uint32_t texel;
   work_open(&w, "virtual:g13g");
   assert_ok(agx_image_create(w.f->device, &square, &image));
   assert_ok(agx_event_create(w.f->device, &event));
   struct agx_command_buffer *commands = begin(&w, 0);
   assert_ok(agx_set_label(w.buffers[0], "weights"));
   assert_ok(agx_set_label(w.done, "frame"));
   assert_ok(agx_set_label(image, "atlas"));
   assert_ok(agx_set_label(commands, "layer 1"));
   assert_buffer_label(w.buffers[0], "weights");
   assert_fails(agx_image_read(image, &outside, &texel, 0, 0), AGX_OUT_OF_RANGE, "atlas: ");
   assert_ok(agx_command_buffer_end(commands));
   assert_fails(agx_command_buffer_end(commands), AGX_FAILED_PRECONDITION, "layer 1: ");
   assert_ok(agx_semaphore_signal(w.done, 3));
   assert_fails(agx_semaphore_signal(w.done, 2), AGX_INVALID_ARGUMENT, "frame: signal of 2");
   assert_fails(agx_semaphore_wait(&(struct agx_point){w.done, 4}, 1, false, 0),
                AGX_DEADLINE_EXCEEDED, "frame at 3, waited for 4");
   assert_ok(agx_set_label(w.done, NULL));
   assert_fails(agx_semaphore_signal(w.done, 2), AGX_INVALID_ARGUMENT, "semaphore: signal of 2");
   assert_fails(agx_set_label(event, "x"), AGX_UNIMPLEMENTED, "event has no label");
   assert_fails(agx_set_label(NULL, "x"), AGX_INVALID_ARGUMENT, "NULL");
   agx_release(commands);
   agx_release(event);
   agx_release(image);
   work_close(&w);
}

static void a_fault_names_labels_that_came_later(void **state)
{
   struct work w;
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   work_open(&w, "virtual:g13g");
   struct agx_executable *stray = fixture_kernel(w.f, &agx_test_stray);
   struct agx_command_buffer *commands = begin(&w, 0);
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(w.buffers[0], &info);
   const uint64_t address = info.address + info.allocation_B + 4;
   fixture_dispatch(commands, stray, 1, NULL, 0, &address, 8);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(agx_set_label(stray, "scatter"));
   assert_ok(agx_set_label(commands, "decode"));
   assert_ok(fixture_submit(w.f, commands, NO_POINT, (struct agx_point){w.done, 1}));
   assert_fails(fixture_wait(w.done, 1), AGX_DATA_LOSS, "(\"scatter\") of \"decode\"");
   agx_release(commands);
   agx_release(stray);
   work_close(&w);
   unsetenv("AGX_VIRTUAL_STRICT");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(launches_have_labels),
      cmocka_unit_test(labels_must_balance),
      cmocka_unit_test(objects_are_held_once),
      cmocka_unit_test(checks_can_be_left_out),
      cmocka_unit_test(usage_is_checked),
      cmocka_unit_test(a_fault_names_the_label),
      cmocka_unit_test(executables_are_known_by_their_labels),
      cmocka_unit_test(each_entry_point_has_the_label),
      cmocka_unit_test(messages_name_what_has_a_label),
      cmocka_unit_test(a_fault_names_labels_that_came_later),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
