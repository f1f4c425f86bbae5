/* SPDX-License-Identifier: MIT
 *
 * Whole models that IREE's compiler made (tests/iree/models, by scripts/iree_models), without IREE:
 * every dispatch and copy that IREE's host code asked its device for goes through the public API,
 * with the container reader of the driver, and the results are what IREE's own CPU code computes.
 *
 * A recording has lines of words:
 *   code OFFSET LENGTH                         a container in the file of the same name, .bin
 *   buffer ID BYTES
 *   input ID KIND SEED COUNT SCALE OFFSET      made up as in scripts/iree_models/nets.py
 *   dispatch CODE EXPORT X Y Z CONSTANTS SPAN...   CONSTANTS: hexadecimal or "-"; SPAN:
 * ID:OFFSET:BYTES fill SPAN PATTERN, copy FROM TO, barrier result ID KIND COUNT TOLERANCE FILE
 * TOLERANCE: of the root of the mean square
 */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/util.h"
#include "iree/container.h"

#define MAX_IDS      128
#define MAX_CODES    64
#define MAX_EXPORTS  8
#define MAX_BINDINGS 16
#define MAX_WORDS    32
#define TABLE_B      (MAX_BINDINGS * 8) /* of a dispatch by addresses */
#define MAX_TABLES   64

struct recording {
   const char *name; /* model and how it was compiled */
   uint32_t dispatches;
};

struct kernel {
   struct agx_executable *executable; /* NULL: not loaded yet */
   uint32_t entry;
   struct agx_iree_export from;
};

struct code {
   uint8_t *data; /* aligned for SPIR-V as far as the container is */
   struct agx_iree_container container;
   struct kernel kernels[MAX_EXPORTS];
};

struct model {
   struct fixture fixture;
   struct agx_command_buffer *commands;
   const struct recording *recording;
   char *bytes; /* of the .bin file */
   size_t bytes_B;
   struct code codes[MAX_CODES];
   uint32_t code_count, dispatch_count, table_count;
   struct agx_buffer *buffers[MAX_IDS], *tables;
   uint8_t *memory[MAX_IDS];
   uint64_t sizes[MAX_IDS], *table_words;
   char *words[MAX_WORDS]; /* of the line */
   uint32_t word_count;
};

static char *read_file(const char *name, const char *ending, size_t *out_bytes)
{
   char file[128];
   snprintf(file, sizeof(file), "iree/models/%s%s", name, ending);
   char *path = agx_test_path(file), *data = agx_test_read_file(path, out_bytes);
   free(path);
   return data;
}

static uint64_t number(const struct model *m, uint32_t word)
{
   assert_true(word < m->word_count);
   return strtoull(m->words[word], NULL, 10);
}

static uint32_t id_of(const struct model *m, uint32_t word)
{
   const uint64_t id = number(m, word);
   assert_true(id < MAX_IDS);
   return (uint32_t)id;
}

/* ---- code -------------------------------------------------------------------- */

static void read_code(struct model *m)
{
   struct code *code = &m->codes[m->code_count++];
   struct agx_iree_error error;
   const uint64_t at = number(m, 1), bytes = number(m, 2);
   assert_true(m->code_count <= MAX_CODES && at + bytes <= m->bytes_B);
   code->data = (uint8_t *)m->bytes + at;
   assert_ok(agx_iree_container_open(code->data, bytes, &code->container, &error));
   assert_in_range(code->container.export_count, 1, MAX_EXPORTS);
}

static struct kernel *load(struct model *m, uint64_t code_index, uint64_t export_index)
{
   assert_true(code_index < m->code_count && export_index < MAX_EXPORTS);
   struct code *code = &m->codes[code_index];
   struct kernel *kernel = &code->kernels[export_index];
   struct agx_iree_error error;
   if (kernel->executable)
      return kernel;
   assert_ok(agx_iree_container_get_export(&code->container, (uint32_t)export_index, &kernel->from,
                                           &error));
   const bool is_bda = strstr(m->recording->name, "bda") != NULL;
   assert_int_equal(kernel->from.abi, is_bda ? AGX_IREE_ADDRESSES : AGX_IREE_DESCRIPTORS);
   uint32_t *words = malloc(kernel->from.spirv_B);
   memcpy(words, kernel->from.spirv, kernel->from.spirv_B);
   const struct agx_executable_desc desc = {
      .size = sizeof(desc), .data = words, .data_B = kernel->from.spirv_B};
   assert_ok(agx_executable_create(m->fixture.device, &desc, &kernel->executable));
   assert_ok(agx_executable_find_entry(kernel->executable, kernel->from.name, &kernel->entry));
   free(words);
   return kernel;
}

/* ---- inputs ------------------------------------------------------------------ */

static uint32_t hash(uint32_t seed, uint32_t i)
{
   uint32_t h = (i + 1) * 2654435761u ^ seed * 2246822519u;
   h = (h ^ h >> 15) * 2246822519u;
   h = (h ^ h >> 13) * 3266489917u;
   return h ^ h >> 16;
}

static uint16_t bfloat16_of(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The scale of floats is a power of two: the product is exact, and contraction changes nothing. */
static void fill_input(struct model *m)
{
   const uint32_t id = id_of(m, 1), seed = (uint32_t)number(m, 3), count = (uint32_t)number(m, 4);
   const char *kind = m->words[2];
   const float scale = strtof(m->words[5], NULL), offset = strtof(m->words[6], NULL);
   const bool is_integer = kind[0] == 'i', is_f32 = strcmp(kind, "f32") == 0;
   const uint32_t element_B = is_f32 || strcmp(kind, "i32") == 0 ? 4 : is_integer ? 1 : 2;
   assert_true((uint64_t)count * element_B <= m->sizes[id]);
   for (uint32_t i = 0; i < count; i++) {
      const uint32_t h = hash(seed, i);
      const float unit = (float)(h >> 8) * 0x1p-23f - 1, value = unit * scale + offset;
      const int32_t whole = (int32_t)(h % (uint32_t)(is_integer ? scale : 1)) + (int32_t)offset;
      const uint16_t half = kind[0] == 'b' ? bfloat16_of(value) : agx_half_from_float(value);
      const void *from = is_integer ? &whole : is_f32 ? (const void *)&value : &half;
      memcpy(m->memory[id] + (size_t)i * element_B, from, element_B);
   }
}

static void make_buffer(struct model *m)
{
   const uint32_t id = id_of(m, 1);
   uint32_t *words;
   m->sizes[id] = number(m, 2);
   m->buffers[id] = fixture_buffer(&m->fixture, m->sizes[id], &words);
   m->memory[id] = (uint8_t *)words;
   memset(words, 0xa5, m->sizes[id]);
}

/* ---- commands ---------------------------------------------------------------- */

static struct agx_buffer_ref span(const struct model *m, uint32_t word)
{
   unsigned id;
   struct agx_buffer_ref ref = {0};
   unsigned long long offset_B, length_B;
   assert_true(word < m->word_count);
   assert_int_equal(sscanf(m->words[word], "%u:%llu:%llu", &id, &offset_B, &length_B), 3);
   assert_true(id < MAX_IDS && offset_B + length_B <= m->sizes[id]);
   ref.buffer = m->buffers[id];
   ref.offset_B = offset_B;
   ref.length_B = length_B;
   return ref;
}

static uint32_t unhex(const char *text, uint8_t *out, uint32_t room)
{
   uint32_t count = 0;
   for (; text[0] != '-' && text[2 * count]; count++) {
      unsigned byte;
      assert_true(count < room && sscanf(text + 2 * (size_t)count, "%2x", &byte) == 1);
      out[count] = (uint8_t)byte;
   }
   return count;
}

/* Writes where the buffers lie into a table of its own; returns where that lies. */
static uint64_t write_table(struct model *m, uint32_t binding_count)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   const uint32_t at = m->table_count++ * MAX_BINDINGS;
   assert_true(m->table_count <= MAX_TABLES);
   for (uint32_t i = 0; i < binding_count; i++) {
      const struct agx_buffer_ref ref = span(m, 7 + i);
      agx_buffer_get_info(ref.buffer, &info);
      m->table_words[at + i] = info.address + ref.offset_B;
   }
   agx_buffer_get_info(m->tables, &info);
   return info.address + 8ull * at;
}

/* By descriptors: those that the entry point has, whose numbers are the layout's. */
static uint32_t fill_bindings(const struct model *m, const struct code *code,
                              const struct kernel *kernel, struct agx_binding *out)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < kernel->from.binding_count; i++) {
      struct agx_iree_binding binding;
      struct agx_iree_error error;
      assert_ok(agx_iree_export_get_binding(&code->container, &kernel->from, i, &binding, &error));
      out[count++] = (struct agx_binding){.binding = binding.number, .ref = span(m, 7 + i)};
   }
   return count;
}

static void dispatch(struct model *m)
{
   const struct kernel *kernel = load(m, number(m, 1), number(m, 2));
   const struct agx_iree_export *from = &kernel->from;
   struct agx_binding bindings[MAX_BINDINGS];
   uint8_t push[AGX_MAX_PUSH_B] = {0};
   struct agx_dispatch command = {
      .size = sizeof(command),
      .executable = kernel->executable,
      .entry = kernel->entry,
      .workgroups = {(uint32_t)number(m, 3), (uint32_t)number(m, 4), (uint32_t)number(m, 5)},
      .bindings = bindings,
      .push = push,
      .push_B = from->constants_at_B + 4 * from->constant_count,
   };
   assert_true(from->binding_count <= MAX_BINDINGS && m->word_count == 7 + from->binding_count);
   assert_int_equal(unhex(m->words[6], push + from->constants_at_B, 64), 4 * from->constant_count);
   if (from->abi == AGX_IREE_ADDRESSES) {
      const uint64_t table = write_table(m, from->binding_count);
      memcpy(push + from->root_at_B, &table, sizeof(table));
      command.push_B = AGX_MAX(command.push_B, from->root_at_B + AGX_IREE_ROOT_B);
   } else {
      command.binding_count = fill_bindings(m, &m->codes[number(m, 1)], kernel, bindings);
   }
   assert_ok(agx_cmd_dispatch(m->commands, &command));
   m->dispatch_count++;
}

static void record_line(struct model *m)
{
   const char *what = m->words[0];
   if (strcmp(what, "code") == 0) {
      read_code(m);
   } else if (strcmp(what, "buffer") == 0) {
      make_buffer(m);
   } else if (strcmp(what, "input") == 0) {
      fill_input(m);
   } else if (strcmp(what, "dispatch") == 0) {
      dispatch(m);
   } else if (strcmp(what, "fill") == 0) {
      uint8_t pattern[4];
      const uint32_t pattern_B = unhex(m->words[2], pattern, sizeof(pattern));
      assert_ok(agx_cmd_fill(m->commands, span(m, 1), pattern, pattern_B));
   } else if (strcmp(what, "copy") == 0) {
      assert_ok(agx_cmd_copy(m->commands, span(m, 1), span(m, 2)));
   } else if (strcmp(what, "barrier") == 0) {
      assert_ok(agx_cmd_barrier(m->commands, NULL));
   } else {
      assert_string_equal(what, "result");
   }
}

/* ---- results ----------------------------------------------------------------- */

static double element(const void *data, const char *kind, uint32_t i)
{
   if (strcmp(kind, "f32") == 0)
      return ((const float *)data)[i];
   if (strcmp(kind, "i32") == 0)
      return ((const int32_t *)data)[i];
   assert_string_equal(kind, "f16");
   return agx_half_to_float(((const uint16_t *)data)[i]);
}

static void check_line(struct model *m)
{
   if (strcmp(m->words[0], "result") != 0)
      return;
   const void *got = m->memory[id_of(m, 1)];
   const char *kind = m->words[2], *name = m->words[5];
   const uint32_t count = (uint32_t)number(m, 3);
   size_t bytes;
   char *want = read_file(name, "", &bytes);
   double squares = 0;
   assert_int_equal(bytes, (size_t)count * (strcmp(kind, "f16") == 0 ? 2 : 4));
   for (uint32_t i = 0; i < count; i++)
      squares += element(want, kind, i) * element(want, kind, i);
   const double limit = strtod(m->words[4], NULL) * sqrt(squares / count);
   for (uint32_t i = 0; i < count; i++) {
      const double is = element(got, kind, i), should = element(want, kind, i);
      if (!(fabs(is - should) <= limit))
         fail_msg("%s: element %u: %.9g, not %.9g within %g", name, i, is, should, limit);
   }
   free(want);
}

static void for_each_line(struct model *m, const char *name, void (*use)(struct model *m))
{
   size_t bytes;
   char *text = read_file(name, ".txt", &bytes), *rest = text;
   for (char *line; (line = strsep(&rest, "\n")) && *line;) {
      m->word_count = 0;
      for (char *word; (word = strsep(&line, " "));) {
         assert_true(m->word_count < MAX_WORDS);
         m->words[m->word_count++] = word;
      }
      use(m);
   }
   free(text);
}

static void release_all(struct model *m)
{
   for (uint32_t i = 0; i < MAX_IDS; i++)
      agx_release(m->buffers[i]);
   for (uint32_t i = 0; i < m->code_count; i++)
      for (uint32_t j = 0; j < MAX_EXPORTS; j++)
         agx_release(m->codes[i].kernels[j].executable);
   agx_release(m->tables);
   agx_release(m->commands);
   fixture_close(&m->fixture);
   unsetenv("AGX_VIRTUAL_STRICT");
   unsetenv("AGX_VIRTUAL_CHECK");
   free(m->bytes);
   free(m);
}

static void computes_the_same(void **state)
{
   const struct recording *recording = *state;
   struct model *m = calloc(1, sizeof(*m));
   m->recording = recording;
   uint32_t *table_words;
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   fixture_open(&m->fixture, "virtual");
   m->tables = fixture_buffer(&m->fixture, MAX_TABLES * TABLE_B, &table_words);
   m->table_words = (uint64_t *)table_words;
   m->bytes = read_file(recording->name, ".bin", &m->bytes_B);
   m->commands = fixture_begin(&m->fixture);
   struct agx_semaphore *done = fixture_semaphore(&m->fixture);
   for_each_line(m, recording->name, record_line);
   assert_ok(agx_command_buffer_end(m->commands));
   assert_ok(fixture_submit(&m->fixture, m->commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(m->dispatch_count, recording->dispatches);
   for_each_line(m, recording->name, check_line);
   agx_release(done);
   release_all(m);
}

AGX_TEST_FILE(void)
{
   static struct recording recordings[] = {
      {"resnet18.plain", 32},         {"resnet18.matrix", 32},       {"transformer.plain", 16},
      {"transformer.matrix", 16},     {"transformer.bda", 16},       {"transformer_f16.plain", 16},
      {"transformer_f16.matrix", 16}, {"perceptron.plain", 4},       {"perceptron.matrix", 4},
      {"perceptron.bda", 4},          {"attention_f16.plain", 3},    {"attention_f16.matrix", 3},
      {"reductions.plain", 5},        {"reductions.matrix", 5},      {"reductions.bda", 5},
      {"product_f16.plain", 1},       {"product_f16.matrix", 1},     {"product_f16.ampere_bda", 1},
      {"product_i8.plain", 1},        {"product_i8.matrix", 1},      {"product_i8.rdna3", 1},
      {"product_any_f16.plain", 1},   {"product_any_f16.matrix", 1}, {"product_any_bf16.plain", 1},
      {"product_any_bf16.matrix", 1}, {"product_any_bf16.bda", 1},
   };
   struct CMUnitTest tests[AGX_COUNT(recordings)];
   for (uint32_t i = 0; i < AGX_COUNT(recordings); i++)
      tests[i] =
         (struct CMUnitTest){recordings[i].name, computes_the_same, NULL, NULL, &recordings[i]};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
