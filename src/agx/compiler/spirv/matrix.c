/* SPDX-License-Identifier: MIT
 *
 * Cooperative matrices of a subgroup (SPV_KHR_cooperative_matrix), in 8x8 blocks as the matrix
 * instruction takes them. A lane holds two elements of each block; a matrix is those of all
 * its blocks, row of blocks by row of blocks: scalar (rows of blocks x, columns of blocks y,
 * element e) is number (x * columns / 8 + y) * 2 + e.
 *
 * Which row and column of the matrix an element stands for is ours to choose, as long as all
 * matrices agree: where a dimension has 16 or more, two blocks (h = 0, 1) share 16 of it with
 * index j of block h standing for 2j + h. Then a lane's elements of two blocks are four that
 * follow each other in a row of memory, or two in a column, and one access moves them.
 * Products sum over that dimension, so its order does not matter.
 *
 * Components are halves and singles; products of halves are summed in either, those of singles in
 * singles. Or they are integers, whose bytes are multiplied and summed by way of halves and singles
 * that hold them exactly (decision 38). Sizes are multiples of 8 up to 64, the scope is Subgroup,
 * and the workgroup must consist of whole subgroups; that all invocations reach each operation is
 * the module's duty, as the extension says.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/memory_impl.h"

#define BLOCK            8u
#define ROW_MAJOR        0
#define COLUMN_MAJOR     1
#define MAX_SMALL_STRIDE (1 << 20) /* elements: what 32 bits count without wrapping */

static void check_lanes(struct agxc_spv *s)
{
   const uint32_t *size = s->shader->local_size;
   if (s->shader->has_dynamic_local_size)
      agxc_spv_missing(
         s, "cooperative matrix in workgroups of dynamic size is not supported: fix the size");
   if (size[0] * size[1] * size[2] % AGX_SIMD_LANES)
      agxc_spv_missing(s,
                       "cooperative matrix in workgroups of %ux%ux%u is not supported: make them "
                       "whole subgroups of %u",
                       size[0], size[1], size[2], AGX_SIMD_LANES);
}

static struct agxc_spv_type *matrix_type(struct agxc_spv *s, uint32_t id)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, id);
   if (type->kind != AGXC_SPV_COOPERATIVE)
      agxc_spv_invalid(s, "type %u is no cooperative matrix", id);
   return type;
}

static uint32_t number_of(const struct agxc_spv_type *type, uint32_t x, uint32_t y, uint32_t e)
{
   return (x * (type->columns / BLOCK) + y) * 2 + e;
}

/* ---- positions --------------------------------------------------------- */

/* Along one dimension: position = lane's part + the block's. */
static bool is_shared(uint32_t size)
{
   return size % (2 * BLOCK) == 0;
}

/* What block x adds, for element j = 0 of it in a lane, plus e. */
static uint32_t block_position(uint32_t size, uint32_t x, uint32_t e)
{
   return is_shared(size) ? x / 2 * 2 * BLOCK + 2 * e + x % 2 : x * BLOCK + e;
}

/* (value >> right) & mask, or << -right. */
static struct agxc_ref bits_of(struct agxc_spv *s, struct agxc_ref value, int right, uint32_t mask)
{
   if (right > 0)
      value = agxc_spv_build2(s, AGXC_OP_USHR, value, agxc_spv_u32((uint32_t)right));
   if (right < 0)
      value = agxc_spv_build2(s, AGXC_OP_ISHL, value, agxc_spv_u32((uint32_t)-right));
   return agxc_spv_build2(s, AGXC_OP_IAND, value, agxc_spv_u32(mask));
}

/* The row of a block that a lane holds elements of: bits 4, 2 and 1 of its number.
 * Source: docs/hw/machine.md, section 12. */
static struct agxc_ref lane_row(struct agxc_spv *s, struct agxc_ref lane, uint32_t size)
{
   int up = is_shared(size);
   struct agxc_ref high = bits_of(s, lane, 2 - up, 4u << up);
   return agxc_spv_build2(s, AGXC_OP_IOR, high, bits_of(s, lane, 1 - up, 3u << up));
}

/* The column of the first of its two elements: bits 3 and 0. */
static struct agxc_ref lane_column(struct agxc_spv *s, struct agxc_ref lane, uint32_t size)
{
   int up = is_shared(size);
   struct agxc_ref high = bits_of(s, lane, 1 - up, 4u << up);
   return agxc_spv_build2(s, AGXC_OP_IOR, high, bits_of(s, lane, -1 - up, 2u << up));
}

/* ---- memory ------------------------------------------------------------ */

/* A matrix in memory: elements along the near dimension follow each other. */
struct grid {
   const struct agxc_spv_type *type;
   struct agxc_spv_pointer at; /* the lane's own first element */
   struct agxc_ref stride_B;   /* along the far dimension */
   bool by_rows, is_volatile;
};

static struct agxc_ref times(struct agxc_spv *s, struct agxc_ref value, uint32_t factor)
{
   if (factor && (factor & (factor - 1)) == 0)
      return agxc_spv_build2(s, AGXC_OP_ISHL, value, agxc_spv_u32((uint32_t)__builtin_ctz(factor)));
   return agxc_spv_build2(s, AGXC_OP_IMUL, value, agxc_imm(factor, value.bits));
}

static void advance(struct agxc_spv *s, struct agxc_spv_pointer *p, struct agxc_ref by_B)
{
   if (by_B.kind == AGXC_IMM)
      agxc_spv_add_constant(s, p, by_B.imm);
   else
      agxc_spv_add_bytes(s, p, by_B);
}

/* The pointer's own elements may be vectors, and strides count those. */
static struct agxc_ref stride_bytes(struct agxc_spv *s, const struct agxc_spv_pointer *p,
                                    struct agxc_ref stride)
{
   const struct agxc_spv_type *component = agxc_spv_component(p->type);
   if (!component || component->kind == AGXC_SPV_BOOL || p->type->kind == AGXC_SPV_COOPERATIVE ||
       p->type->scalars == 3)
      agxc_spv_missing(s,
                       "cooperative matrix at a pointer to type %u is not supported: point to "
                       "numbers or vectors of them",
                       p->type->id);
   bool is_small = stride.kind == AGXC_IMM && stride.imm < MAX_SMALL_STRIDE;
   unsigned bits = p->is_address && !is_small ? 64 : 32;
   return times(s, agxc_spv_resize(s, stride, bits, false), p->type->packed_B);
}

/* The optional memory operands at i: what others write or read meanwhile counts as volatile. */
static bool is_volatile(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i)
{
   const uint32_t shares = SpvMemoryAccessVolatileMask | SpvMemoryAccessMakePointerAvailableMask |
                           SpvMemoryAccessMakePointerVisibleMask;
   const uint32_t known = shares | SpvMemoryAccessAlignedMask | SpvMemoryAccessNontemporalMask |
                          SpvMemoryAccessNonPrivatePointerMask;
   uint32_t mask = agxc_spv_operand_count(in) > i ? agxc_spv_operand(s, in, i) : 0;
   if (mask & ~known)
      agxc_spv_missing(s, "memory access 0x%x is not supported: leave out what is new in it", mask);
   return mask & shares;
}

/* Operands from i on: pointer, [object,] layout, stride, memory access. */
static struct grid grid_at(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t layout_at,
                           const struct agxc_spv_type *type)
{
   struct grid g = {.type = type, .at = *agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 0))};
   uint32_t layout = agxc_spv_constant_u32(s, agxc_spv_operand(s, in, layout_at));
   check_lanes(s);
   if (layout != ROW_MAJOR && layout != COLUMN_MAJOR)
      agxc_spv_missing(
         s,
         "cooperative matrix layout %u is not supported: use RowMajorKHR (0) or ColumnMajorKHR (1)",
         layout);
   if (!agxc_spv_in_memory(&g.at))
      agxc_spv_missing(
         s,
         "cooperative matrix lies outside of buffers and workgroup memory: keep it in one of them");
   if (agxc_spv_operand_count(in) <= layout_at + 1)
      agxc_spv_invalid(s, "no stride");
   struct agxc_ref stride =
      agxc_spv_scalar(s, agxc_spv_operand(s, in, layout_at + 1), AGXC_SPV_INT);
   if (stride.bits != 32)
      agxc_spv_missing(s, "cooperative matrix stride of %u bits is not supported: use 32",
                       stride.bits);
   g.by_rows = layout == ROW_MAJOR;
   g.is_volatile = is_volatile(s, in, layout_at + 2);
   g.stride_B = stride_bytes(s, &g.at, stride);
   struct agxc_ref lane = agxc_build_sysval(&s->b, AGXC_SYSVAL_SUBGROUP_LANE);
   struct agxc_ref row = lane_row(s, lane, type->rows);
   struct agxc_ref column = lane_column(s, lane, type->columns);
   struct agxc_ref far = g.by_rows ? row : column, near = g.by_rows ? column : row;
   far = agxc_spv_resize(s, far, g.stride_B.bits, false);
   near = agxc_spv_resize(s, near, g.stride_B.bits, false);
   far = g.stride_B.kind == AGXC_IMM && (uint64_t)g.stride_B.imm <= UINT32_MAX
            ? times(s, far, (uint32_t)g.stride_B.imm)
            : agxc_spv_build2(s, AGXC_OP_IMUL, far, g.stride_B);
   advance(s, &g.at, agxc_spv_build2(s, AGXC_OP_IADD, far, times(s, near, type->elem->packed_B)));
   return g;
}

/* Elements that follow each other in memory, and their numbers in the matrix. */
struct run {
   uint32_t far, near; /* of the first, beyond the lane's own */
   uint32_t count, number[4];
};

typedef void (*run_fn)(struct agxc_spv *s, const struct grid *g, const struct agxc_spv_pointer *at,
                       const struct run *run, struct agxc_ref *refs);

/* One row of blocks: the lane's two elements of a block, of two blocks where they mix. */
static void add_row_run(const struct agxc_spv_type *type, uint32_t x, uint32_t y, struct run *run)
{
   uint32_t blocks = is_shared(type->columns) ? 2 : 1;
   run->far = block_position(type->rows, x, 0);
   run->near = block_position(type->columns, y, 0);
   for (uint32_t e = 0; e < 2; e++)
      for (uint32_t h = 0; h < blocks; h++)
         run->number[run->count++] = number_of(type, x, y + h, e);
}

/* One column of elements: one element, or one of each of two blocks. */
static void add_column_run(const struct agxc_spv_type *type, uint32_t x, uint32_t y, uint32_t e,
                           struct run *run)
{
   uint32_t blocks = is_shared(type->rows) ? 2 : 1;
   run->far = block_position(type->columns, y, e);
   run->near = block_position(type->rows, x, 0);
   for (uint32_t h = 0; h < blocks; h++)
      run->number[run->count++] = number_of(type, x + h, y, e);
}

static void do_run(struct agxc_spv *s, const struct grid *g, const struct run *run, run_fn act,
                   struct agxc_ref *refs)
{
   struct agxc_spv_pointer at = g->at;
   at.const_B += run->near * g->type->elem->packed_B;
   struct agxc_ref far_B = times(s, g->stride_B, run->far);
   if (run->far)
      advance(s, &at, far_B);
   act(s, g, &at, run, refs);
}

static void for_each_run(struct agxc_spv *s, const struct grid *g, run_fn act,
                         struct agxc_ref *refs)
{
   const struct agxc_spv_type *type = g->type;
   uint32_t rows = type->rows / BLOCK, columns = type->columns / BLOCK;
   uint32_t x_step = !g->by_rows && is_shared(type->rows) ? 2 : 1;
   uint32_t y_step = g->by_rows && is_shared(type->columns) ? 2 : 1;
   for (uint32_t x = 0; x < rows; x += x_step)
      for (uint32_t y = 0; y < columns; y += y_step)
         for (uint32_t e = 0; e < (g->by_rows ? 1u : 2u); e++) {
            struct run run = {0};
            if (g->by_rows)
               add_row_run(type, x, y, &run);
            else
               add_column_run(type, x, y, e, &run);
            do_run(s, g, &run, act, refs);
         }
}

static void load_one(struct agxc_spv *s, const struct grid *g, const struct agxc_spv_pointer *at,
                     const struct run *run, struct agxc_ref *refs)
{
   struct agxc_ref loaded[4];
   agxc_spv_load_vector(s, at, g->type->elem->bits, run->count, g->is_volatile, loaded);
   for (uint32_t i = 0; i < run->count; i++)
      refs[run->number[i]] = loaded[i];
}

static void store_one(struct agxc_spv *s, const struct grid *g, const struct agxc_spv_pointer *at,
                      const struct run *run, struct agxc_ref *refs)
{
   struct agxc_ref data[4];
   for (uint32_t i = 0; i < run->count; i++)
      data[i] = refs[run->number[i]];
   agxc_spv_store_vector(s, at, run->count, data, g->is_volatile);
}

void agxc_spv_op_cooperative_load(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_type *type = matrix_type(s, in->type_id);
   struct grid g = grid_at(s, in, 1, type);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for_each_run(s, &g, load_one, out);
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_cooperative_store(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type;
   struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 1), &type);
   if (type->kind != AGXC_SPV_COOPERATIVE)
      agxc_spv_invalid(s, "object of type %u", type->id);
   struct grid g = grid_at(s, in, 2, type);
   for_each_run(s, &g, store_one, refs);
}

/* ---- arithmetic -------------------------------------------------------- */

void agxc_spv_op_cooperative_length(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t count = matrix_type(s, agxc_spv_operand(s, in, 0))->count;
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT, agxc_spv_u32(count));
}

struct matrix {
   struct agxc_spv_type *type;
   const struct agxc_ref *refs;
};

/* A matrix operand of a use and size; columns 0: any. */
static struct matrix factor(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i,
                            uint32_t rows, uint32_t columns)
{
   struct matrix m;
   m.refs = agxc_spv_value(s, agxc_spv_operand(s, in, i), &m.type);
   if (m.type->kind != AGXC_SPV_COOPERATIVE || m.type->use != i || m.type->rows != rows ||
       (columns && m.type->columns != columns))
      agxc_spv_invalid(s, "operand %u of type %u", i, m.type->id);
   return m;
}

static struct agxc_ref pair_of(struct agxc_spv *s, const struct agxc_spv_type *type,
                               const struct agxc_ref *refs, uint32_t x, uint32_t y)
{
   return agxc_collect(&s->b, 2, &refs[number_of(type, x, y, 0)]);
}

/* d += a b, block by block; blocks of d change with every instruction, since each waits for
 * the one before it on the same block. */
static void multiply(struct agxc_spv *s, struct matrix a, struct matrix b,
                     const struct agxc_spv_type *type, struct agxc_ref *d)
{
   for (uint32_t k = 0; k < a.type->columns / BLOCK; k++)
      for (uint32_t x = 0; x < type->rows / BLOCK; x++)
         for (uint32_t y = 0; y < type->columns / BLOCK; y++) {
            struct agxc_ref left = pair_of(s, a.type, a.refs, x, k);
            struct agxc_ref right = pair_of(s, b.type, b.refs, k, y);
            struct agxc_ref sum =
               agxc_build_matrix_fma(&s->b, left, right, pair_of(s, type, d, x, y));
            agxc_split(&s->b, sum, &d[number_of(type, x, y, 0)]);
         }
}

/* Source: docs/hw/machine.md, section 12: halves may be summed in halves or singles, singles
 * in singles only. */
static void check_floats(struct agxc_spv *s, uint32_t a, uint32_t b, uint32_t d, uint32_t operands)
{
   if (operands)
      agxc_spv_invalid(s, "cooperative matrix operands 0x%x for floats", operands);
   if (a != b || a > d)
      agxc_spv_missing(s,
                       "cooperative matrix product of float%u and float%u in float%u is not "
                       "supported: factors have one width, results that or a larger one",
                       a, b, d);
}

/* ---- integers ---------------------------------------------------------- */

/* Operands of OpCooperativeMatrixMulAddKHR. Source: the SPIR-V registry. */
#define A_IS_SIGNED      0x1u
#define B_IS_SIGNED      0x2u
#define C_IS_SIGNED      0x4u
#define RESULT_IS_SIGNED 0x8u
#define SATURATES        0x10u

/* A byte x is the half 2^-10 x, so that products are multiples of 2^-20. That is the last place of
 * singles between 8 and 16, whose sums thus stay exact and, started at 12, have 2^20 times the sum
 * of products as the difference of their bits: at most 64 * 255^2, less than 2^22. */
#define TO_HALF   0x7400u     /* 2^14, as a half */
#define SIGN_BIAS 0xb000u     /* -2^7 * 2^-10, as a half */
#define TWELVE    0x41400000u /* as a single */

/* The bits of a byte are those of the denormal half 2^-24 x; of a signed one, with its sign bit
 * turned, those of x + 128. */
static struct agxc_ref half_of_byte(struct agxc_spv *s, struct agxc_ref byte, bool is_signed)
{
   struct agxc_ref half = agxc_spv_resize(s, byte, 16, false);
   if (!is_signed)
      return agxc_build_fmul(&s->b, half, agxc_imm(TO_HALF, 16));
   half = agxc_spv_build2(s, AGXC_OP_IXOR, half, agxc_imm(0x80, 16));
   return agxc_build_ffma(&s->b, half, agxc_imm(TO_HALF, 16), agxc_imm(SIGN_BIAS, 16));
}

/* Byte number `byte` of each element, the highest with the element's sign. */
static struct matrix halves_of(struct agxc_spv *s, struct matrix m, uint32_t byte, bool is_signed)
{
   struct agxc_ref *out = agxc_spv_refs(s, m.type->scalars);
   is_signed &= 8 * (byte + 1) == m.type->elem->bits;
   for (uint32_t i = 0; i < m.type->scalars; i++) {
      out[i] =
         byte ? agxc_spv_build2(s, AGXC_OP_USHR, m.refs[i], agxc_spv_u32(8 * byte)) : m.refs[i];
      out[i] = half_of_byte(s, agxc_spv_resize(s, out[i], 8, false), is_signed);
   }
   return (struct matrix){m.type, out};
}

/* d += a b << shift in words, of factors that are bytes. What does not wait for the product is
 * added first. */
static void add_product(struct agxc_spv *s, struct matrix a, struct matrix b, uint32_t shift,
                        const struct agxc_spv_type *type, struct agxc_ref *d)
{
   struct agxc_ref *sums = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      sums[i] = agxc_spv_u32(TWELVE);
   multiply(s, a, b, type, sums);
   for (uint32_t i = 0; i < type->scalars; i++) {
      d[i] = agxc_spv_build2(s, AGXC_OP_IADD, d[i], agxc_spv_u32(0u - (TWELVE << shift)));
      sums[i] = agxc_spv_build2(s, AGXC_OP_ISHL, sums[i], agxc_spv_u32(shift));
      d[i] = agxc_spv_build2(s, AGXC_OP_IADD, d[i], agxc_spv_as_written(sums[i]));
   }
}

/* d = c + a b: byte by byte, as many as the result depends on. */
static void multiply_integers(struct agxc_spv *s, struct matrix a, struct matrix b, struct matrix c,
                              uint32_t operands, struct agxc_ref *d)
{
   uint32_t bits = c.type->elem->bits, count = c.type->scalars;
   bool saturates = operands & SATURATES, is_signed = operands & RESULT_IS_SIGNED;
   for (uint32_t i = 0; i < count; i++)
      d[i] = saturates ? agxc_spv_u32(0) : agxc_spv_resize(s, c.refs[i], 32, false);
   for (uint32_t i = 0; i < a.type->elem->bits; i += 8)
      for (uint32_t j = 0; j < b.type->elem->bits && i + j < (saturates ? 32 : bits); j += 8)
         add_product(s, halves_of(s, a, i / 8, operands & A_IS_SIGNED),
                     halves_of(s, b, j / 8, operands & B_IS_SIGNED), i + j, c.type, d);
   for (uint32_t i = 0; i < count; i++) {
      if (saturates)
         d[i] = agxc_spv_add_limited(s, d[i], agxc_spv_resize(s, c.refs[i], 32, is_signed),
                                     is_signed, bits);
      d[i] = agxc_spv_resize(s, d[i], bits, false);
   }
}

static void check_integers(struct agxc_spv *s, uint32_t operands)
{
   const uint32_t sums = C_IS_SIGNED | RESULT_IS_SIGNED;
   if (operands & ~(A_IS_SIGNED | B_IS_SIGNED | sums | SATURATES))
      agxc_spv_missing(s,
                       "cooperative matrix operands 0x%x are not supported: leave out what is new "
                       "in them",
                       operands);
   if (operands & SATURATES && (operands & sums) != 0 && (operands & sums) != sums)
      agxc_spv_missing(s,
                       "saturating cooperative matrix of one signedness from a sum of another "
                       "(operands 0x%x) is not supported: use one for both",
                       operands);
}

void agxc_spv_op_cooperative_mul_add(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = matrix_type(s, in->type_id);
   struct matrix a = factor(s, in, 0, type->rows, 0);
   struct matrix b = factor(s, in, 1, a.type->columns, type->columns);
   struct matrix c = factor(s, in, 2, type->rows, type->columns);
   uint32_t operands = agxc_spv_operand_count(in) > 3 ? agxc_spv_operand(s, in, 3) : 0;
   const struct agxc_spv_type *sum = type->elem;
   check_lanes(s);
   if (type->use != AGXC_SPV_USE_ACCUMULATOR || c.type->elem->kind != sum->kind ||
       c.type->elem->bits != sum->bits)
      agxc_spv_missing(s,
                       "cooperative matrix of type %u from a sum of type %u is not supported: use "
                       "one type for both",
                       type->id, c.type->id);
   if (a.type->elem->kind != sum->kind || b.type->elem->kind != sum->kind)
      agxc_spv_missing(s, "cooperative matrix product with integers and floats is not supported: "
                          "convert one of them");
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   if (sum->kind == AGXC_SPV_INT) {
      check_integers(s, operands);
      multiply_integers(s, a, b, c, operands, out);
   } else {
      check_floats(s, a.type->elem->bits, b.type->elem->bits, sum->bits, operands);
      memcpy(out, c.refs, type->scalars * sizeof(*out));
      multiply(s, a, b, type, out);
   }
   agxc_spv_define(s, in, out);
}
