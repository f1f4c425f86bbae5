/* SPDX-License-Identifier: MIT
 *
 * agxdump diff: two captures beside each other: requests, buffers, contents that submissions find,
 * dispatches matched by order and grid, their code instruction by instruction, and their figures.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agxdump.h"
#include "align.h"
#include "base/util.h"
#include "print.h"
#include "dispatches.h"
#include "match.h"
#include "print.h"
#include "requests.h"
#include "stats.h"
#include "winsys/asahi_uapi.h"

static const char help[] =
   "usage: agxdump diff [--code] [--figures] [--limit N] A B\n"
   "\n"
   "Prints where two captures differ; nothing, and exit code 0, when they don't; exit code 1 when\n"
   "they do. Times, processes, descriptors and the host's addresses don't count, nor do requests\n"
   "that only ask or wait.\n"
   "\n"
   "  --code     instructions of matched dispatches beside each other, where they differ\n"
   "  --figures  what matched dispatches execute in replays of both, also where code is the same\n"
   "  --limit N  lines of each kind; 20 without it\n";

/* A SUBMIT's or another request's place in the file's order. */
struct token {
   uint64_t hash;
   uint32_t request;
   uint64_t submission; /* 0: none */
};

/* What a submission found in a buffer, whatever pages it is on. */
struct content {
   uint64_t submission; /* the one that finds it */
   uint32_t handle;
   uint64_t offset, hash;
};

struct list {
   void *data;
   size_t count, capacity, element;
};

struct side {
   const char *path;
   struct agxw_capture_reader *reader;
   struct agxw_capture_state *state;
   const struct agx_chip *chip;
   char node[64];
   struct list tokens, contents;
   uint64_t submissions, buffers, buffer_bytes;
   struct dump_dispatches dispatches;
   struct stat_row *rows;
   size_t row_count;
};

struct diff {
   struct side side[2];
   bool shows_code, shows_figures, differs;
   uint64_t limit;
};

static void *append(struct list *list)
{
   if (list->count == list->capacity) {
      size_t capacity = AGX_MAX(2 * list->capacity, 256);
      void *data = realloc(list->data, capacity * list->element);
      if (!data)
         return NULL;
      list->data = data;
      list->capacity = capacity;
   }
   return (uint8_t *)list->data + list->count++ * list->element;
}

/* ---- reading ---- */

static agx_status no_memory(void)
{
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for what the capture holds");
}

static agx_status take_contents(struct side *side, const struct agxw_capture_record *record)
{
   uint8_t page[AGXW_CAPTURE_PAGE_BYTES];
   for (uint64_t i = 0; record->moment == AGXW_CAPTURE_BEFORE && i < record->page_count; i++) {
      const struct agxw_capture_place place = {record->file_offset, i};
      AGX_TRY(agxw_capture_page(side->reader, &place, 0, page, sizeof(page)));
      struct content *content = append(&side->contents);
      if (!content)
         return no_memory();
      *content = (struct content){.submission = side->submissions + 1,
                                  .handle = record->handle,
                                  .offset = record->offset + i * AGXW_CAPTURE_PAGE_BYTES,
                                  .hash = agxw_capture_hash(page)};
   }
   return AGX_OK;
}

static agx_status take_request(struct side *side, const struct agxw_capture_record *record)
{
   bool is_submit = agxw_capture_is_request(record, AGX_IOCTL_ASAHI_SUBMIT) && record->result == 0;
   if (agxw_capture_is_request(record, AGX_IOCTL_ASAHI_GET_PARAMS))
      dump_find_chip(record, &side->chip);
   if (is_submit)
      side->submissions++;
   if (!dump_request_asks(record->request)) {
      struct token *token = append(&side->tokens);
      if (!token)
         return no_memory();
      *token = (struct token){.hash = dump_request_hash(record),
                              .request = record->request,
                              .submission = is_submit ? side->submissions : 0};
   }
   if (agxw_capture_is_request(record, AGX_IOCTL_ASAHI_GEM_CREATE) && record->result == 0) {
      struct agx_uapi_gem_create create;
      agxw_capture_argument(record, false, &create, sizeof(create));
      side->buffers++;
      side->buffer_bytes += create.size;
   }
   const struct agx_chip *chip = side->chip ? side->chip : agx_chip_at(0);
   return is_submit
             ? dump_add_dispatches(&side->dispatches, side->state, record, chip, side->submissions)
             : AGX_OK;
}

static agx_status read_records(struct side *side)
{
   for (;;) {
      struct agxw_capture_record record;
      bool more;
      AGX_TRY(agxw_capture_next(side->reader, &record, &more));
      if (!more)
         return agxw_capture_state_damage(side->state);
      AGX_TRY(agxw_capture_state_apply(side->state, &record));
      if (record.type == AGXW_CAPTURE_REQUEST)
         AGX_TRY(take_request(side, &record));
      if (record.type == AGXW_CAPTURE_PAGES)
         AGX_TRY(take_contents(side, &record));
   }
}

static agx_status read_side(struct diff *diff, struct side *side)
{
   side->tokens.element = sizeof(struct token);
   side->contents.element = sizeof(struct content);
   int fd = open(side->path, O_RDONLY | O_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "can't be read");
   AGX_TRY(agxw_capture_open_fd(NULL, fd, &side->reader));
   print_clean(agxw_capture_node(side->reader), side->node, sizeof(side->node));
   AGX_TRY(agxw_capture_state_create(NULL, side->reader, &side->state));
   AGX_TRY(read_records(side));
   return diff->shows_figures ? stats_collect(side->path, &side->rows, &side->row_count) : AGX_OK;
}

static void free_side(struct side *side)
{
   free(side->tokens.data);
   free(side->contents.data);
   free(side->rows);
   dump_free_dispatches(&side->dispatches);
   agxw_capture_state_destroy(side->state);
   agxw_capture_close(side->reader);
}

/* ---- printing ---- */

static void compare_numbers(struct diff *diff, const char *name, uint64_t a, uint64_t b)
{
   if (a == b)
      return;
   diff->differs = true;
   printf("%s: %" PRIu64 " and %" PRIu64 "\n", name, a, b);
}

static void print_token(const struct side *side, char sign, size_t index)
{
   const struct token *token = (const struct token *)side->tokens.data + index;
   printf("  %c %zu %s", sign, index + 1, dump_request_name(token->request));
   if (token->submission)
      printf(" (submission %" PRIu64 ")", token->submission);
   printf("\n");
}

static agx_status compare_requests(struct diff *diff)
{
   uint64_t *hashes[2] = {NULL, NULL};
   size_t counts[2], differing = 0, pair_count = 0;
   struct align_pair *pairs = NULL;
   for (int i = 0; i < 2; i++) {
      const struct token *tokens = diff->side[i].tokens.data;
      counts[i] = diff->side[i].tokens.count;
      hashes[i] = malloc(AGX_MAX(counts[i], 1) * sizeof(uint64_t));
      for (size_t j = 0; hashes[i] && j < counts[i]; j++)
         hashes[i][j] = tokens[j].hash;
   }
   agx_status status = hashes[0] && hashes[1] ? align_sequences(hashes[0], counts[0], hashes[1],
                                                                counts[1], &pairs, &pair_count)
                                              : no_memory();
   for (size_t i = 0; i < pair_count; i++)
      differing += pairs[i].a == ALIGN_NONE || pairs[i].b == ALIGN_NONE;
   if (differing > 0) {
      diff->differs = true;
      printf("requests: %zu of %zu and %zu differ\n", differing, counts[0], counts[1]);
   }
   uint64_t shown = 0;
   for (size_t i = 0; i < pair_count && shown < diff->limit; i++) {
      if (pairs[i].a != ALIGN_NONE && pairs[i].b != ALIGN_NONE)
         continue;
      shown++;
      bool is_a = pairs[i].a != ALIGN_NONE;
      print_token(&diff->side[is_a ? 0 : 1], is_a ? '-' : '+', is_a ? pairs[i].a : pairs[i].b);
   }
   if (shown < differing)
      printf("  ... %zu more\n", differing - (size_t)shown);
   free(pairs);
   free(hashes[0]);
   free(hashes[1]);
   return status;
}

static int order_contents(const void *a, const void *b)
{
   const struct content *left = a, *right = b;
   const uint64_t numbers[][2] = {{left->submission, right->submission},
                                  {left->handle, right->handle},
                                  {left->offset, right->offset}};
   for (size_t i = 0; i < AGX_COUNT(numbers); i++)
      if (numbers[i][0] != numbers[i][1])
         return numbers[i][0] < numbers[i][1] ? -1 : 1;
   return 0;
}

static void print_content(const struct content *it, const char *words)
{
   printf("  submission %" PRIu64 ", buffer %u at offset %#" PRIx64 ": %s\n", it->submission,
          it->handle, it->offset, words);
}

static void compare_contents(struct diff *diff)
{
   const struct content *items[2];
   size_t counts[2], at[2] = {0, 0}, differing = 0;
   for (int i = 0; i < 2; i++) {
      struct list *list = &diff->side[i].contents;
      if (list->count > 0)
         qsort(list->data, list->count, sizeof(struct content), order_contents);
      items[i] = list->data;
      counts[i] = list->count;
   }
   while (at[0] < counts[0] || at[1] < counts[1]) {
      const struct content *a = at[0] < counts[0] ? &items[0][at[0]] : NULL;
      const struct content *b = at[1] < counts[1] ? &items[1][at[1]] : NULL;
      int order = !a ? 1 : !b ? -1 : order_contents(a, b);
      at[0] += order <= 0;
      at[1] += order >= 0;
      if (order == 0 && a->hash == b->hash)
         continue;
      if (differing++ == 0)
         printf("contents that submissions find:\n");
      if (differing <= diff->limit)
         print_content(order <= 0 ? a : b, order == 0  ? "differs"
                                           : order < 0 ? "written in A only"
                                                       : "written in B only");
   }
   if (differing > diff->limit)
      printf("  ... %zu pages more\n", differing - (size_t)diff->limit);
   diff->differs = diff->differs || differing > 0;
}

/* ---- dispatches ---- */

static void print_instr(char sign, const struct dump_instr *it)
{
   struct agx_isa_instr instr;
   char text[512] = "?";
   if (agx_isa_decode(it->bytes, it->length, &instr) == AGX_OK)
      agx_isa_print(&instr, text, sizeof(text));
   printf("    %c %5x: %s\n", sign, it->offset, text);
}

static void print_pair(const struct dump_code *a, const struct dump_code *b,
                       const struct align_pair *pair)
{
   bool equal = match_is_equal(a, b, pair);
   if (pair->a != ALIGN_NONE)
      print_instr(equal ? ' ' : '-', &a->instrs[pair->a]);
   if (pair->b != ALIGN_NONE && !equal)
      print_instr('+', &b->instrs[pair->b]);
}

/* *out_equal: instructions that are the same in both. */
static agx_status compare_code(const char *name, const struct dump_code *a,
                               const struct dump_code *b, bool prints, size_t *out_equal)
{
   struct align_pair *pairs = NULL;
   size_t count = 0;
   *out_equal = 0;
   AGX_TRY(match_code(a, b, &pairs, &count));
   for (size_t i = 0; i < count; i++)
      *out_equal += match_is_equal(a, b, &pairs[i]);
   bool differs = *out_equal != a->count || *out_equal != b->count;
   if (prints && differs)
      printf("    %s\n", name);
   for (size_t i = 0; prints && differs && i < count; i++)
      print_pair(a, b, &pairs[i]);
   free(pairs);
   return AGX_OK;
}

static void print_launch(const struct dump_dispatch *it)
{
   printf("%" PRIu64 ".%u.%u", it->submission, it->command, it->index);
}

static void print_ratio(const char *name, double a, double b)
{
   printf("      %-12s %12.0f %12.0f", name, a, b);
   if (a > 0)
      printf("  %.2f", b / a);
   printf("\n");
}

static void print_figures(const struct diff *diff, size_t a, size_t b)
{
   const struct side *left = &diff->side[0], *right = &diff->side[1];
   if (a >= left->row_count || b >= right->row_count)
      return;
   const struct stat_row *x = &left->rows[a], *y = &right->rows[b];
   print_ratio("instructions", (double)x->instructions, (double)y->instructions);
   print_ratio("cycles", x->cycles, y->cycles);
   for (unsigned i = 0; i < AGXS_TERM_COUNT; i++)
      print_ratio(agxs_term_name((enum agxs_term)i), x->term[i], y->term[i]);
   print_ratio("waits", (double)x->waits_met, (double)y->waits_met);
   print_ratio("bytes", (double)x->bytes, (double)y->bytes);
   print_ratio("occupancy", x->occupancy, y->occupancy);
   print_ratio("registers", x->gpr_halves, y->gpr_halves);
}

static agx_status compare_pair(struct diff *diff, size_t a, size_t b, bool prints)
{
   const struct dump_dispatch *x = &diff->side[0].dispatches.items[a],
                              *y = &diff->side[1].dispatches.items[b];
   size_t equal, preamble_equal;
   AGX_TRY(compare_code("code", &x->main, &y->main, false, &equal));
   AGX_TRY(compare_code("preamble", &x->preamble, &y->preamble, false, &preamble_equal));
   bool is_same = equal == x->main.count && equal == y->main.count &&
                  preamble_equal == x->preamble.count && preamble_equal == y->preamble.count &&
                  memcmp(x->launch.local, y->launch.local, sizeof(x->launch.local)) == 0;
   diff->differs = diff->differs || !is_same;
   if (!prints || (is_same && !diff->shows_figures))
      return AGX_OK;
   printf("  ");
   print_launch(x);
   printf(" and ");
   print_launch(y);
   printf(
      ": %ux%ux%u by %ux%ux%u and %ux%ux%u; code %zu and %zu instructions, %zu the same; preamble "
      "%zu and %zu, %zu the same\n",
      x->launch.global[0], x->launch.global[1], x->launch.global[2], x->launch.local[0],
      x->launch.local[1], x->launch.local[2], y->launch.local[0], y->launch.local[1],
      y->launch.local[2], x->main.count, y->main.count, equal, x->preamble.count, y->preamble.count,
      preamble_equal);
   if (diff->shows_figures)
      print_figures(diff, a, b);
   if (!diff->shows_code)
      return AGX_OK;
   AGX_TRY(compare_code("preamble", &x->preamble, &y->preamble, true, &equal));
   return compare_code("code", &x->main, &y->main, true, &equal);
}

static agx_status compare_pairs(struct diff *diff, const struct align_pair *pairs, size_t count)
{
   uint64_t shown = 0;
   for (size_t i = 0; i < count; i++) {
      bool is_a = pairs[i].a != ALIGN_NONE, is_b = pairs[i].b != ALIGN_NONE;
      if (is_a && is_b) {
         AGX_TRY(compare_pair(diff, pairs[i].a, pairs[i].b, shown < diff->limit));
         shown++;
         continue;
      }
      diff->differs = true;
      if (shown++ >= diff->limit)
         continue;
      const struct dump_dispatch *it =
         &diff->side[is_a ? 0 : 1].dispatches.items[is_a ? pairs[i].a : pairs[i].b];
      printf("  ");
      print_launch(it);
      printf(": in %c only\n", is_a ? 'A' : 'B');
   }
   return AGX_OK;
}

static agx_status compare_dispatches(struct diff *diff)
{
   const struct dump_dispatches *a = &diff->side[0].dispatches, *b = &diff->side[1].dispatches;
   struct align_pair *pairs = NULL;
   size_t count = 0;
   AGX_TRY(match_dispatches(a, b, &pairs, &count));
   compare_numbers(diff, "dispatches", a->count, b->count);
   agx_status status = compare_pairs(diff, pairs, count);
   free(pairs);
   return status;
}

static agx_status compare(struct diff *diff)
{
   const struct side *a = &diff->side[0], *b = &diff->side[1];
   if (strcmp(a->node, b->node) != 0) {
      diff->differs = true;
      printf("device: %s and %s\n", a->node, b->node);
   }
   compare_numbers(diff, "submissions", a->submissions, b->submissions);
   compare_numbers(diff, "buffers", a->buffers, b->buffers);
   compare_numbers(diff, "bytes of buffers", a->buffer_bytes, b->buffer_bytes);
   AGX_TRY(compare_requests(diff));
   compare_contents(diff);
   return compare_dispatches(diff);
}

/* ---- the command ---- */

static agx_status parse(struct diff *diff, int argc, char **argv)
{
   int files = 0;
   for (int i = 2; i < argc; i++) {
      char *end;
      if (strcmp(argv[i], "--code") == 0) {
         diff->shows_code = true;
      } else if (strcmp(argv[i], "--figures") == 0) {
         diff->shows_figures = true;
      } else if (strcmp(argv[i], "--limit") == 0) {
         const char *value = ++i < argc ? argv[i] : "";
         diff->limit = strtoull(value, &end, 10);
         if (*value < '0' || *value > '9' || *end)
            return AGX_FAIL(AGX_INVALID_ARGUMENT, "--limit \"%s\": a number is wanted", value);
      } else if (argv[i][0] == '-' || files == 2) {
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "unexpected \"%s\"", argv[i]);
      } else {
         diff->side[files++].path = argv[i];
      }
   }
   return files == 2 ? AGX_OK : AGX_FAIL(AGX_INVALID_ARGUMENT, "two files are compared");
}

int dump_diff(int argc, char **argv)
{
   struct diff diff = {.limit = 20};
   agx_status status = AGX_OK;
   if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
      fputs(help, stdout);
      return 0;
   }
   if (parse(&diff, argc, argv) != AGX_OK) {
      fprintf(stderr, "agxdump diff: %s\n%s", agx_error_peek(), help);
      return 2;
   }
   for (int i = 0; i < 2 && status == AGX_OK; i++) {
      status = read_side(&diff, &diff.side[i]);
      if (status != AGX_OK)
         agx_error_prefix("%s", diff.side[i].path);
   }
   if (status == AGX_OK)
      status = compare(&diff);
   if (status != AGX_OK)
      fprintf(stderr, "agxdump: %s\n", agx_error_peek());
   free_side(&diff.side[0]);
   free_side(&diff.side[1]);
   return status != AGX_OK ? 2 : diff.differs ? 1 : 0;
}
