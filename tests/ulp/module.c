/* SPDX-License-Identifier: MIT
 *
 * The kernel of an operation, as SPIR-V: operands from words, one operation, and its result as a
 * word. device.c compiles it.
 */
#include <string.h>

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "base/util.h"
#include "ulp.h"

struct module {
   uint32_t *words, count, next;
   uint32_t uint, sint, boolean, single, half, half2, glsl,
      number; /* number: the float of the width */
   uint32_t ptr_word, in, out, zero, one, half_zero;
};

#define PUT(m, op, ...)                                                                            \
   put((m), (op), AGX_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})

static void put(struct module *m, SpvOp op, size_t count, const uint32_t *words)
{
   m->words[m->count++] = (uint32_t)(count + 1) << SpvWordCountShift | op;
   for (size_t i = 0; i < count; i++)
      m->words[m->count++] = words[i];
}

/* An instruction with a result of that type, and words behind it. */
#define RESULT(m, op, type, ...)                                                                   \
   result((m), (op), (type), AGX_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})

static uint32_t result(struct module *m, SpvOp op, uint32_t type, size_t count,
                       const uint32_t *words)
{
   uint32_t all[16] = {type, m->next++};
   memcpy(all + 2, words, count * sizeof(*words));
   put(m, op, count + 2, all);
   return all[1];
}

/* Ids that the header names before they are defined. */
enum {
   MAIN = 1,
   GLSL,
   GID,
   IN,
   OUT,
   BLOCK,
   ARRAY,
   FIRST
};

static void put_text(struct module *m, SpvOp op, uint32_t first, const char *text)
{
   uint32_t words[8] = {first}, skip = first ? 1 : 0;
   memcpy(words + skip, text, strlen(text));
   put(m, op, skip + strlen(text) / 4 + 1, words);
}

static void put_header(struct module *m, bool is_precise, bool has_halves)
{
   const uint32_t head[] = {SpvMagicNumber, 0x00010300, 0, 0, 0};
   memcpy(m->words, head, sizeof(head));
   m->count = AGX_COUNT(head);
   PUT(m, SpvOpCapability, SpvCapabilityShader);
   if (has_halves)
      PUT(m, SpvOpCapability, SpvCapabilityFloat16);
   if (is_precise) {
      PUT(m, SpvOpCapability, SpvCapabilitySignedZeroInfNanPreserve);
      put_text(m, SpvOpExtension, 0, "SPV_KHR_float_controls");
   }
   put_text(m, SpvOpExtInstImport, GLSL, "GLSL.std.450");
   PUT(m, SpvOpMemoryModel, SpvAddressingModelLogical, SpvMemoryModelGLSL450);
   PUT(m, SpvOpEntryPoint, SpvExecutionModelGLCompute, MAIN, 'm' | 'a' << 8 | 'i' << 16 | 'n' << 24,
       0, GID);
   PUT(m, SpvOpExecutionMode, MAIN, SpvExecutionModeLocalSize, ULP_GROUP, 1, 1);
   if (is_precise)
      PUT(m, SpvOpExecutionMode, MAIN, SpvExecutionModeSignedZeroInfNanPreserve, 32);
   if (is_precise && has_halves)
      PUT(m, SpvOpExecutionMode, MAIN, SpvExecutionModeSignedZeroInfNanPreserve, 16);
   PUT(m, SpvOpDecorate, GID, SpvDecorationBuiltIn, SpvBuiltInGlobalInvocationId);
   PUT(m, SpvOpDecorate, ARRAY, SpvDecorationArrayStride, 4);
   PUT(m, SpvOpDecorate, BLOCK, SpvDecorationBlock);
   PUT(m, SpvOpMemberDecorate, BLOCK, 0, SpvDecorationOffset, 0);
   for (uint32_t i = 0; i < 2; i++) {
      PUT(m, SpvOpDecorate, IN + i, SpvDecorationDescriptorSet, 0);
      PUT(m, SpvOpDecorate, IN + i, SpvDecorationBinding, i);
   }
}

#define TYPE(m, op, ...)                                                                           \
   type((m), (op), (uint32_t[]){0, __VA_ARGS__}, AGX_COUNT(((uint32_t[]){0, __VA_ARGS__})))

static uint32_t type(struct module *m, SpvOp op, uint32_t *words, size_t count)
{
   words[0] = m->next++;
   put(m, op, count, words);
   return words[0];
}

static void put_types(struct module *m, bool has_halves, unsigned width)
{
   m->uint = TYPE(m, SpvOpTypeInt, 32, 0);
   m->sint = TYPE(m, SpvOpTypeInt, 32, 1);
   m->single = TYPE(m, SpvOpTypeFloat, 32);
   m->boolean = m->next++;
   PUT(m, SpvOpTypeBool, m->boolean);
   PUT(m, SpvOpTypeRuntimeArray, ARRAY, m->uint);
   PUT(m, SpvOpTypeStruct, BLOCK, ARRAY);
   uint32_t block = TYPE(m, SpvOpTypePointer, SpvStorageClassStorageBuffer, BLOCK);
   m->ptr_word = TYPE(m, SpvOpTypePointer, SpvStorageClassStorageBuffer, m->uint);
   PUT(m, SpvOpVariable, block, IN, SpvStorageClassStorageBuffer);
   PUT(m, SpvOpVariable, block, OUT, SpvStorageClassStorageBuffer);
   m->zero = RESULT(m, SpvOpConstant, m->uint, 0);
   m->one = RESULT(m, SpvOpConstant, m->uint, 1);
   if (has_halves) {
      m->half = TYPE(m, SpvOpTypeFloat, 16);
      m->half2 = TYPE(m, SpvOpTypeVector, m->half, 2);
      m->half_zero = RESULT(m, SpvOpConstant, m->half, 0);
   }
   m->number = width == 16 ? m->half : m->single;
}

static uint32_t type_of(const struct module *m, char kind)
{
   return kind == 'f'   ? m->number
          : kind == 'h' ? m->half
          : kind == 's' ? m->single
          : kind == 'i' ? m->sint
          : kind == 'b' ? m->boolean
                        : m->uint;
}

/* The word as a value of a kind. */
static uint32_t from_word(struct module *m, char kind, uint32_t word)
{
   uint32_t to = type_of(m, kind);
   if (to == m->uint)
      return word;
   if (to != m->half)
      return RESULT(m, SpvOpBitcast, to, word);
   return RESULT(m, SpvOpCompositeExtract, to, RESULT(m, SpvOpBitcast, m->half2, word), 0);
}

static uint32_t to_word(struct module *m, char kind, uint32_t value)
{
   uint32_t from = type_of(m, kind);
   if (from == m->uint)
      return value;
   if (from == m->boolean)
      return RESULT(m, SpvOpSelect, m->uint, value, m->one, m->zero);
   if (from == m->half)
      value = RESULT(m, SpvOpCompositeConstruct, m->half2, value, m->half_zero);
   return RESULT(m, SpvOpBitcast, m->uint, value);
}

/* Types that stand among the globals, too. */
struct shapes {
   uint32_t vector[4], pair;
};

static uint32_t operate(struct module *m, const struct ulp_operation *operation,
                        const struct shapes *shapes, const uint32_t *args, uint32_t count)
{
   char kind = operation->kinds[0];
   bool is_vector = kind == '2' || kind == '3';
   uint32_t to = shapes->pair ? shapes->pair
                 : is_vector  ? shapes->vector[kind - '0']
                              : type_of(m, kind);
   uint32_t all[2 + ULP_MAX_OPERANDS] = {GLSL, operation->glsl};
   memcpy(all + 2, args, count * sizeof(*args));
   uint32_t value = operation->opcode ? result(m, (SpvOp)operation->opcode, to, count, args)
                                      : result(m, SpvOpExtInst, to, count + 2, all);
   if (shapes->pair)
      return RESULT(m, SpvOpCompositeExtract, type_of(m, kind), value, operation->member - 1u);
   return is_vector ? RESULT(m, SpvOpCompositeExtract, m->number, value, 0) : value;
}

static void put_main(struct module *m, const struct ulp_operation *operation,
                     const struct shapes *shapes, uint32_t uvec3, const uint32_t *index_of)
{
   uint32_t scalars[ULP_MAX_OPERANDS], args[ULP_MAX_OPERANDS], count = 0, at = 0;
   uint32_t n = ulp_operands(operation);
   uint32_t gid = RESULT(m, SpvOpLoad, uvec3, GID);
   uint32_t i = RESULT(m, SpvOpCompositeExtract, m->uint, gid, 0);
   uint32_t base = RESULT(m, SpvOpIMul, m->uint, i, index_of[n]);
   for (uint32_t k = 0; k < n; k++) {
      uint32_t index = RESULT(m, SpvOpIAdd, m->uint, base, index_of[k]);
      uint32_t pointer = RESULT(m, SpvOpAccessChain, m->ptr_word, IN, m->zero, index);
      scalars[k] = from_word(m, ulp_kind(operation, k), RESULT(m, SpvOpLoad, m->uint, pointer));
   }
   for (const char *kind = operation->kinds + 1; *kind; kind++) {
      uint32_t parts = *kind == '2' || *kind == '3' ? (uint32_t)(*kind - '0') : 1;
      args[count++] = parts == 1 ? scalars[at]
                                 : result(m, SpvOpCompositeConstruct, shapes->vector[parts], parts,
                                          scalars + at);
      at += parts;
   }
   char kind = operation->kinds[0];
   uint32_t value = operate(m, operation, shapes, args, count);
   value = to_word(m, kind == '2' || kind == '3' ? 'f' : kind, value);
   uint32_t pointer = RESULT(m, SpvOpAccessChain, m->ptr_word, OUT, m->zero, i);
   PUT(m, SpvOpStore, pointer, value);
}

uint32_t ulp_module(const struct ulp_operation *operation, unsigned width, bool is_precise,
                    uint32_t *words)
{
   struct module m = {.words = words, .next = FIRST};
   struct shapes shapes = {{0}, 0};
   bool has_halves = width == 16 || strchr(operation->kinds, 'h');
   uint32_t index_of[ULP_MAX_OPERANDS + 1];
   put_header(&m, is_precise, has_halves);
   put_types(&m, has_halves, width);
   uint32_t uvec3 = TYPE(&m, SpvOpTypeVector, m.uint, 3);
   uint32_t input = TYPE(&m, SpvOpTypePointer, SpvStorageClassInput, uvec3);
   PUT(&m, SpvOpVariable, input, GID, SpvStorageClassInput);
   for (uint32_t i = 0; i <= ULP_MAX_OPERANDS; i++)
      index_of[i] = i < 2 ? (i ? m.one : m.zero) : RESULT(&m, SpvOpConstant, m.uint, i);
   for (uint32_t i = 2; i < 4; i++)
      shapes.vector[i] = TYPE(&m, SpvOpTypeVector, m.number, i);
   if (operation->member) {
      bool is_frexp = operation->glsl == GLSLstd450FrexpStruct;
      shapes.pair = TYPE(&m, SpvOpTypeStruct, m.number, is_frexp ? m.sint : m.number);
   }
   uint32_t nothing = m.next++;
   PUT(&m, SpvOpTypeVoid, nothing);
   uint32_t function = TYPE(&m, SpvOpTypeFunction, nothing);
   PUT(&m, SpvOpFunction, nothing, MAIN, SpvFunctionControlMaskNone, function);
   PUT(&m, SpvOpLabel, m.next++);
   put_main(&m, operation, &shapes, uvec3, index_of);
   put(&m, SpvOpReturn, 0, NULL);
   put(&m, SpvOpFunctionEnd, 0, NULL);
   words[3] = m.next;
   return m.count;
}
