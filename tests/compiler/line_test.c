/* SPDX-License-Identifier: MIT
 *
 * Source lines through the whole compiler: each instruction of a kernel names the line that it was
 * made for, whatever the passes did, and debug information changes no byte of code.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <spirv/unified1/spirv.h>

#include "agx/compiler/compiler.h"
#include "agx/isa/isa.h"
#include "base/util.h"
#include "program/lines.h"
#include "support.h"

static agx_status compile_bytes(const char *bytes, size_t size, const struct agxc_options *like,
                                struct agx_program **out_program)
{
   struct agxc_options options = *like;
   options.chip = agx_chip_find("g13g");
   return agxc_compile(bytes, size, &options, out_program);
}

static struct agx_program *compile(const char *name, const struct agxc_options *like)
{
   char relative[128];
   size_t size;
   snprintf(relative, sizeof(relative), "compiler/spv/%s", name);
   char *path = agx_test_path(relative), *bytes = agx_test_read_file(path, &size);
   struct agx_program *program;
   assert_ok(compile_bytes(bytes, size, like, &program));
   free(bytes);
   free(path);
   return program;
}

struct walked {
   const struct agx_lines *lines;
   char text[4096]; /* "LINE:mnemonic " of each instruction, "?" for no line */
};

/* The instruction's mnemonic stands behind address and bytes. */
static void add_instr(void *user, const char *text)
{
   struct walked *walked = user;
   struct agx_source_line line;
   const uint32_t at = (uint32_t)strtoul(text, NULL, 16);
   char name[32], number[16] = "?";
   assert_int_equal(sscanf(text, "%*s %*s %31s", name), 1);
   if (strcmp(name, "trap") == 0 || strcmp(name, "wait") == 0)
      return;
   if (agx_lines_find(walked->lines, at, &line))
      snprintf(number, sizeof(number), "%u", line.line);
   const size_t length = strlen(walked->text);
   snprintf(walked->text + length, sizeof(walked->text) - length, "%s:%s ", number, name);
}

static void walk(const struct agx_program *program, struct walked *walked)
{
   struct agx_lines lines;
   assert_ok(agx_lines_init(program, NULL, &lines));
   *walked = (struct walked){.lines = &lines};
   assert_ok(agx_isa_disassemble(program->code, program->code_B, 0, add_instr, walked));
   agx_lines_fini(&lines);
}

/* An unrolled loop (17), a branch that became a select (19), an inlined function (9), and a
 * branch that stays (22). */
static void test_passes(void **state)
{
   static const char *const names[] = {"lines.g.spv", "lines.gvs.spv"};
   static const char *const wanted[] = {"14:mfsr ",    "17:load ", "17:fadd ",  "20:fadd ",
                                        "19:fcsel ",   "9:sinr ",  "9:ffma ",   "21:store ",
                                        "22:if_icmp ", "23:rcp ",  "23:store ", "23:stop "};
   for (size_t i = 0; i < AGX_COUNT(names); i++) {
      struct agx_program *program = compile(names[i], &(struct agxc_options){0});
      struct walked walked;
      walk(program, &walked);
      for (size_t k = 0; k < AGX_COUNT(wanted); k++)
         if (!strstr(walked.text, wanted[k]))
            fail_msg("%s: \"%s\" is not in \"%s\"", names[i], wanted[k], walked.text);
      assert_null(strchr(walked.text, '?'));
      agx_program_free(program);
   }
}

static void test_text(void **state)
{
   struct agx_program *program = compile("lines.g.spv", &(struct agxc_options){0});
   struct agx_lines lines;
   struct agx_source_line line;
   assert_ok(agx_lines_init(program, NULL, &lines));
   assert_true(agx_lines_find(&lines, 0, &line));
   assert_string_equal(line.file, "lines.comp");
   static const char text[] = "   uint i = gl_GlobalInvocationID.x;";
   assert_int_equal(line.text_B, strlen(text));
   assert_memory_equal(line.text, text, strlen(text));
   agx_lines_fini(&lines);
   agx_program_free(program);
}

/* Newer compilers write a later version of the same set. */
static void test_later_version(void **state)
{
   static const char known[] = "NonSemantic.Shader.DebugInfo.100";
   size_t size, at = 0;
   char *path = agx_test_path("compiler/spv/lines.gvs.spv"),
        *bytes = agx_test_read_file(path, &size);
   while (at + sizeof(known) <= size && memcmp(bytes + at, known, sizeof(known)) != 0)
      at += 4;
   assert_true(at + sizeof(known) <= size);
   bytes[at + sizeof(known) - 2] = '2';
   struct agx_program *program;
   assert_ok(compile_bytes(bytes, size, &(struct agxc_options){0}, &program));
   struct walked walked;
   walk(program, &walked);
   assert_non_null(strstr(walked.text, "14:mfsr "));
   agx_program_free(program);
   free(bytes);
   free(path);
}

/* Of the robust kernel, the unchecked variant too. */
static void test_variants(void **state)
{
   struct agx_program *program =
      compile("lines.g.spv", &(struct agxc_options){.robustness = AGXC_ROBUST_CLAMP});
   assert_non_null(program->unchecked);
   assert_true(program->lines_B > 0 && program->unchecked->lines_B > 0);
   agx_program_free(program);
   program = compile("lines.g.spv", &(struct agxc_options){.debug = AGXC_DEBUG_NO_OPT});
   assert_true(program->lines_B > 0);
   agx_program_free(program);
}

/* A line in front of a label counts, what a module says wrongly is left out. */
static void test_rules(void **state)
{
   struct agx_program *program = compile("lines.spv", &(struct agxc_options){0});
   struct walked walked;
   walk(program, &walked);
   assert_string_equal(walked.text,
                       "1:load 1:store ?:store 2:store ?:store ?:store 2:store 2:stop ");
   struct agx_lines lines;
   struct agx_source_line line;
   assert_ok(agx_lines_init(program, NULL, &lines));
   assert_true(agx_lines_find(&lines, 0, &line));
   assert_string_equal(line.file, "a.glsl");
   assert_int_equal(line.column, 2);
   assert_memory_equal(line.text, "one", 3);
   assert_int_equal(line.text_B, 3);
   assert_true(agx_lines_find(&lines, 0x1a, &line));
   assert_string_equal(line.file, "bell?.h");
   assert_int_equal(line.column, 0);
   assert_null(line.text);
   agx_lines_fini(&lines);
   agx_program_free(program);
}

static void test_modules_without(void **state)
{
   struct agx_program *program = compile("loops.spv", &(struct agxc_options){0});
   assert_int_equal(program->lines_B, 0);
   assert_int_equal(program->texts_B, 0);
   agx_program_free(program);
}

/* ---- the same code ------------------------------------------------------- */

/* ---- modules without their debug information ---- */

struct module {
   uint32_t *words; /* of the whole file */
   size_t size;     /* bytes */
};

#define MAX_IMPORTS                   8
#define OP_EXT_INST_WITH_FORWARD_REFS 4433 /* older headers lack it */

static bool is_debug_op(uint32_t op)
{
   return op == SpvOpLine || op == SpvOpNoLine || op == SpvOpString || op == SpvOpName ||
          op == SpvOpMemberName || op == SpvOpModuleProcessed ||
          (op >= SpvOpSourceContinued && op <= SpvOpSourceExtension);
}

/* Takes out of a valid module what says something to people only; ids stay as they are. */
static void strip(struct module *module)
{
   uint32_t imports[MAX_IMPORTS], import_count = 0;
   size_t count = module->size / 4, kept = 5;
   for (size_t at = 5, length; at < count; at += length) {
      const uint32_t *in = module->words + at;
      uint32_t op = in[0] & 0xffff;
      length = in[0] >> 16;
      assert_true(length > 0 && at + length <= count);
      bool is_dropped = is_debug_op(op);
      if (op == SpvOpExtInstImport && strncmp((const char *)(in + 2), "NonSemantic.", 12) == 0) {
         assert_true(import_count < MAX_IMPORTS);
         imports[import_count++] = in[1];
         is_dropped = true;
      }
      if (op == SpvOpExtInst || op == OP_EXT_INST_WITH_FORWARD_REFS)
         for (uint32_t i = 0; i < import_count; i++)
            is_dropped |= imports[i] == in[3];
      if (!is_dropped) {
         memmove(module->words + kept, in, 4 * length);
         kept += length;
      }
   }
   module->size = 4 * kept;
}

/* Of a kernel, by glslangValidator; without words where that refuses. */
static struct module make_module(const char *source, const char *option, const char *spv)
{
   char command[2304];
   struct module module = {0};
   snprintf(command, sizeof(command),
            "glslangValidator -V --target-env vulkan1.3 %s '%s' -o '%s' > /dev/null 2>&1", option,
            source, spv);
   if (system(command) == 0)
      module.words = (uint32_t *)agx_test_read_file(spv, &module.size);
   return module;
}

/* NULL: we refuse it. */
static struct agx_program *compile_module(const struct module *module)
{
   struct agx_program *program;
   return compile_bytes((const char *)module->words, module->size, &(struct agxc_options){0},
                        &program) == AGX_OK
             ? program
             : NULL;
}

static void expect_same_code(const struct agx_program *a, const struct agx_program *b)
{
   assert_int_equal(a->code_B, b->code_B);
   assert_memory_equal(a->code, b->code, a->code_B);
   assert_int_equal(a->preamble_B, b->preamble_B);
   if (a->preamble_B)
      assert_memory_equal(a->preamble, b->preamble, a->preamble_B);
   assert_int_equal(a->uniform_halves, b->uniform_halves);
   assert_int_equal(a->uniform_count, b->uniform_count);
}

/* With debug information and without it; newer compilers number ids otherwise for other options, so
 * both come from one module. Returns how many pairs were compared. */
static unsigned compare_source(const char *source, const char *spv)
{
   static const char *const options[] = {"-g", "-gV", "-gVS"}; /* the later ones are newer */
   unsigned count = 0;
   for (size_t i = 0; i < AGX_COUNT(options); i++) {
      struct module module = make_module(source, options[i], spv);
      struct agx_program *with = module.words ? compile_module(&module) : NULL;
      if (with) {
         strip(&module);
         struct agx_program *plain = compile_module(&module);
         assert_non_null(plain);
         expect_same_code(plain, with);
         assert_true(plain->lines_B == 0);
         assert_true(with->lines_B > 0 && with->lines_B < 4096 + 8 * with->code_B);
         agx_program_free(plain);
         agx_program_free(with);
         count++;
      }
      free(module.words);
   }
   return count;
}

static void test_same_code(void **state)
{
   if (system("glslangValidator --version > /dev/null 2>&1") != 0) {
      print_message("glslangValidator is not there: debug information is not compared\n");
      skip();
   }
   char spv[] = "/tmp/agx-line-XXXXXX", source[1024];
   int fd = mkstemp(spv);
   assert_true(fd >= 0);
   close(fd);
   char *folder = agx_test_path("compiler/spv");
   DIR *all = opendir(folder);
   assert_non_null(all);
   unsigned count = 0;
   for (struct dirent *entry; (entry = readdir(all));) {
      const size_t length = strlen(entry->d_name);
      snprintf(source, sizeof(source), "%s/%s", folder, entry->d_name);
      if (length > 5 && strcmp(entry->d_name + length - 5, ".comp") == 0)
         count += compare_source(source, spv);
   }
   closedir(all);
   free(folder);
   unlink(spv);
   print_message("%u pairs compared\n", count);
   assert_true(count >= 30);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_passes),        cmocka_unit_test(test_text),
      cmocka_unit_test(test_later_version), cmocka_unit_test(test_variants),
      cmocka_unit_test(test_rules),         cmocka_unit_test(test_modules_without),
      cmocka_unit_test(test_same_code),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
