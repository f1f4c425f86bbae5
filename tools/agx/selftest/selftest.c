/* SPDX-License-Identifier: MIT
 *
 * agx selftest: runs the experiments on a device and on a virtual AGX of the same chip, and tells
 * where the two differ. main.c calls it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../agx.h"
#include "base/clock.h"
#include "base/util.h"
#include "selftest.h"

/* Beside those of agx.h: an experiment differs, or with --mutate an alteration was not seen. */
#define EXIT_DIFFERS 3

/* So that a hang of the virtual AGX ends soon; hardware has a limit of the kernel's. */
#define VIRTUAL_INSTRUCTIONS "4000000"

static const struct selftest_group *const groups[] = {
   &selftest_alu,     &selftest_lanes,    &selftest_control,
   &selftest_memory,  &selftest_launches, &selftest_submissions,
   &selftest_unknown, &selftest_images,   &selftest_rates,
};

struct options {
   const char *device;
   const char *only;
   const char *json; /* a file, "-": standard output; or NULL */
   bool is_risky, is_mutation, is_list;
};

struct session {
   struct options options;
   struct selftest_machine device, reference;
   struct selftest_report report;
   uint32_t planned;
};

static bool is_chosen(const struct options *options, const struct selftest_experiment *experiment,
                      bool is_risky)
{
   const char *only = options->only;
   if (((experiment->flags & SELFTEST_RISKY) != 0) != is_risky)
      return false;
   return !only || strcmp(only, experiment->name) == 0 || selftest_asks(experiment, only);
}

/* Runs an experiment on one machine, which is opened anew where the one before lost it, and always
 * for those that may lose it. */
static agx_status run_on(struct selftest_machine *machine,
                         const struct selftest_experiment *experiment, bool is_altered,
                         struct selftest_seen *seen)
{
   seen->count = 0;
   seen->text[0] = '\0';
   if (machine->is_stale || !machine->device || experiment->flags & SELFTEST_RISKY)
      AGX_TRY(selftest_reopen(machine));
   selftest_clear(machine);
   return experiment->run(experiment, machine, is_altered, seen);
}

/* A virtual AGX that is shown as a node of a kernel keeps the host's time, not a model's. */
static bool is_behind_node(const struct session *session)
{
   const char *preload = getenv("LD_PRELOAD");
   return !session->report.info.is_virtual && preload && strstr(preload, "agx_virtual");
}

static void run_experiment(struct session *session, const char *group,
                           const struct selftest_experiment *experiment)
{
   static struct selftest_seen device, expected;
   struct selftest_result *result = &session->report.results[session->report.count++];
   const int64_t begin = agx_now_ns();
   *result = (struct selftest_result){.experiment = experiment, .group = group};
   if (experiment->flags & SELFTEST_HARDWARE && is_behind_node(session)) {
      result->verdict = SELFTEST_COULD_NOT_RUN;
      snprintf(result->reason, sizeof(result->reason),
               "the node is a virtual AGX of LD_PRELOAD, whose times are the host's");
      return;
   }
   if (experiment->flags & SELFTEST_SOFT && !session->report.info.soft_faults) {
      result->verdict = SELFTEST_COULD_NOT_RUN;
      snprintf(result->reason, sizeof(result->reason), "the kernel has soft faults switched off");
      return;
   }
   agx_status status = run_on(&session->device, experiment, session->options.is_mutation, &device);
   if (status == AGX_OK)
      status = run_on(&session->reference, experiment, false, &expected);
   result->ns = (uint64_t)(agx_now_ns() - begin);
   if (status == AGX_OK) {
      selftest_compare(&device, &expected, result);
      return;
   }
   result->verdict = SELFTEST_COULD_NOT_RUN;
   agx_error_text(result->reason, sizeof(result->reason));
}

static void show_progress(const struct session *session, const char *name)
{
   if (isatty(STDERR_FILENO))
      fprintf(stderr, "\r\033[K[%u/%u] %s", session->report.count + 1, session->planned, name);
}

static void run_all(struct session *session, bool is_risky)
{
   for (size_t i = 0; i < AGX_COUNT(groups); i++) {
      for (uint32_t j = 0; j < groups[i]->count; j++) {
         const struct selftest_experiment *experiment = &groups[i]->experiments[j];
         if (!is_chosen(&session->options, experiment, is_risky))
            continue;
         show_progress(session, experiment->name);
         run_experiment(session, groups[i]->name, experiment);
         if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r\033[K");
         const char *json = session->options.json;
         if (!json || strcmp(json, "-") != 0)
            selftest_print_result(&session->report.results[session->report.count - 1],
                                  session->options.is_mutation);
         fflush(stdout);
      }
   }
}

static uint32_t count_chosen(const struct options *options)
{
   uint32_t count = 0;
   for (size_t i = 0; i < AGX_COUNT(groups); i++)
      for (uint32_t j = 0; j < groups[i]->count; j++)
         count += is_chosen(options, &groups[i]->experiments[j], false) ||
                  (options->is_risky && is_chosen(options, &groups[i]->experiments[j], true));
   return count;
}

static void list(const struct options *options)
{
   for (size_t i = 0; i < AGX_COUNT(groups); i++) {
      for (uint32_t j = 0; j < groups[i]->count; j++) {
         const struct selftest_experiment *experiment = &groups[i]->experiments[j];
         const bool is_risky = experiment->flags & SELFTEST_RISKY;
         if (!is_chosen(options, experiment, is_risky))
            continue;
         printf("%-10s %-32s %s%s\n", groups[i]->name, experiment->name, experiment->ids,
                is_risky ? " (--risky)" : "");
         if (experiment->what)
            printf("           %s\n", experiment->what);
      }
   }
   for (uint32_t i = 0; i < selftest_question_count; i++)
      if (selftest_questions[i].reason &&
          (!options->only || strcmp(selftest_questions[i].id, options->only) == 0))
         printf("none       %s: %s\n           %s\n", selftest_questions[i].id,
                selftest_questions[i].text, selftest_questions[i].reason);
}

/* Before anything runs: what takes long, or hangs the GPU, must not be lost for a wrong path. */
static agx_status check_json(const struct options *options)
{
   if (!options->json || strcmp(options->json, "-") == 0)
      return AGX_OK;
   FILE *file = fopen(options->json, "a");
   if (!file)
      return AGX_FAIL(AGX_UNAVAILABLE, "%s can't be written: %s", options->json, strerror(errno));
   fclose(file);
   return AGX_OK;
}

static agx_status write_json(const struct session *session)
{
   const char *path = session->options.json;
   if (!path)
      return AGX_OK;
   if (strcmp(path, "-") == 0) {
      selftest_print_json(&session->report, stdout);
      return AGX_OK;
   }
   FILE *file = fopen(path, "w");
   if (!file)
      return AGX_FAIL(AGX_UNAVAILABLE, "%s can't be written: %s", path, strerror(errno));
   selftest_print_json(&session->report, file);
   const bool is_short = fflush(file) != 0 || (fsync(fileno(file)) != 0 && errno != EINVAL);
   if (fclose(file) != 0 || is_short)
      return AGX_FAIL(AGX_DATA_LOSS, "%s can't be written: %s", path, strerror(errno));
   return AGX_OK;
}

static int summarize(const struct session *session)
{
   const bool is_mutation = session->options.is_mutation;
   uint32_t counts[3] = {0};
   for (uint32_t i = 0; i < session->report.count; i++)
      counts[session->report.results[i].verdict]++;
   FILE *to = session->options.json && strcmp(session->options.json, "-") == 0 ? stderr : stdout;
   fprintf(to, "\n%u experiments on %s: %u %s, %u %s, %u could not run\n", session->report.count,
           session->report.info.name, counts[is_mutation ? SELFTEST_DIFFERS : SELFTEST_AGREES],
           is_mutation ? "alterations seen" : "agree",
           counts[is_mutation ? SELFTEST_AGREES : SELFTEST_DIFFERS],
           is_mutation ? "NOT SEEN" : "differ", counts[SELFTEST_COULD_NOT_RUN]);
   return counts[is_mutation ? SELFTEST_AGREES : SELFTEST_DIFFERS] ? EXIT_DIFFERS : AGX_EXIT_OK;
}

static agx_status run(struct session *session)
{
   char reference[64];
   setenv("AGX_VIRTUAL_TIMEOUT", VIRTUAL_INSTRUCTIONS, 0);
   AGX_TRY(check_json(&session->options));
   AGX_TRY(selftest_open(&session->device, session->options.device));
   session->report.info = *agxw_device_info(session->device.device);
   session->report.is_mutation = session->options.is_mutation;
   snprintf(reference, sizeof(reference), "virtual:%s", session->report.info.chip->name);
   AGX_TRY(selftest_open(&session->reference, reference));
   session->report.results = calloc(session->planned, sizeof(*session->report.results));
   if (!session->report.results)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for %u results", session->planned);
   run_all(session, false);
   if (session->options.is_risky) {
      /* What has run so far is on the disk, should the machine hang. */
      if (session->options.json && strcmp(session->options.json, "-") != 0)
         AGX_TRY(write_json(session));
      run_all(session, true);
   }
   return write_json(session);
}

static void finish(struct session *session)
{
   selftest_close(&session->device);
   selftest_close(&session->reference);
   for (uint32_t i = 0; i < session->report.count; i++) {
      free(session->report.results[i].device);
      free(session->report.results[i].expected);
   }
   free(session->report.results);
}

/* Takes argv[*at]; false when it is no option of ours. */
static bool take_option(struct options *options, int argc, char **argv, int *at)
{
   const char *name = argv[*at];
   const bool has_next = *at + 1 < argc;
   if (strcmp(name, "--risky") == 0)
      options->is_risky = true;
   else if (strcmp(name, "--mutate") == 0)
      options->is_mutation = true;
   else if (strcmp(name, "--list") == 0)
      options->is_list = true;
   else if (strcmp(name, "--device") == 0 && has_next)
      options->device = argv[++*at];
   else if (strcmp(name, "--only") == 0 && has_next)
      options->only = argv[++*at];
   else if (strcmp(name, "--json") == 0)
      options->json = has_next && argv[*at + 1][0] != '-' ? argv[++*at] : "-";
   else
      return false;
   return true;
}

int agx_cmd_selftest(int argc, char **argv)
{
   static struct session session;
   struct options *options = &session.options;
   options->device = "auto";
   for (int i = 1; i < argc; i++) {
      if ((strcmp(argv[i], "--device") == 0 || strcmp(argv[i], "--only") == 0) && i + 1 == argc)
         return agx_tool_usage(argv[0], "%s: its value is missing", argv[i]);
      if (!take_option(options, argc, argv, &i))
         return agx_tool_usage(argv[0], "unexpected \"%s\"", argv[i]);
   }
   if (options->is_list) {
      list(options);
      return AGX_EXIT_OK;
   }
   session.planned = count_chosen(options);
   if (session.planned == 0)
      return agx_tool_usage(
         argv[0], "no experiment is called \"%s\", asks such a question, or is one without --risky",
         options->only);
   const agx_status status = run(&session);
   const int code = status == AGX_OK ? summarize(&session) : agx_tool_failed(argv[0]);
   finish(&session);
   return code;
}
