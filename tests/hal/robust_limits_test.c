/* SPDX-License-Identifier: MIT
 *
 * What a robust kernel is told of its bindings: limits to the byte, and places for what must
 * not happen; what may be bound to it, and what is refused.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agx/isa/isa.h"
#include "base/alloc.h"
#include "program/program.h"

/* Stores u4 .. u11 to binding 1. */
#define WORDS 8

static uint32_t assemble(uint8_t *code, uint32_t *out_text_B)
{
   char lines[3 * WORDS + 16][96];
   uint32_t count = 0, code_B = 0;
   snprintf(lines[count++], sizeof(lines[0]), "ldimm32 d=r0 imm=0");
   for (int i = 0; i < WORDS; i++) {
      snprintf(lines[count++], sizeof(lines[0]), "iadd d=r1 a=r0 b=u%d", 4 + i);
      snprintf(lines[count++], sizeof(lines[0]),
               "store r=r1 base=du2 index=%d format=i32 mask=x group=a", i);
   }
   snprintf(lines[count++], sizeof(lines[0]), "stop");
   for (uint32_t i = 0, last = count; i < last + 8; i++) {
      struct agx_isa_instr instr;
      size_t bytes = 0;
      const char *line = i < last ? lines[i] : "trap";
      assert_ok(agx_isa_parse(line, strlen(line), &instr));
      assert_ok(agx_isa_encode(&instr, code + code_B, &bytes));
      code_B += (uint32_t)bytes;
      if (i + 1 == last)
         *out_text_B = code_B;
   }
   return code_B;
}

static const struct {
   uint32_t kind, start, halves;
} slots[] = {
   {AGX_UNIFORM_BUFFER_COUNT, 8, 2},    {AGX_UNIFORM_BUFFER_LAST, 10, 2},
   {AGX_UNIFORM_BUFFER_SINK, 12, 2},    {AGX_UNIFORM_BUFFER_GUARD, 16, 4},
   {AGX_UNIFORM_BUFFER_ADDRESS, 20, 4},
};
enum word {
   COUNT = 0,
   LAST = 1,
   SINK = 2,
   GUARD = 4, /* and the next one */
   ADDRESS = 6,
};

/* Binding 0 is robust; its limits are those of `access`. */
static struct agx_executable *make_kernel(struct fixture *f, struct agx_program_access access,
                                          bool wants_sink)
{
   uint8_t code[1024];
   struct agx_program_binding bindings[2] = {
      {.access = AGX_BINDING_READS | AGX_BINDING_WRITES, .robustness = AGX_PROGRAM_ROBUST_ZERO},
      {.binding = 1, .access = AGX_BINDING_WRITES}};
   struct agx_program_uniform uniforms[8] = {
      {.kind = AGX_UNIFORM_BUFFER_ADDRESS, .start = 4, .halves = 4, .index = 1}};
   struct agx_program program = {.name = "limits",
                                 .code = code,
                                 .gpr_halves = 4,
                                 .uniform_halves = 24,
                                 .local_size = {1, 1, 1},
                                 .bindings = bindings,
                                 .binding_count = 2,
                                 .uniforms = uniforms,
                                 .uniform_count = 1,
                                 .stats = {.instructions = 1}};
   for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
      bool is_address = slots[i].kind == AGX_UNIFORM_BUFFER_ADDRESS;
      struct agx_program_access own = access;
      if (slots[i].kind == AGX_UNIFORM_BUFFER_GUARD)
         own.stride = 1;
      if (slots[i].kind == AGX_UNIFORM_BUFFER_SINK && !wants_sink)
         continue;
      uniforms[program.uniform_count++] =
         (struct agx_program_uniform){.kind = slots[i].kind,
                                      .start = slots[i].start,
                                      .halves = slots[i].halves,
                                      .value = is_address ? 0 : agx_program_access_pack(own)};
   }
   snprintf(program.chip, sizeof(program.chip), "%s", f->info.chip);
   program.code_B = assemble(code, &program.text_B);
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_executable *executable;
   void *image;
   assert_ok(agx_program_write_elf(&program, NULL, &image, &desc.data_B));
   desc.data = image;
   assert_ok(agx_executable_create(f->device, &desc, &executable));
   agx_host_free(NULL, image, desc.data_B);
   return executable;
}

static agx_status record(struct fixture *f, struct agx_executable *executable,
                         struct agx_buffer_ref ref, struct agx_buffer *out,
                         struct agx_command_buffer **out_commands)
{
   const struct agx_binding bindings[2] = {{.ref = ref},
                                           {.binding = 1, .ref = {out, 0, AGX_WHOLE_LENGTH}}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = executable,
                                   .workgroups = {1, 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings};
   *out_commands = fixture_begin(f);
   return agx_cmd_dispatch(*out_commands, &dispatch);
}

static void ask(struct fixture *f, struct agx_program_access access, struct agx_buffer_ref ref,
                uint32_t words[WORDS])
{
   struct agx_command_buffer *commands;
   uint32_t *memory;
   struct agx_buffer *out = fixture_buffer(f, 4 * WORDS, &memory);
   struct agx_semaphore *done = fixture_semaphore(f);
   struct agx_executable *executable = make_kernel(f, access, true);
   assert_ok(record(f, executable, ref, out, &commands));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   memcpy(words, memory, 4 * WORDS);
   agx_release(commands);
   agx_release(executable);
   agx_release(done);
   agx_release(out);
}

static uint64_t pair(const uint32_t *words)
{
   return words[0] | (uint64_t)words[1] << 32;
}

/* The page of zeros lies where the window's end says; what leads there must do so with all of
 * its bytes. */
static void limits_are_those_of_the_bound_range(void **state)
{
   static const struct {
      struct agx_program_access access;
      uint64_t offset, length;
      uint32_t count, last;
      bool fits; /* at the constant */
   } rows[] = {
      {{0, 4, 4, false}, 0, 64, 16, 15, true},   {{0, 4, 4, false}, 4, 63, 15, 14, true},
      {{0, 4, 4, true}, 4, 3, 0, 0, false},      {{8, 16, 16, false}, 0, 64, 3, 2, true},
      {{8, 16, 16, true}, 0, 24, 1, 0, true},    {{8, 16, 16, false}, 0, 23, 0, 0, false},
      {{4, 12, 8, false}, 8, 100, 8, 7, true},   {{0, 1, 1, false}, 0, 0, 0, 0, false},
      {{256, 4, 4, false}, 0, 256, 0, 0, false}, {{0, 8192, 16, true}, 0, 256, 1, 0, true},
   };
   struct fixture f;
   uint32_t *memory, words[WORDS];
   setenv("AGX_DEBUG", "bounds", 1);
   fixture_open(&f, "virtual");
   unsetenv("AGX_DEBUG");
   struct agx_buffer *buffer = fixture_buffer(&f, 256, &memory);
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(buffer, &info);
   const uint64_t zero = (info.address | 0xffffffff) - 0x7fff;
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      const struct agx_program_access *access = &rows[i].access;
      const uint64_t base = info.address + rows[i].offset;
      const uint64_t page = zero + (access->writes ? 0x4000 : 0);
      ask(&f, *access, (struct agx_buffer_ref){buffer, rows[i].offset, rows[i].length}, words);
      assert_int_equal(words[COUNT], rows[i].count);
      assert_int_equal(words[LAST], rows[i].last);
      assert_int_equal(pair(words + ADDRESS), base);
      assert_int_equal(pair(words + GUARD), rows[i].fits ? base + access->constant : page);
      uint64_t at = base + access->constant + (uint64_t)words[SINK] * access->stride;
      assert_in_range(at, page, page + 0x4000 - access->bytes);
   }
   agx_release(buffer);
   fixture_close(&f);
}

/* 256 bytes at 0x2040 of a dma-buf of more. */
static struct agx_buffer *import_part(struct fixture *f)
{
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 65536, .usage = AGX_USAGE_SHARING_EXPORT};
   struct agx_external external = {.size = sizeof(external)};
   struct agx_buffer *whole, *part;
   assert_ok(agx_buffer_create(f->device, &desc, &whole));
   assert_ok(agx_buffer_export(whole, AGX_EXTERNAL_DMA_BUF, &external));
   external.offset_B = 0x2040;
   external.size_B = 256;
   assert_ok(
      agx_buffer_import(f->device, NULL, &external, (struct agx_release_callback){0}, &part));
   close(external.fd);
   agx_release(whole);
   return part;
}

static struct agx_buffer *reserve_page(struct fixture *f)
{
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 256};
   struct agx_buffer *range;
   assert_ok(agx_vmem_reserve(f->device, &desc, &range));
   return range;
}

/* What is inside is told from the buffer, not from the memory that it is in, or has at all. */
static void limits_are_those_of_any_kind_of_memory(void **state)
{
   const struct agx_program_access access = {4, 4, 4, false};
   struct fixture f;
   uint32_t words[WORDS];
   fixture_open(&f, "virtual");
   struct agx_buffer *buffers[] = {import_part(&f), reserve_page(&f)};
   for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
      struct agx_buffer_info info = {.size = sizeof(info)};
      agx_buffer_get_info(buffers[i], &info);
      const uint64_t zero = (info.address | 0xffffffff) - 0x7fff;
      ask(&f, access, (struct agx_buffer_ref){buffers[i], 16, AGX_WHOLE_LENGTH}, words);
      assert_int_equal(words[COUNT], 59);
      assert_int_equal(words[LAST], 58);
      assert_int_equal(pair(words + ADDRESS), info.address + 16);
      assert_int_equal(info.address + 16 + 4 + 4ull * words[SINK], zero);
      agx_release(buffers[i]);
   }
   fixture_close(&f);
}

static void no_buffer_is_one_without_bytes(void **state)
{
   struct fixture f;
   uint32_t words[WORDS];
   fixture_open(&f, "virtual");
   ask(&f, (struct agx_program_access){4, 4, 4, false}, (struct agx_buffer_ref){NULL, 0, 0}, words);
   assert_int_equal(words[COUNT], 0);
   assert_int_equal(words[LAST], 0);
   assert_int_equal(pair(words + ADDRESS), 0x1000000000);
   assert_int_equal(pair(words + GUARD), 0x10ffff8000);
   assert_int_equal(0x1000000004 + 4ull * words[SINK], 0x10ffff8000);
   fixture_close(&f);
}

/* From most of a buffer of more than 4 GiB no page of zeros is in reach. */
static void places_out_of_reach_are_refused_by_name(void **state)
{
   const struct agx_program_access access = {0, 4, 4, false};
   struct agx_command_buffer *commands;
   struct fixture f;
   uint32_t *memory, words[WORDS];
   setenv("AGX_VIRTUAL_MEMORY", "0x200000000", 1);
   fixture_open(&f, "virtual");
   unsetenv("AGX_VIRTUAL_MEMORY");
   const uint64_t size = 5ull << 30;
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = size};
   struct agx_buffer *large, *out = fixture_buffer(&f, 64, &memory);
   assert_ok(agx_buffer_create(f.device, &desc, &large));
   struct agx_executable *zero = make_kernel(&f, access, true);
   assert_fails(record(&f, zero, (struct agx_buffer_ref){large, 0, 64}, out, &commands),
                AGX_OUT_OF_RANGE, "dispatch of limits: set 0 binding 0: 64 bytes at 0x");
   assert_fails(agx_command_buffer_end(commands), AGX_OUT_OF_RANGE, "");
   agx_release(commands);
   /* Clamped indices need one only where nothing fits. */
   struct agx_executable *clamp = make_kernel(&f, access, false);
   assert_ok(record(&f, clamp, (struct agx_buffer_ref){large, 0, 64}, out, &commands));
   agx_release(commands);
   assert_fails(record(&f, clamp, (struct agx_buffer_ref){large, 0, 3}, out, &commands),
                AGX_OUT_OF_RANGE, "3 bytes");
   agx_release(commands);
   /* The sink itself, wherever the buffer ends. */
   const struct agx_program_access far = {UINT32_MAX, 1, 16, true};
   struct agx_executable *sink = make_kernel(&f, far, false);
   assert_fails(
      record(&f, sink, (struct agx_buffer_ref){large, 0, AGX_MAX_BINDING_B}, out, &commands),
      AGX_OUT_OF_RANGE, "4294967295 bytes at 0x");
   agx_release(commands);
   agx_release(sink);
   ask(&f, access, (struct agx_buffer_ref){large, 4ull << 30, AGX_WHOLE_LENGTH}, words);
   assert_int_equal(words[COUNT], 1u << 28);
   agx_release(zero);
   agx_release(clamp);
   agx_release(large);
   agx_release(out);
   fixture_close(&f);
}

static void modes_are_checked(void **state)
{
   static const struct agx_binding_robustness bad = {0, 0, 3};
   struct fixture f;
   struct agx_executable *executable;
   fixture_open(&f, "virtual");
   char *path = agx_test_path("corpus/saxpy.spv");
   struct agx_executable_desc desc = {.size = sizeof(desc), .robustness = 3};
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_fails(agx_executable_create(f.device, &desc, &executable), AGX_INVALID_ARGUMENT,
                "robustness 3");
   desc.robustness = AGX_ROBUST_ZERO;
   desc.overrides = &bad;
   desc.override_count = 1;
   assert_fails(agx_executable_create(f.device, &desc, &executable), AGX_INVALID_ARGUMENT,
                "robustness 3");
   desc.override_count = AGX_MAX_BINDINGS + 1;
   assert_fails(agx_executable_create(f.device, &desc, &executable), AGX_INVALID_ARGUMENT,
                "65 bindings");
   const struct agx_binding_robustness off = {0, 1, AGX_ROBUST_OFF};
   struct agx_binding_info info = {.size = sizeof(info)};
   desc.overrides = &off;
   desc.override_count = 1;
   assert_ok(agx_executable_create(f.device, &desc, &executable));
   assert_ok(agx_executable_get_binding(executable, 0, &info));
   assert_int_equal(info.robustness, AGX_ROBUST_ZERO);
   assert_ok(agx_executable_get_binding(executable, 1, &info));
   assert_int_equal(info.robustness, AGX_ROBUST_OFF);
   agx_release(executable);
   free(spirv);
   free(path);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_are_those_of_the_bound_range),
      cmocka_unit_test(limits_are_those_of_any_kind_of_memory),
      cmocka_unit_test(no_buffer_is_one_without_bytes),
      cmocka_unit_test(places_out_of_reach_are_refused_by_name),
      cmocka_unit_test(modes_are_checked),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
