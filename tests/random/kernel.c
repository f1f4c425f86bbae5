/* SPDX-License-Identifier: MIT
 *
 * Makes a random kernel as SPIR-V from a seed, with the buffers that it takes: the module around
 * what expression.c and statement.c make. random_test.c and shrunk_test.c compile and run it.
 */
#include "maker.h"

#include <string.h>

#define MAXIMALLY_RECONVERGES                                                                      \
   6023 /* SpvExecutionModeMaximallyReconvergesKHR, which is newer than our headers */

const uint8_t random_widths[TYPES] = {1, 8, 16, 32, 64, 16, 32, 64};
static const uint32_t needs[TYPES] = {
   0, RANDOM_INT8, RANDOM_INT16, 0, RANDOM_INT64, RANDOM_FLOAT16, RANDOM_FLOAT32, RANDOM_FLOAT64};

const uint32_t random_shape_counts[SHAPES] = {1, 2, 4, 3},
               random_shape_slots[SHAPES] = {1, 2, 4, 4};

uint32_t random_below(struct maker *m, uint32_t bound)
{
   return (uint32_t)agx_test_random_below(&m->rng, bound);
}

bool random_has(const struct maker *m, enum type type)
{
   return (m->features & needs[type]) == needs[type];
}

bool random_is_float(enum type type)
{
   return type >= F16;
}

/* Whether an operation between lanes may stand here. */
bool random_lanes_meet(const struct maker *m)
{
   return m->features & RANDOM_SUBGROUP && !m->in_helper && (m->is_open || !m->switches);
}

/* ---- module ------------------------------------------------------------- */

static void make_types(struct maker *m)
{
   m->void_type = GLOBAL(SpvOpTypeVoid, 0);
   m->globals.count--; /* OpTypeVoid has no operand but its result */
   m->globals.words[m->globals.count - 2] = 2u << SpvWordCountShift | SpvOpTypeVoid;
   for (unsigned t = 0; t < TYPES; t++) {
      if (!random_has(m, (enum type)t) && t != F32)
         continue;
      m->type[t] = random_id(m);
      if (t == BOOL)
         PUT(&m->globals, SpvOpTypeBool, m->type[t]);
      else if (random_is_float((enum type)t))
         PUT(&m->globals, SpvOpTypeFloat, m->type[t], random_widths[t]);
      else
         PUT(&m->globals, SpvOpTypeInt, m->type[t], random_widths[t], 0);
   }
   m->uvec3 = GLOBAL(SpvOpTypeVector, m->type[U32], 3);
   m->uvec4 = GLOBAL(SpvOpTypeVector, m->type[U32], 4);
   m->vector[U32][3] = m->uvec3;
   m->vector[U32][4] = m->uvec4;
}

uint32_t random_variable(struct maker *m, uint32_t pointer, SpvStorageClass class)
{
   uint32_t id = random_id(m);
   PUT(&m->globals, SpvOpVariable, pointer, id, class);
   return id;
}

struct interface {
   uint32_t in_struct, out_struct, array;
   struct alias {
      uint32_t structure, array, variable, stride;
   } aliases[(U64 + 1) * SHAPES];
   unsigned alias_count;
};

uint32_t random_vector_type(struct maker *m, enum type type, uint32_t count)
{
   if (count == 1)
      return m->type[type];
   if (!m->vector[type][count])
      m->vector[type][count] = GLOBAL(SpvOpTypeVector, m->type[type], count);
   return m->vector[type][count];
}

/* The output once more, as arrays of all kinds of elements. */
static void make_aliases(struct maker *m, struct interface *i)
{
   const unsigned shapes = m->features & RANDOM_WIDE ? SHAPES : SHAPES - 1;
   for (unsigned t = U8; t <= U64; t++)
      for (unsigned shape = 0; random_has(m, (enum type)t) && shape < shapes; shape++) {
         struct alias *alias = &i->aliases[i->alias_count++];
         uint32_t element = random_vector_type(m, (enum type)t, random_shape_counts[shape]);
         alias->stride = random_widths[t] / 8u * random_shape_slots[shape];
         alias->array = GLOBAL(SpvOpTypeRuntimeArray, element);
         alias->structure = GLOBAL(SpvOpTypeStruct, alias->array);
         uint32_t whole = GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, alias->structure);
         m->alias_type[t][shape] = element;
         m->alias_ptr[t][shape] =
            element == m->type[U32]
               ? m->ptr_out
               : GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, element);
         m->alias_var[t][shape] = alias->variable =
            random_variable(m, whole, SpvStorageClassStorageBuffer);
      }
}

static struct interface make_interface(struct maker *m)
{
   struct interface i = {0};
   i.array = GLOBAL(SpvOpTypeRuntimeArray, m->type[U32]);
   i.in_struct = GLOBAL(SpvOpTypeStruct, i.array);
   i.out_struct = GLOBAL(SpvOpTypeStruct, i.array);
   uint32_t in = GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, i.in_struct);
   uint32_t out = GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, i.out_struct);
   m->ptr_in = m->ptr_out = GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, m->type[U32]);
   uint32_t words = GLOBAL(SpvOpTypeArray, m->type[U32], random_constant(m, U32, RANDOM_THREADS));
   uint32_t shared = GLOBAL(SpvOpTypePointer, SpvStorageClassWorkgroup, words);
   m->ptr_shared = GLOBAL(SpvOpTypePointer, SpvStorageClassWorkgroup, m->type[U32]);
   uint32_t input = GLOBAL(SpvOpTypePointer, SpvStorageClassInput, m->uvec3);
   m->private_array = GLOBAL(SpvOpTypeArray, m->type[U32], random_constant(m, U32, PRIVATE_WORDS));
   m->ptr_private = GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, m->type[U32]);
   m->in_var = random_variable(m, in, SpvStorageClassStorageBuffer);
   m->out_var = random_variable(m, out, SpvStorageClassStorageBuffer);
   m->shared_var = random_variable(m, shared, SpvStorageClassWorkgroup);
   m->gid_var = random_variable(m, input, SpvStorageClassInput);
   m->lid_var = random_variable(m, input, SpvStorageClassInput);
   if (m->features & RANDOM_MEMORY)
      make_aliases(m, &i);
   if (m->features & RANDOM_WIDE)
      random_wide_open(m);
   return i;
}

/* A function of two words that calls nothing. */
static void make_helper(struct maker *m)
{
   uint32_t type = GLOBAL(SpvOpTypeFunction, m->type[U32], m->type[U32], m->type[U32]);
   m->helper_function = random_id(m);
   m->to = &m->helper;
   m->in_helper = true;
   EMIT(SpvOpFunction, m->type[U32], m->helper_function, 0, type);
   for (unsigned i = 0; i < 2; i++) {
      m->params[i] = random_id(m);
      EMIT(SpvOpFunctionParameter, m->type[U32], m->params[i]);
   }
   uint32_t early = random_id(m), late = random_id(m);
   random_open_block(m, random_id(m));
   m->budget = 40;
   uint32_t condition = random_expression(m, BOOL, 2);
   EMIT(SpvOpSelectionMerge, late, 0);
   EMIT(SpvOpBranchConditional, condition, early, late);
   random_open_block(m, early);
   EMIT(SpvOpReturnValue, random_expression(m, U32, 2));
   random_open_block(m, late);
   EMIT(SpvOpReturnValue, random_expression(m, U32, 3));
   random_put(m->to, SpvOpFunctionEnd, 0, NULL);
   m->in_helper = false;
}

static void make_variables(struct maker *m)
{
   uint32_t array = GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, m->private_array);
   for (unsigned t = 0; t < TYPES; t++) {
      if (!random_has(m, (enum type)t))
         continue;
      uint32_t pointer =
         t == U32 ? m->ptr_private : GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, m->type[t]);
      for (unsigned i = 0; i < VARIABLES; i++) {
         m->variable[t][i] = random_id(m);
         EMIT(SpvOpVariable, pointer, m->variable[t][i], SpvStorageClassFunction);
      }
   }
   m->array_var = random_id(m);
   EMIT(SpvOpVariable, array, m->array_var, SpvStorageClassFunction);
   if (m->features & RANDOM_WIDE)
      random_wide_variables(m);
}

static uint32_t first_of(struct maker *m, uint32_t builtin)
{
   uint32_t all = RESULT(SpvOpLoad, m->uvec3, builtin);
   return RESULT(SpvOpCompositeExtract, m->type[U32], all, 0);
}

/* Everything has a value before anything is read. */
static void initialize(struct maker *m)
{
   for (unsigned t = 0; t < TYPES; t++)
      for (unsigned i = 0; random_has(m, (enum type)t) && i < VARIABLES; i++) {
         uint32_t value =
            t == BOOL ? random_constant(m, BOOL, i & 1)
            : random_is_float((enum type)t)
               ? random_constant(m, (enum type)t, random_any_float(m, (enum type)t))
               : random_convert_int(m, (enum type)t, U32,
                                    i ? random_input_word(m, i == 1 ? m->gid : m->lid) : m->gid);
         EMIT(SpvOpStore, m->variable[t][i], value);
      }
   for (unsigned i = 0; i < PRIVATE_WORDS; i++) {
      uint32_t pointer =
         RESULT(SpvOpAccessChain, m->ptr_private, m->array_var, random_constant(m, U32, i));
      EMIT(SpvOpStore, pointer, random_constant(m, U32, random_bits(m)));
   }
   if (m->features & RANDOM_WIDE)
      random_wide_initialize(m);
   for (unsigned i = 0; i < RANDOM_OUT_WORDS; i++)
      random_output(m, i, random_constant(m, U32, i));
}

static void make_main(struct maker *m, uint32_t function)
{
   uint32_t type = GLOBAL(SpvOpTypeFunction, m->void_type);
   m->to = &m->main;
   EMIT(SpvOpFunction, m->void_type, function, 0, type);
   random_open_block(m, random_id(m));
   make_variables(m);
   m->gid = first_of(m, m->gid_var);
   m->lid = first_of(m, m->lid_var);
   initialize(m);
   unsigned parts = 1 + random_below(m, 3);
   for (unsigned i = 0; i < parts; i++) {
      m->budget = 60 + random_below(m, 100);
      random_statements(m, 2 + random_below(m, 6));
      m->budget = 10;
      if (m->features & RANDOM_SHARED)
         random_exchange(m);
   }
   if (m->features & RANDOM_WIDE) {
      m->budget = 40;
      m->may_return = true;
      random_statements(m, 2 + random_below(m, 4));
   }
   for (unsigned t = 0, slot = RANDOM_OUT_WORDS - 6; t < TYPES; t++) {
      uint32_t sum = 0;
      for (unsigned i = 0; random_has(m, (enum type)t) && i < VARIABLES; i++) {
         uint32_t value = RESULT(SpvOpLoad, m->type[t], m->variable[t][i]);
         uint32_t word = random_word_of(m, (enum type)t, value);
         sum = sum ? RESULT(SpvOpIAdd, m->type[U32],
                            RESULT(SpvOpIMul, m->type[U32], sum, random_constant(m, U32, 31)), word)
                   : word;
      }
      if (sum)
         random_output(m, slot < RANDOM_OUT_WORDS ? slot++ : RANDOM_OUT_WORDS - 1, sum);
   }
   random_put(m->to, SpvOpReturn, 0, NULL);
   random_put(m->to, SpvOpFunctionEnd, 0, NULL);
}

static void put_header(struct maker *m, struct section *to, uint32_t function)
{
   static const struct {
      uint32_t feature;
      SpvCapability capability;
   } capabilities[] = {
      {0, SpvCapabilityShader},
      {RANDOM_INT8, SpvCapabilityInt8},
      {RANDOM_INT16, SpvCapabilityInt16},
      {RANDOM_INT64, SpvCapabilityInt64},
      {RANDOM_FLOAT16, SpvCapabilityFloat16},
      {RANDOM_FLOAT64, SpvCapabilityFloat64},
      {RANDOM_ZEROS | RANDOM_FLOAT16, SpvCapabilitySignedZeroInfNanPreserve},
      {RANDOM_ZEROS | RANDOM_FLOAT32, SpvCapabilitySignedZeroInfNanPreserve},
      {RANDOM_ZEROS | RANDOM_FLOAT64, SpvCapabilitySignedZeroInfNanPreserve},
      {RANDOM_MEMORY | RANDOM_INT8, SpvCapabilityStorageBuffer8BitAccess},
      {RANDOM_MEMORY | RANDOM_INT16, SpvCapabilityStorageBuffer16BitAccess},
      {RANDOM_SUBGROUP, SpvCapabilityGroupNonUniform},
      {RANDOM_SUBGROUP, SpvCapabilityGroupNonUniformBallot},
      {RANDOM_SUBGROUP, SpvCapabilityGroupNonUniformShuffle},
      {RANDOM_SUBGROUP, SpvCapabilityGroupNonUniformArithmetic},
      {RANDOM_SUBGROUP | RANDOM_WIDE, SpvCapabilityGroupNonUniformVote},
      {RANDOM_SUBGROUP | RANDOM_WIDE, SpvCapabilityGroupNonUniformShuffleRelative},
      {RANDOM_SUBGROUP | RANDOM_WIDE, SpvCapabilityGroupNonUniformClustered},
      {RANDOM_SUBGROUP | RANDOM_WIDE, SpvCapabilityGroupNonUniformQuad},
   };
   static const char set[16] = "GLSL.std.450", name[8] = "main";
   static const _Alignas(4) char extension[24] = "SPV_KHR_float_controls";
   uint32_t words[12] = {m->glsl};
   for (size_t i = 0; i < AGX_COUNT(capabilities); i++)
      if ((m->features & capabilities[i].feature) == capabilities[i].feature)
         PUT(to, SpvOpCapability, capabilities[i].capability);
   random_put(to, SpvOpExtension, 6, (const uint32_t *)(const void *)extension);
   memcpy(words + 1, set, sizeof(set));
   if ((m->features & (RANDOM_MEMORY | RANDOM_INT8)) == (RANDOM_MEMORY | RANDOM_INT8)) {
      static const char storage[24] = "SPV_KHR_8bit_storage";
      uint32_t name_words[6];
      memcpy(name_words, storage, sizeof(storage));
      random_put(to, SpvOpExtension, 6, name_words);
   }
   if (m->features & RANDOM_SUBGROUP) {
      static const char meeting[32] = "SPV_KHR_maximal_reconvergence";
      uint32_t name_words[8];
      memcpy(name_words, meeting, sizeof(meeting));
      random_put(to, SpvOpExtension, 8, name_words);
   }
   random_put(to, SpvOpExtInstImport, 5, words);
   PUT(to, SpvOpMemoryModel, SpvAddressingModelLogical, SpvMemoryModelGLSL450);
   words[0] = SpvExecutionModelGLCompute;
   words[1] = function;
   memcpy(words + 2, name, sizeof(name));
   words[4] = m->gid_var;
   words[5] = m->lid_var;
   random_put(to, SpvOpEntryPoint, 6, words);
   PUT(to, SpvOpExecutionMode, function, SpvExecutionModeLocalSize, RANDOM_THREADS, 1, 1);
   if (m->features & RANDOM_SUBGROUP)
      PUT(to, SpvOpExecutionMode, function, MAXIMALLY_RECONVERGES);
   for (enum type type = F16; type <= F64; type++)
      if (random_has(m, type) && m->features & RANDOM_ZEROS)
         PUT(to, SpvOpExecutionMode, function, SpvExecutionModeSignedZeroInfNanPreserve,
             random_widths[type]);
}

static void put_decorations(const struct maker *m, struct section *to, const struct interface *i)
{
   const uint32_t structs[] = {i->in_struct, i->out_struct}, vars[] = {m->in_var, m->out_var};
   PUT(to, SpvOpDecorate, i->array, SpvDecorationArrayStride, 4);
   for (unsigned k = 0; k < 2; k++) {
      PUT(to, SpvOpDecorate, structs[k], SpvDecorationBlock);
      PUT(to, SpvOpMemberDecorate, structs[k], 0, SpvDecorationOffset, 0);
      PUT(to, SpvOpDecorate, vars[k], SpvDecorationDescriptorSet, 0);
      PUT(to, SpvOpDecorate, vars[k], SpvDecorationBinding, k);
   }
   for (unsigned k = 0; k < i->alias_count; k++) {
      const struct alias *alias = &i->aliases[k];
      PUT(to, SpvOpDecorate, alias->array, SpvDecorationArrayStride, alias->stride);
      PUT(to, SpvOpDecorate, alias->structure, SpvDecorationBlock);
      PUT(to, SpvOpMemberDecorate, alias->structure, 0, SpvDecorationOffset, 0);
      PUT(to, SpvOpDecorate, alias->variable, SpvDecorationDescriptorSet, 0);
      PUT(to, SpvOpDecorate, alias->variable, SpvDecorationBinding, 1);
      PUT(to, SpvOpDecorate, alias->variable, SpvDecorationAliased);
   }
   if (i->alias_count)
      PUT(to, SpvOpDecorate, m->out_var, SpvDecorationAliased);
   PUT(to, SpvOpMemberDecorate, i->in_struct, 0, SpvDecorationNonWritable);
   PUT(to, SpvOpDecorate, m->gid_var, SpvDecorationBuiltIn, SpvBuiltInGlobalInvocationId);
   PUT(to, SpvOpDecorate, m->lid_var, SpvDecorationBuiltIn, SpvBuiltInLocalInvocationId);
   if (m->features & RANDOM_WIDE)
      random_wide_decorate(m, to);
   for (uint32_t k = 0; k < m->decorated_count; k++)
      PUT(to, SpvOpDecorate, m->decorated[k], SpvDecorationNoContraction);
}

static void append(struct random_kernel *kernel, const struct section *section)
{
   assert_true(kernel->count + section->count <= RANDOM_MAX_WORDS);
   memcpy(&kernel->words[kernel->count], section->words, section->count * 4);
   kernel->count += section->count;
}

void random_kernel_make(struct random_kernel *kernel, uint64_t seed, uint32_t features)
{
   static struct maker makers;
   static struct section head;
   struct maker *m = &makers;
   *m = (struct maker){.rng = {seed}, .features = features, .next_id = 1};
   head.count = 0;
   kernel->is_open = m->is_open = features & RANDOM_SUBGROUP && random_below(m, 8) == 0;
   m->glsl = random_id(m);
   uint32_t function = random_id(m);
   make_types(m);
   struct interface interface = make_interface(m);
   make_helper(m);
   if (features & RANDOM_WIDE)
      random_wide_helper(m);
   make_main(m, function);
   put_header(m, &head, function);
   put_decorations(m, &head, &interface);
   kernel->binding_count = features & RANDOM_WIDE ? 3 : 2;
   kernel->words[0] = SpvMagicNumber;
   kernel->words[1] = 0x00010300;
   kernel->words[2] = 0;
   kernel->words[3] = m->next_id;
   kernel->words[4] = 0;
   kernel->count = 5;
   append(kernel, &head);
   append(kernel, &m->globals);
   append(kernel, &m->helper);
   append(kernel, &m->main);
}
