/* SPDX-License-Identifier: MIT
 *
 * The profile room by itself: spans of the host and operations that no queue has seen.
 */
#include <stdio.h>
#include <string.h>

#include "agx/profile.h"
#include "bare.h"
#include "hal/profile/profile.h"

struct seen {
   char text[512];
};

static void note(void *user, const struct agx_profile_record *record)
{
   struct seen *seen = user;
   size_t used = strlen(seen->text);
   snprintf(seen->text + used, sizeof(seen->text) - used, "%s:%s:%llu ", record->name,
            record->label ? record->label : "", (unsigned long long)record->submission);
}

static struct agx_device *begin(struct agx_context *context, struct seen *seen, uint64_t families)
{
   const struct agx_profile_desc desc = {
      .size = sizeof(desc), .families = families, .fn = note, .user = seen};
   struct agx_device *device = bare_open(context);
   *seen = (struct seen){0};
   assert_ok(agx_profile_begin(device, &desc));
   return device;
}

static void spans_of_the_host_are_delivered(void **state)
{
   struct agx_context context;
   struct seen seen;
   struct agx_device *device = begin(&context, &seen, AGX_PROFILE_HOST);
   uint64_t start_ns = agx_profile_host_begin(device);
   assert_true(start_ns > 0);
   agx_profile_host_end(device, "compile", "kernel", start_ns);
   assert_ok(agx_profile_flush(device));
   assert_string_equal(seen.text, "compile:kernel:0 ");
   assert_ok(agx_profile_end(device));
   assert_true(agx_profile_host_begin(device) == 0);
   bare_close(&context);
}

static void operations_are_delivered_when_they_are_released(void **state)
{
   struct agx_context context;
   struct seen seen;
   struct agx_device *device = begin(&context, &seen, AGX_PROFILE_QUEUE);
   const struct agx_profile_operation operation = {.name = "fill", .label = "clear"};
   struct agx_profile_entry *entry, *refused;
   assert_ok(agx_profile_entry_create(context.profile, &operation, &entry));
   assert_ok(agx_profile_entry_create(context.profile, &operation, &refused));
   assert_false(agx_profile_entry_wants_dispatches(entry) &&
                !agx_profile_entry_wants_dispatches(refused));
   agx_profile_entry_start(entry);
   agx_profile_entry_end(entry, 12, AGX_OK);
   assert_string_equal(seen.text, "");
   agx_profile_release_operation(context.profile, NULL);
   assert_non_null(strstr(seen.text, ":12 "));
   agx_profile_release_operation(context.profile, refused);
   assert_ok(agx_profile_end(device));
   bare_close(&context);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(spans_of_the_host_are_delivered),
      cmocka_unit_test(operations_are_delivered_when_they_are_released),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
