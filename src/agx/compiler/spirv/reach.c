/* SPDX-License-Identifier: MIT
 *
 * Which entry point is compiled, and what it reaches: functions by calls, and the types, constants
 * and variables that these name. Modules often hold other stages beside it; what only those reach
 * is skipped by the walk (module.c), whatever it is. This first walk trusts no word, and refuses
 * nothing but entry points: where it can't go on, the second walk says why.
 */
#include "agx/compiler/spirv/module_impl.h"
#include "agx/compiler/spirv/vertex_impl.h"

struct search {
   struct agxc_spv *s;
   uint32_t *words; /* by id: of its type, constant, variable or function, or 0 */
   uint32_t *stack, depth;
   uint32_t entry_points;  /* of the wanted name, in the stage that goes first */
   bool has_shared_blocks; /* workgroup variables may alias */
};

/* An instruction as it stands, of any opcode. */
struct raw {
   const uint32_t *words;
   uint32_t at, opcode, length;
};

static bool next_raw(const struct agxc_spv *s, uint32_t at, struct raw *out)
{
   if (at >= s->word_count)
      return false;
   *out = (struct raw){s->words + at, at, s->words[at] & 0xffff, s->words[at] >> 16};
   return out->length > 0 && out->length <= s->word_count - at;
}

static bool begins_with(const char *text, const char *start)
{
   return strncmp(text, start, strlen(start)) == 0;
}

/* Where the result of an instruction outside of functions stands, or 0. Of opcodes that the front
 * end does not take, the name tells. */
static uint32_t result_word(const struct raw *in)
{
   const struct agxc_spv_op *row = agxc_spv_op_find(in->opcode);
   const char *name = agxc_spv_name(AGXC_SPV_NAME_OPCODE, in->opcode);
   uint32_t word = 0;
   if (row)
      word = row->flags & AGXC_SPV_HAS_RESULT ? 1 + !!(row->flags & AGXC_SPV_HAS_TYPE) : 0;
   else if (begins_with(name, "Type"))
      word = 1;
   else if (begins_with(name, "Constant") || begins_with(name, "SpecConstant") ||
            begins_with(name, "Untyped"))
      word = 2;
   return word < in->length ? word : 0;
}

/* ---- the entry point --------------------------------------------------- */

static void read_entry_point(struct search *w, const struct agxc_spv_instr *in)
{
   struct agxc_spv *s = w->s;
   const size_t room_B = 4 * (size_t)in->length + 1;
   char *name = agx_arena_alloc(s->arena, room_B);
   const char *wanted = s->shader->options->entry;
   if (!agxc_spv_string(in, 2, name, room_B))
      agxc_spv_invalid(s, "string without end");
   uint32_t model = agxc_spv_operand(s, in, 0);
   bool is_vertex = model == SpvExecutionModelVertex;
   s->entry_points++;
   if ((model != SpvExecutionModelGLCompute && !is_vertex) || (wanted && strcmp(wanted, name) != 0))
      return;
   if (w->entry_points && is_vertex && !s->shader->is_vertex)
      return; /* a compute entry point goes before */
   if (w->entry_points++ > 0 && is_vertex == s->shader->is_vertex)
      agxc_spv_invalid(
         s, wanted ? "second entry point %s" : "several entry points of that stage: name one",
         name);
   s->shader->is_vertex = is_vertex;
   s->vertex = is_vertex ? AGX_ARENA_NEW(s->arena, struct agxc_spv_vertex) : NULL;
   s->entry_function = agxc_spv_operand(s, in, 1);
   s->entry_word = in->at;
   agxc_spv_id(s, s->entry_function);
   s->shader->long_name = agx_program_cut_name(name, s->shader->name) ? NULL : name;
}

/* ---- what instructions name -------------------------------------------- */

static void mark(struct search *w, uint32_t id)
{
   struct agxc_spv *s = w->s;
   if (id >= s->bound || !w->words[id] || s->reached[id])
      return;
   s->reached[id] = true;
   w->stack[w->depth++] = id;
}

static void mark_words(struct search *w, const struct raw *in, uint32_t first, uint32_t end)
{
   for (uint32_t i = first; i < AGX_MIN(end, in->length); i++)
      mark(w, in->words[i]);
}

enum operands {
   IDS,      /* all others are ids */
   LITERAL,  /* one literal, then ids */
   LITERALS, /* none of them is */
   ACCESS,   /* memory operands */
};

/* Instructions of functions whose operands aren't all ids: how many behind type and result are, and
 * what comes then. */
static const struct {
   uint16_t first, last;
   uint8_t ids, rest;
} shapes[] = {
   {SpvOpExtInst, SpvOpExtInst, 1, LITERAL},
   {SpvOpVariable, SpvOpVariable, 0, LITERAL},
   {SpvOpLoad, SpvOpLoad, 1, ACCESS},
   {SpvOpStore, SpvOpStore, 2, ACCESS},
   {SpvOpCopyMemory, SpvOpCopyMemory, 2, ACCESS},
   {SpvOpArrayLength, SpvOpArrayLength, 1, LITERALS},
   {SpvOpVectorShuffle, SpvOpVectorShuffle, 2, LITERALS},
   {SpvOpCompositeExtract, SpvOpCompositeExtract, 1, LITERALS},
   {SpvOpCompositeInsert, SpvOpCompositeInsert, 2, LITERALS},
   {SpvOpImageSampleImplicitLod, SpvOpImageSampleExplicitLod, 2, LITERAL},
   {SpvOpImageSampleDrefImplicitLod, SpvOpImageSampleDrefExplicitLod, 3, LITERAL},
   {SpvOpImageSampleProjImplicitLod, SpvOpImageSampleProjExplicitLod, 2, LITERAL},
   {SpvOpImageSampleProjDrefImplicitLod, SpvOpImageSampleProjDrefExplicitLod, 3, LITERAL},
   {SpvOpImageFetch, SpvOpImageFetch, 2, LITERAL},
   {SpvOpImageGather, SpvOpImageDrefGather, 3, LITERAL},
   {SpvOpImageRead, SpvOpImageRead, 2, LITERAL},
   {SpvOpImageWrite, SpvOpImageWrite, 3, LITERAL},
   {SpvOpLoopMerge, SpvOpSelectionMerge, 0, LITERALS},
   {SpvOpBranchConditional, SpvOpBranchConditional, 1, LITERALS},
   {SpvOpSwitch, SpvOpSwitch, 1, LITERALS},
   {SpvOpGroupNonUniformBallotBitCount, SpvOpGroupNonUniformBallotBitCount, 1, LITERAL},
   {SpvOpGroupNonUniformIAdd, SpvOpGroupNonUniformLogicalXor, 1, LITERAL},
   {SpvOpSDot, SpvOpSUDot, 2, LITERALS},
   {SpvOpSDotAccSat, SpvOpSUDotAccSat, 3, LITERALS},
   {SpvOpCooperativeMatrixLoadKHR, SpvOpCooperativeMatrixLoadKHR, 3, ACCESS},
   {SpvOpCooperativeMatrixStoreKHR, SpvOpCooperativeMatrixStoreKHR, 4, ACCESS},
   {SpvOpCooperativeMatrixMulAddKHR, SpvOpCooperativeMatrixMulAddKHR, 3, LITERALS},
};

/* Scopes are ids, an alignment is none; there may be operands for two pointers. */
static void mark_access(struct search *w, const struct raw *in, uint32_t i)
{
   while (i < in->length) {
      uint32_t mask = in->words[i++];
      i += !!(mask & SpvMemoryAccessAlignedMask);
      uint32_t scopes = !!(mask & SpvMemoryAccessMakePointerAvailableMask) +
                        !!(mask & SpvMemoryAccessMakePointerVisibleMask);
      mark_words(w, in, i, i + scopes);
      i += scopes;
   }
}

/* The operands from word `first` on of an instruction that `opcode` shapes. */
static void mark_operands(struct search *w, const struct raw *in, uint32_t opcode, uint32_t first)
{
   uint32_t ids = in->length;
   enum operands rest = IDS;
   for (size_t i = 0; i < AGX_COUNT(shapes); i++)
      if (opcode >= shapes[i].first && opcode <= shapes[i].last) {
         ids = first + shapes[i].ids;
         rest = shapes[i].rest;
      }
   mark_words(w, in, first, ids);
   if (rest == LITERAL)
      mark_words(w, in, ids + 1, in->length);
   else if (rest == ACCESS)
      mark_access(w, in, ids);
}

static uint32_t first_operand(const struct agxc_spv_op *row)
{
   return 1 + !!(row->flags & AGXC_SPV_HAS_TYPE) + !!(row->flags & AGXC_SPV_HAS_RESULT);
}

static void mark_body(struct search *w, uint32_t at)
{
   struct raw in;
   for (; next_raw(w->s, at, &in) && in.opcode != SpvOpFunctionEnd; at += in.length) {
      const struct agxc_spv_op *row = agxc_spv_op_find(in.opcode);
      if (!row || row->flags & AGXC_SPV_NO_EFFECT)
         continue;
      if (row->flags & AGXC_SPV_HAS_TYPE)
         mark_words(w, &in, 1, 2);
      mark_operands(w, &in, in.opcode, first_operand(row));
   }
}

/* What a type, constant, variable or function names. */
static void mark_definition(struct search *w, uint32_t at)
{
   struct raw in;
   if (!next_raw(w->s, at, &in) || !agxc_spv_op_find(in.opcode))
      return;
   if (agxc_spv_op_find(in.opcode)->flags & AGXC_SPV_HAS_TYPE)
      mark_words(w, &in, 1, 2);
   switch (in.opcode) {
   case SpvOpFunction:
      mark_words(w, &in, 4, 5);
      mark_body(w, at + in.length);
      break;
   case SpvOpTypeVector:
   case SpvOpTypeMatrix:
   case SpvOpTypeImage:
      mark_words(w, &in, 2, 3);
      break;
   case SpvOpTypePointer:
      mark_words(w, &in, 3, 4);
      break;
   case SpvOpTypeArray:
   case SpvOpTypeRuntimeArray:
   case SpvOpTypeStruct:
   case SpvOpTypeFunction:
   case SpvOpTypeSampledImage:
   case SpvOpTypeCooperativeMatrixKHR:
      mark_words(w, &in, 2, in.length);
      break;
   case SpvOpConstantComposite:
   case SpvOpSpecConstantComposite:
   case SpvOpConstantCompositeReplicateEXT:
   case SpvOpSpecConstantCompositeReplicateEXT:
      mark_words(w, &in, 3, in.length);
      break;
   case SpvOpSpecConstantOp:
      if (in.length > 3)
         mark_operands(w, &in, in.words[3], 4);
      break;
   case SpvOpVariable:
      mark_words(w, &in, 4, 5);
      break;
   default:
      break;
   }
}

/* ---- the search -------------------------------------------------------- */

/* The word behind a function's end; the module's last one where it has none. */
static uint32_t behind_function(const struct agxc_spv *s, uint32_t at)
{
   struct raw in;
   for (; next_raw(s, at, &in); at += in.length)
      if (in.opcode == SpvOpFunctionEnd)
         return at + in.length;
   return s->word_count;
}

static void note_definitions(struct search *w)
{
   struct agxc_spv *s = w->s;
   struct raw in;
   for (uint32_t at = AGXC_SPV_HEADER_WORDS; next_raw(s, at, &in);) {
      uint32_t word = result_word(&in), id = word ? in.words[word] : 0;
      if (id && id < s->bound && !w->words[id])
         w->words[id] = at;
      w->has_shared_blocks |= in.opcode == SpvOpCapability && in.length > 1 &&
                              in.words[1] == SpvCapabilityWorkgroupMemoryExplicitLayoutKHR;
      if (in.opcode == SpvOpEntryPoint) {
         struct agxc_spv_instr entry = agxc_spv_instr_at(s, at);
         read_entry_point(w, &entry);
      }
      at = in.opcode == SpvOpFunction ? behind_function(s, at) : at + in.length;
   }
}

/* Callers may give a value for any specialization constant, unless its type is unknown. */
static bool is_specializable(const struct search *w, const struct raw *in)
{
   struct raw type;
   if ((in->opcode != SpvOpSpecConstantTrue && in->opcode != SpvOpSpecConstantFalse &&
        in->opcode != SpvOpSpecConstant) ||
       in->length < 3 || in->words[1] >= w->s->bound || !w->words[in->words[1]] ||
       !next_raw(w->s, w->words[in->words[1]], &type))
      return false;
   return type.opcode != SpvOpTypeFloat || (type.length == 3 && type.words[2] <= 32);
}

/* Workgroup memory that begins with 0: where blocks alias, others see the zeros of one that no
 * function names. */
static bool is_zeroed_block(const struct search *w, const struct raw *in)
{
   struct raw entry;
   if (!w->has_shared_blocks || in->opcode != SpvOpVariable || in->length <= 4 ||
       in->words[3] != SpvStorageClassWorkgroup || !next_raw(w->s, w->s->entry_word, &entry))
      return false;
   for (uint32_t i = 3; i < entry.length; i++) /* also words of the name, which does no harm */
      if (entry.words[i] == in->words[2])
         return true;
   return false;
}

/* What counts although no function names it. */
static void mark_roots(struct search *w)
{
   struct agxc_spv *s = w->s;
   struct raw in;
   for (uint32_t at = AGXC_SPV_HEADER_WORDS; next_raw(s, at, &in);) {
      bool is_ours = in.length > 1 && in.words[1] == s->entry_function;
      bool is_size = in.opcode == SpvOpDecorate && in.length > 3 &&
                     in.words[2] == SpvDecorationBuiltIn && in.words[3] == SpvBuiltInWorkgroupSize;
      bool is_shared = in.opcode == SpvOpVariable && in.length > 3 &&
                       in.words[3] == SpvStorageClassWorkgroup &&
                       s->shader->options->has_dynamic_shared; /* the module's last one counts */
      if (in.opcode == SpvOpExecutionModeId && is_ours)
         mark_words(w, &in, 3, in.length);
      else if (at == s->entry_word && s->shader->is_vertex)
         mark_words(w, &in, 3, in.length); /* also of the name: any attribute and output counts */
      else if (is_size)
         mark(w, in.words[1]);
      else if (is_shared || is_specializable(w, &in) || is_zeroed_block(w, &in))
         mark(w, in.words[2]);
      at = in.opcode == SpvOpFunction ? behind_function(s, at) : at + in.length;
   }
}

/* Of decorations of groups, whose targets are what counts. */
static void mark_groups(struct search *w)
{
   struct agxc_spv *s = w->s;
   struct raw in;
   for (uint32_t at = AGXC_SPV_HEADER_WORDS; next_raw(s, at, &in); at += in.length)
      if (in.opcode == SpvOpGroupDecorate || in.opcode == SpvOpGroupMemberDecorate)
         for (uint32_t i = 2; i < in.length && in.words[1] < s->bound; i++)
            s->reached[in.words[1]] |= in.words[i] < s->bound && s->reached[in.words[i]];
}

void agxc_spv_find_reached(struct agxc_spv *s)
{
   struct search w = {.s = s};
   w.words = AGX_ARENA_ARRAY(s->arena, uint32_t, s->bound);
   w.stack = AGX_ARENA_ARRAY(s->arena, uint32_t, s->bound);
   s->reached = AGX_ARENA_ARRAY(s->arena, bool, s->bound);
   note_definitions(&w);
   mark(&w, s->entry_function);
   mark_roots(&w);
   while (w.depth)
      mark_definition(&w, w.words[w.stack[--w.depth]]);
   mark_groups(&w);
}

uint32_t agxc_spv_behind_unreached(const struct agxc_spv *s, uint32_t at)
{
   struct raw in;
   if (!next_raw(s, at, &in))
      return at;
   uint32_t word = result_word(&in);
   bool is_known = agxc_spv_op_find(in.opcode);
   if (!word || in.words[word] >= s->bound || s->reached[in.words[word]])
      return at;
   if (in.opcode == SpvOpFunction)
      return behind_function(s, at);
   return is_known ? at : at + in.length;
}
