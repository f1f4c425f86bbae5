/* SPDX-License-Identifier: MIT
 *
 * What agx selftest prints: lines for people, JSON for those who collect reports.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "../agx.h"
#include "agx/object.h"
#include "base/json.h"
#include "base/util.h"
#include "selftest.h"

#define MAX_PRINTED 4 /* values that differ, in text */

static const char *const verdicts[] = {
   [SELFTEST_AGREES] = "agrees",
   [SELFTEST_DIFFERS] = "differs",
   [SELFTEST_COULD_NOT_RUN] = "could not run",
};

static bool differs_at(const struct selftest_result *result, uint32_t i)
{
   if (i >= result->count || i >= result->expected_count)
      return true;
   return !selftest_agree(&result->device[i], &result->expected[i]);
}

static void print_value(const struct selftest_result *result, uint32_t i)
{
   if (i >= result->count)
      printf("      %s: missing; expected 0x%" PRIx64 "\n", result->expected[i].name,
             result->expected[i].value);
   else if (i >= result->expected_count)
      printf("      %s: 0x%" PRIx64 "; expected nothing\n", result->device[i].name,
             result->device[i].value);
   else
      printf("      %s: 0x%" PRIx64 "; expected 0x%" PRIx64 "\n", result->device[i].name,
             result->device[i].value, result->expected[i].value);
}

static void print_differences(const struct selftest_result *result)
{
   uint32_t printed = 0;
   uint32_t most = AGX_MAX(result->count, result->expected_count);
   printf("      %u of %u values differ%s%s\n", result->different, most,
          result->reason[0] ? ": " : "", result->reason);
   if (!result->device || !result->expected)
      return;
   for (uint32_t i = result->first; i < most && printed < MAX_PRINTED; i++) {
      if (!differs_at(result, i))
         continue;
      print_value(result, i);
      printed++;
   }
}

void selftest_print_result(const struct selftest_result *result, bool is_mutation)
{
   const struct selftest_experiment *experiment = result->experiment;
   const char *verdict = verdicts[result->verdict];
   if (is_mutation && result->verdict != SELFTEST_COULD_NOT_RUN)
      verdict = result->verdict == SELFTEST_DIFFERS ? "seen" : "NOT SEEN";
   printf("%-13s %s%s%s\n", verdict, experiment->name, experiment->ids[0] ? "  " : "",
          experiment->ids);
   if (result->verdict == SELFTEST_COULD_NOT_RUN)
      printf("      %s\n", result->reason);
   else if (!is_mutation && result->verdict == SELFTEST_DIFFERS)
      print_differences(result);
   for (uint32_t i = 0; !is_mutation && result->device && i < result->count; i++)
      if (result->device[i].is_told)
         printf("      %s: %" PRIu64 "\n", result->device[i].name, result->device[i].value);
}

static void put_ids(struct agx_json *json, const char *ids)
{
   agx_json_open(json, "settles", '[');
   while (*ids) {
      char id[64];
      size_t length = strcspn(ids, " ");
      snprintf(id, sizeof(id), "%.*s", (int)length, ids);
      agx_json_text(json, NULL, id);
      ids += length + strspn(ids + length, " ");
   }
   agx_json_close(json, ']');
}

/* [{"name", "device", "expected"}, ...]: those that differ or are told. One side is left out where
 * only the other has the value, and the expected one of what is told. */
static void put_values(struct agx_json *json, const struct selftest_result *result)
{
   const uint32_t most = AGX_MAX(result->count, result->expected_count);
   agx_json_open(json, "values", '[');
   for (uint32_t i = 0; result->device && result->expected && i < most; i++) {
      const struct selftest_value *value =
         i < result->count ? &result->device[i] : &result->expected[i];
      if (!differs_at(result, i) && !value->is_told)
         continue;
      agx_json_open(json, NULL, '{');
      agx_json_text(json, "name", value->name);
      if (i < result->count)
         agx_json_number(json, "device", result->device[i].value);
      if (i < result->expected_count && !value->is_told)
         agx_json_number(json, "expected", result->expected[i].value);
      agx_json_close(json, '}');
   }
   agx_json_close(json, ']');
}

static void put_result(struct agx_json *json, const struct selftest_result *result)
{
   agx_json_open(json, NULL, '{');
   agx_json_text(json, "name", result->experiment->name);
   agx_json_text(json, "group", result->group);
   put_ids(json, result->experiment->ids);
   agx_json_text(json, "result", verdicts[result->verdict]);
   if (result->reason[0])
      agx_json_text(json, "reason", result->reason);
   agx_json_number(json, "values_compared", AGX_MAX(result->count, result->expected_count));
   agx_json_number(json, "values_different", result->different);
   agx_json_number(json, "ns", result->ns);
   put_values(json, result);
   agx_json_close(json, '}');
}

/* The answer to a question: the worst of its experiments' results. */
static void put_question(struct agx_json *json, const struct selftest_report *report,
                         const struct selftest_question *question)
{
   bool is_asked[3] = {false};
   for (uint32_t i = 0; i < report->count; i++)
      if (selftest_asks(report->results[i].experiment, question->id))
         is_asked[report->results[i].verdict] = true;
   agx_json_open(json, NULL, '{');
   agx_json_text(json, "id", question->id);
   agx_json_text(json, "question", question->text);
   if (question->reason)
      agx_json_text(json, "no_experiment", question->reason);
   else
      agx_json_text(json, "result",
                    is_asked[SELFTEST_DIFFERS]         ? verdicts[SELFTEST_DIFFERS]
                    : is_asked[SELFTEST_COULD_NOT_RUN] ? verdicts[SELFTEST_COULD_NOT_RUN]
                    : is_asked[SELFTEST_AGREES]        ? verdicts[SELFTEST_AGREES]
                                                       : "not asked");
   agx_json_close(json, '}');
}

static void put_device(struct agx_json *json, const struct agxw_device_info *info)
{
   struct utsname system = {0};
   agx_json_open(json, "device", '{');
   agx_tool_put_device(json, info);
   agx_json_close(json, '}');
   uname(&system);
   agx_json_open(json, "system", '{');
   agx_json_text(json, "kernel", system.release);
   agx_json_text(json, "kernel_version", system.version);
   agx_json_text(json, "machine", system.machine);
   agx_json_close(json, '}');
}

void selftest_print_json(const struct selftest_report *report, void *file)
{
   struct agx_json json = {.file = file};
   uint32_t counts[3] = {0};
   for (uint32_t i = 0; i < report->count; i++)
      counts[report->results[i].verdict]++;
   agx_json_open(&json, NULL, '{');
   agx_json_number(&json, "selftest", 1);
   agx_json_number(&json, "version_major", AGX_VERSION_MAJOR);
   agx_json_number(&json, "version_minor", AGX_VERSION_MINOR);
   agx_json_bool(&json, "mutation", report->is_mutation);
   put_device(&json, &report->info);
   agx_json_number(&json, "agrees", counts[SELFTEST_AGREES]);
   agx_json_number(&json, "differs", counts[SELFTEST_DIFFERS]);
   agx_json_number(&json, "could_not_run", counts[SELFTEST_COULD_NOT_RUN]);
   agx_json_open(&json, "results", '[');
   for (uint32_t i = 0; i < report->count; i++)
      put_result(&json, &report->results[i]);
   agx_json_close(&json, ']');
   agx_json_open(&json, "questions", '[');
   for (uint32_t i = 0; i < selftest_question_count; i++)
      put_question(&json, report, &selftest_questions[i]);
   agx_json_close(&json, ']');
   agx_json_close(&json, '}');
   fputc('\n', file);
}
