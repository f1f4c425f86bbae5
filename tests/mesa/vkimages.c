/* SPDX-License-Identifier: MIT
 *
 * vkimages: compares what two Vulkan drivers read from and write to images. One run
 * keeps a driver's answers in a file, the next compares another driver's with them.
 *
 *    vkimages [--device NAME] [--cache FOLDER] [--only TEXT] [--verbose] --keep FILE
 *    vkimages [--device NAME] [--cache FOLDER] [--only TEXT] [--verbose] --compare FILE
 *
 * A process of its own runs the cases; when one crashes it or loses the device, another
 * goes on with the next.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "image_case.h"

#define LIMIT_S   60u
#define MAX_CASES 8192u

struct record {
   uint32_t state; /* enum image_state */
   char words[124];
   uint32_t answers[IMAGE_QUERIES][4];
};

enum verdict {
   NOT_RUN,
   SAME,
   CLOSE,
   DIFFERS,
   FAILED,
   UNSUPPORTED,
   VERDICTS,
};

/* Lives in memory that parent and child share. */
struct shared {
   uint32_t next; /* case to begin with */
   uint32_t count;
   uint8_t verdict[MAX_CASES];
   double worst; /* of tolerance, in cases that are close */
};

struct options {
   const char *device, *cache, *only, *keep, *compare;
   bool verbose;
};

struct session {
   const struct options *options;
   struct shared *shared;
   struct image_runner *runner;
   FILE *file;
   uint32_t at;
};

static bool is_float(const struct image_case *c)
{
   enum image_numbers numbers = (c->view_format ? c->view_format : c->format)->numbers;
   return numbers != IMAGE_UINT && numbers != IMAGE_SINT && !strstr(c->expression, "ize(");
}

static double range_of(const struct image_case *c)
{
   switch (c->format->numbers) {
   case IMAGE_SNORM:
      return 2.0;
   case IMAGE_FLOAT:
      return 8.0;
   default:
      return 1.0;
   }
}

/* The difference in parts of what is allowed: up to 1 is fine. */
static double difference(const struct image_case *c, uint32_t got, uint32_t wanted)
{
   float a, b;
   if (got == wanted)
      return 0.0;
   if (!is_float(c))
      return INFINITY;
   memcpy(&a, &got, sizeof(a));
   memcpy(&b, &wanted, sizeof(b));
   if ((isnan(a) && isnan(b)) || a == b)
      return 0.0;
   double distance = fabs((double)a - (double)b);
   /* Values of normalised formats may round differently in the last bit. */
   double allowed =
      AGX_MAX(c->tolerance * range_of(c), fabs((double)b) * fmax(c->relative, 0x1p-22));
   return distance <= allowed    ? distance / allowed
          : distance == distance ? distance / allowed + 1.0
                                 : INFINITY;
}

static void tell_query(const struct session *session, const struct image_case *c, unsigned n,
                       const uint32_t got[4], const uint32_t wanted[4])
{
   static struct image_query queries[IMAGE_QUERIES];
   const struct image_query *q = &queries[n];
   image_ask(c, session->at + 1, queries);
   printf(
      "     query %u: p %.9g %.9g %.9g %.9g a %.9g %.9g %.9g %.9g b %.9g %.9g %.9g i %d %d %d j %d "
      "%d %d\n",
      n, q->p[0], q->p[1], q->p[2], q->p[3], q->a[0], q->a[1], q->a[2], q->a[3], q->b[0], q->b[1],
      q->b[2], q->i[0], q->i[1], q->i[2], q->j[0], q->j[1], q->j[2]);
   for (unsigned side = 0; side < 2; side++) {
      const uint32_t *words = side ? wanted : got;
      printf("       %s", side ? "wanted" : "got   ");
      for (unsigned i = 0; i < 4; i++) {
         float value;
         memcpy(&value, &words[i], sizeof(value));
         printf(" %08x", words[i]);
         if (is_float(c))
            printf(" (%g)", value);
      }
      printf("\n");
   }
}

static enum verdict compare(struct session *session, const struct image_case *c,
                            uint32_t got[IMAGE_QUERIES][4], const struct record *wanted)
{
   unsigned bad = 0;
   bool is_same = true;
   for (unsigned n = 0; n < IMAGE_QUERIES; n++) {
      double worst = 0.0;
      for (unsigned i = 0; i < 4; i++)
         worst = fmax(worst, difference(c, got[n][i], wanted->answers[n][i]));
      is_same &= worst == 0.0;
      if (worst <= 1.0)
         continue;
      if (!bad++)
         printf("DIFFERS [%u] %s: %s %s\n", session->at, c->name, c->declaration, c->expression);
      if (bad <= (session->options->verbose ? 8u : 2u))
         tell_query(session, c, n, got[n], wanted->answers[n]);
   }
   if (!bad)
      return is_same ? SAME : CLOSE;
   printf("     %u of %u queries differ\n", bad, IMAGE_QUERIES);
   return DIFFERS;
}

static void read_record(struct session *session, struct record *out)
{
   *out = (struct record){.state = IMAGE_FAILED, .words = "nothing was kept"};
   if (fseeko(session->file, (off_t)session->at * (off_t)sizeof(*out), SEEK_SET) ||
       fread(out, sizeof(*out), 1, session->file) != 1)
      out->state = IMAGE_FAILED;
}

static void write_record(struct session *session, const struct record *record)
{
   bool done = !fseeko(session->file, (off_t)session->at * (off_t)sizeof(*record), SEEK_SET) &&
               fwrite(record, sizeof(*record), 1, session->file) == 1 && !fflush(session->file);
   if (!done)
      printf("FAILED [%u]: the answers are not kept\n", session->at);
}

static enum verdict judge(struct session *session, const struct image_case *c,
                          struct record *record)
{
   static struct record wanted;
   if (session->options->keep) {
      write_record(session, record);
      return record->state == IMAGE_DONE ? SAME : UNSUPPORTED;
   }
   read_record(session, &wanted);
   if (record->state == IMAGE_UNSUPPORTED || wanted.state == IMAGE_UNSUPPORTED) {
      if (session->options->verbose)
         printf("unsupported [%u] %s: %s\n", session->at, c->name,
                record->state == IMAGE_UNSUPPORTED ? record->words : wanted.words);
      return UNSUPPORTED;
   }
   if (wanted.state != IMAGE_DONE) {
      printf("FAILED [%u] %s: no answers to compare with: %.120s\n", session->at, c->name,
             wanted.words);
      return FAILED;
   }
   return compare(session, c, record->answers, &wanted);
}

/* Ends the process when the device is lost: the parent starts another. */
static void run_case(void *user, const struct image_case *c)
{
   static struct record record;
   struct session *session = user;
   struct shared *shared = session->shared;
   uint32_t at = session->at;
   if (at >= MAX_CASES)
      return;
   if (at >= shared->next && (!session->options->only || strstr(c->name, session->options->only))) {
      shared->next = at + 1;
      shared->verdict[at] = FAILED;
      record = (struct record){.state = IMAGE_DONE};
      alarm(LIMIT_S);
      if (session->options->verbose)
         printf("[%u] %s\n", at, c->name);
      fflush(stdout);
      agx_status status = image_runner_run(session->runner, c, at, record.answers);
      if (status != AGX_OK) {
         record.state = status == AGX_UNIMPLEMENTED ? IMAGE_UNSUPPORTED : IMAGE_FAILED;
         snprintf(record.words, sizeof(record.words), "%.120s", agx_error_peek());
      }
      if (record.state == IMAGE_FAILED) {
         printf("FAILED [%u] %s: %s: %s\n", at, c->name, c->expression, record.words);
         fflush(stdout);
         if (session->options->keep)
            write_record(session, &record);
         _exit(1);
      }
      shared->verdict[at] = (uint8_t)judge(session, c, &record);
      fflush(stdout);
   }
   session->at = shared->count = at + 1;
}

_Noreturn static void run_cases(const struct options *options, struct shared *shared)
{
   struct session session = {.options = options, .shared = shared};
   const char *path = options->keep ? options->keep : options->compare;
   session.file = fopen(path, options->compare ? "rb" : shared->next ? "rb+" : "wb");
   if (!session.file) {
      printf("%s: can't be opened\n", path);
      _exit(3);
   }
   if (image_runner_open(options->device, options->cache, &session.runner) != AGX_OK) {
      printf("%s\n", agx_error_peek());
      _exit(3);
   }
   if (!shared->next)
      printf("device: %s\n", image_runner_name(session.runner));
   image_cases_visit(run_case, &session);
   fflush(stdout);
   _exit(0);
}

static int report(const struct shared *shared)
{
   static const char *const names[VERDICTS] = {"not run", "same",   "close",
                                               "differ",  "failed", "unsupported"};
   unsigned count[VERDICTS] = {0};
   for (uint32_t i = 0; i < shared->count; i++)
      count[shared->verdict[i]]++;
   printf("cases: %u", shared->count);
   for (unsigned i = 0; i < VERDICTS; i++)
      printf(", %s %u", names[i], count[i]);
   printf("\n");
   return count[DIFFERS] + count[FAILED] > 0 || count[SAME] + count[CLOSE] == 0;
}

static bool parse(int argc, char **argv, struct options *options)
{
   const struct {
      const char *name, **value;
   } names[] = {{"--device", &options->device},
                {"--cache", &options->cache},
                {"--only", &options->only},
                {"--keep", &options->keep},
                {"--compare", &options->compare}};
   for (int i = 1; i < argc; i++) {
      bool found = strcmp(argv[i], "--verbose") == 0;
      options->verbose |= found;
      for (size_t n = 0; n < AGX_COUNT(names) && !found && i + 1 < argc; n++) {
         if (strcmp(argv[i], names[n].name) != 0)
            continue;
         *names[n].value = argv[++i];
         found = true;
      }
      if (!found)
         return false;
   }
   return !options->keep != !options->compare;
}

int main(int argc, char **argv)
{
   struct options options = {.device = "", .cache = "/tmp"};
   if (!parse(argc, argv, &options)) {
      fprintf(stderr, "usage: vkimages [--device NAME] [--cache FOLDER] [--only TEXT] [--verbose] "
                      "--keep FILE | --compare FILE\n");
      return 2;
   }
   struct shared *shared =
      mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
   if (shared == MAP_FAILED)
      return 3;
   for (;;) {
      int status = 0;
      uint32_t before = shared->next;
      fflush(stdout);
      pid_t pid = fork();
      if (pid == 0)
         run_cases(&options, shared);
      if (pid < 0 || waitpid(pid, &status, 0) < 0)
         return 3;
      if (WIFSIGNALED(status))
         printf("FAILED [%u]: signal %d\n", shared->next - 1, WTERMSIG(status));
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
         break;
      if ((WIFEXITED(status) && WEXITSTATUS(status) == 3) || shared->next == before)
         return 3;
   }
   return report(shared);
}
