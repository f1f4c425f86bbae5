/* SPDX-License-Identifier: MIT
 *
 * What experiments show: values with names, and their comparison.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "selftest.h"

static struct selftest_value *add(struct selftest_seen *seen)
{
   if (seen->count == SELFTEST_MAX_VALUES)
      return NULL;
   struct selftest_value *value = &seen->value[seen->count++];
   *value = (struct selftest_value){0};
   return value;
}

void selftest_see(struct selftest_seen *seen, uint64_t number, const char *name, ...)
{
   struct selftest_value *value = add(seen);
   va_list args;
   if (!value)
      return;
   value->value = number;
   va_start(args, name);
   vsnprintf(value->name, sizeof(value->name), name, args);
   va_end(args);
}

void selftest_tell(struct selftest_seen *seen, uint64_t number, const char *name)
{
   struct selftest_value *value = add(seen);
   if (!value)
      return;
   value->value = number;
   value->is_told = true;
   snprintf(value->name, sizeof(value->name), "%s", name);
}

void selftest_see_failure(struct selftest_machine *machine, const struct selftest_outcome *outcome,
                          struct selftest_seen *seen)
{
   selftest_see(seen, outcome->error != 0, "the submission fails");
   selftest_tell(seen, (uint64_t)outcome->error, "errno of its fence");
   agxw_device_fault_text(machine->device, seen->text, sizeof(seen->text));
}

void selftest_see_output(const struct selftest_machine *machine, uint32_t threads, uint32_t words,
                         struct selftest_seen *seen)
{
   for (uint32_t thread = 0; thread < threads; thread++) {
      uint32_t out[4];
      memcpy(out, machine->data + SELFTEST_OUTPUT + 16 * thread, sizeof(out));
      for (uint32_t i = 0; i < words; i++)
         selftest_see(seen, out[i], "thread %u r%u", thread, 12 + i);
   }
}

bool selftest_agree(const struct selftest_value *device, const struct selftest_value *expected)
{
   uint64_t low = AGX_MIN(device->value, expected->value);
   uint64_t high = AGX_MAX(device->value, expected->value);
   if (device->is_told || low == high)
      return true;
   return (double)(high - low) * 1000 <= (double)device->slack * (double)expected->value;
}

static struct selftest_value *copy(const struct selftest_seen *seen)
{
   struct selftest_value *values = calloc(AGX_MAX(seen->count, 1u), sizeof(*values));
   if (values)
      memcpy(values, seen->value, seen->count * sizeof(*values));
   return values;
}

void selftest_compare(const struct selftest_seen *device, const struct selftest_seen *expected,
                      struct selftest_result *result)
{
   const uint32_t both = AGX_MIN(device->count, expected->count);
   bool has_told = false;
   result->first = UINT32_MAX;
   for (uint32_t i = 0; i < both; i++) {
      has_told = has_told || device->value[i].is_told;
      if (selftest_agree(&device->value[i], &expected->value[i]))
         continue;
      result->different++;
      result->first = AGX_MIN(result->first, i);
   }
   if (device->count != expected->count) {
      result->different += AGX_MAX(device->count, expected->count) - both;
      result->first = AGX_MIN(result->first, both);
   }
   result->verdict = result->different ? SELFTEST_DIFFERS : SELFTEST_AGREES;
   const char *text = device->text[0] ? device->text : expected->text;
   snprintf(result->reason, sizeof(result->reason), "%s", text);
   result->count = device->count;
   result->expected_count = expected->count;
   if (!result->different && !has_told)
      return;
   result->device = copy(device);
   result->expected = copy(expected);
}
