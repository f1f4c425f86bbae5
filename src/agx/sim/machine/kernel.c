/* SPDX-License-Identifier: MIT
 *
 * Decodes the code that can be reached from an entry into an array of uops, and makes the
 * pool of its constants. launch/ keeps kernels for a run; reach.c decodes more code when a
 * register leads there.
 */
#include "agx/sim/machine/kernel.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/machine/bind_impl.h"
#include "agx/sim/machine/floats.h"
#include "base/util.h"

#define KERNEL_LIMIT_B (256u << 20)

/* Decoding in progress. Everything grows inside the kernel's arena. */
struct build {
   struct agxs_kernel *kernel;
   struct agxs_tlb *tlb;
   const struct agxs_exec_set *set;
   uint32_t *todo; /* pcs still to be decoded */
   uint32_t todo_count, todo_capacity;
   struct fixup {
      uint32_t uop, pc;
      bool is_outside; /* there is no pc to go to */
   } * fixups;
   uint32_t fixup_count, fixup_capacity;
   uint32_t extent_capacity;
   uint8_t *bytes; /* of the stretch that is being decoded */
   uint32_t byte_count, byte_capacity;
   bool too_large;
};

/* Room for one more element in an array of the arena. */
static void *grow(struct agxs_kernel *kernel, void *array, uint32_t count, uint32_t *capacity,
                  size_t size)
{
   if (count < *capacity)
      return array;
   uint32_t larger = *capacity ? *capacity * 2 : 64;
   array = agx_arena_grow(&kernel->arena, array, count, larger, size);
   *capacity = larger;
   return array;
}

#define GROW(kernel, array, count, capacity)                                                       \
   ((array) = grow((kernel), (array), (count), &(capacity), sizeof(*(array))))

static uint32_t hash_pc(uint32_t pc)
{
   return (pc >> 1) * 2654435761u;
}

static uint32_t *hash_slot(const struct agxs_kernel *kernel, uint32_t pc)
{
   uint32_t mask = kernel->hash_capacity - 1, at = hash_pc(pc) & mask;
   while (kernel->pc_hash[at] && kernel->info[kernel->pc_hash[at] - 1].pc != pc)
      at = (at + 1) & mask;
   return &kernel->pc_hash[at];
}

const struct agxs_uop *agxs_kernel_find(const struct agxs_kernel *kernel, uint32_t pc)
{
   uint32_t index = *hash_slot(kernel, pc);
   return index ? &kernel->uops[index - 1] : NULL;
}

static void grow_hash(struct agxs_kernel *kernel)
{
   const uint32_t *old = kernel->pc_hash;
   uint32_t old_capacity = kernel->hash_capacity;
   kernel->hash_capacity = old_capacity ? old_capacity * 2 : 256;
   kernel->pc_hash = AGX_ARENA_ARRAY(&kernel->arena, uint32_t, kernel->hash_capacity);
   for (uint32_t i = 0; i < old_capacity; i++) {
      if (old[i])
         *hash_slot(kernel, kernel->info[old[i] - 1].pc) = old[i];
   }
}

static bool same_constant(const struct agxs_constant *a, const struct agxs_constant *b)
{
   return a->value == b->value && a->keep == b->keep && a->flip == b->flip && a->bits == b->bits &&
          a->is_uniform == b->is_uniform && a->is_signed == b->is_signed &&
          a->is_float == b->is_float && a->is_high == b->is_high;
}

uint16_t agxs_kernel_constant(struct agxs_kernel *kernel, const struct agxs_constant *constant)
{
   /* Programs have few distinct constants; only hostile ones have thousands, and the
    * search is cut off for those. */
   uint32_t first = kernel->constant_count > 1024 ? kernel->constant_count - 2 : 0;
   for (uint32_t i = first; i < kernel->constant_count; i++) {
      if (same_constant(&kernel->constants[i], constant))
         return (uint16_t)i;
   }
   if (kernel->constant_count == UINT16_MAX)
      longjmp(*kernel->arena.exhausted, 1);
   GROW(kernel, kernel->constants, kernel->constant_count, kernel->constant_capacity);
   kernel->constants[kernel->constant_count] = *constant;
   return (uint16_t)kernel->constant_count++;
}

static uint32_t uniform_word(const struct agxs_constant *constant, const uint16_t *uniforms)
{
   uint32_t half = constant->value + (constant->is_high ? 2 : 0);
   uint32_t word = uniforms[half];
   return constant->bits == 16 ? word : word | (uint32_t)uniforms[half + 1] << 16;
}

/* s eee mmmm; source: docs/hw/machine.md 4. */
static uint32_t minifloat_bits(uint32_t imm)
{
   int exponent = imm >> 4 & 7;
   double fraction = imm & 15;
   double size = exponent ? ldexp(16.0 + fraction, exponent - 7) : fraction / 64.0;
   return agxs_bits((float)size) | (imm & 128 ? 0x80000000u : 0);
}

static uint32_t constant_bits(const struct agxs_constant *constant, const uint16_t *uniforms)
{
   uint32_t value = constant->is_uniform ? uniform_word(constant, uniforms) : constant->value;
   if (constant->is_float) {
      value = constant->bits == 8    ? minifloat_bits(value)
              : constant->bits == 16 ? agxs_half_to_single(value & 0xffff)
                                     : agxs_flush(value);
      return (value & constant->keep) ^ constant->flip;
   }
   if (constant->is_signed && constant->bits == 16)
      return (uint32_t)(int32_t)(int16_t)value;
   return value;
}

void agxs_kernel_fill_pool(const struct agxs_kernel *kernel, const uint16_t *uniforms,
                           struct agxs_row *pool)
{
   for (uint32_t i = 0; i < kernel->constant_count; i++) {
      uint32_t value = constant_bits(&kernel->constants[i], uniforms);
      AGXS_FOR_LANES (lane)
         pool[i].lane[lane] = value;
   }
}

static bool keeps_registers(const struct agxs_kernel *kernel)
{
   return kernel->request.check || kernel->request.profile;
}

/* Room for `count` more uops. */
static void reserve(struct build *build, uint32_t count)
{
   struct agxs_kernel *kernel = build->kernel;
   uint32_t used = kernel->uop_count, larger = AGX_MAX(kernel->uop_capacity, 256u);
   while (larger < used + count)
      larger *= 2;
   if (larger == kernel->uop_capacity)
      return;
   kernel->uops = agx_arena_grow(&kernel->arena, kernel->uops, used, larger, sizeof(*kernel->uops));
   kernel->info = agx_arena_grow(&kernel->arena, kernel->info, used, larger, sizeof(*kernel->info));
   if (keeps_registers(kernel))
      kernel->regs =
         agx_arena_grow(&kernel->arena, kernel->regs, used, larger, sizeof(*kernel->regs));
   kernel->uop_capacity = larger;
}

/* Appends a uop for pc; info and regs go along. Returns its index. */
static uint32_t append_uop(struct build *build, const struct agxs_uop *uop,
                           struct agxs_uop_info info, const struct agxs_uop_regs *regs)
{
   struct agxs_kernel *kernel = build->kernel;
   uint32_t index = kernel->uop_count;
   reserve(build, 1);
   kernel->uops[index] = *uop;
   kernel->uops[index].exec = build->set->exec[uop->exec_index];
   kernel->info[index] = info;
   if (keeps_registers(kernel))
      kernel->regs[index] = *regs;
   kernel->uop_count++;
   return index;
}

static void fix(struct build *build, struct fixup fixup)
{
   GROW(build->kernel, build->fixups, build->fixup_count, build->fixup_capacity);
   build->fixups[build->fixup_count++] = fixup;
}

static void want(struct build *build, uint32_t uop, uint32_t pc)
{
   fix(build, (struct fixup){.uop = uop, .pc = pc});
   GROW(build->kernel, build->todo, build->todo_count, build->todo_capacity);
   build->todo[build->todo_count++] = pc;
}

static void append_link(struct build *build, uint32_t pc)
{
   static const struct agxs_uop_regs none;
   struct agxs_uop uop = {.exec_index = AGXS_X_link, .unit = AGXS_UNIT_LINK};
   want(build, append_uop(build, &uop, (struct agxs_uop_info){.pc = pc, .is_link = true}, &none),
        pc);
}

/* Up to 12 bytes of code; fewer where the mapping or the window ends. */
static uint32_t fetch(struct build *build, uint32_t pc, uint8_t *bytes)
{
   uint64_t va = build->kernel->request.usc_base + pc, bad_va;
   uint32_t size = AGX_ISA_MAX_BYTES;
   if (UINT32_MAX - pc < size)
      size = UINT32_MAX - pc;
   if (agxs_tlb_copy_out(build->tlb, va, bytes, size, &bad_va))
      return size;
   return (uint32_t)(bad_va - va);
}

static void keep_bytes(struct build *build, const uint8_t *bytes, uint32_t length)
{
   for (uint32_t i = 0; i < length; i++) {
      GROW(build->kernel, build->bytes, build->byte_count, build->byte_capacity);
      build->bytes[build->byte_count++] = bytes[i];
   }
}

static void end_extent(struct build *build, uint32_t pc)
{
   struct agxs_kernel *kernel = build->kernel;
   GROW(kernel, kernel->extents, kernel->extent_count, build->extent_capacity);
   uint8_t *copy = agx_arena_alloc(&kernel->arena, AGX_MAX(build->byte_count, 1u));
   if (build->byte_count)
      memcpy(copy, build->bytes, build->byte_count);
   kernel->extents[kernel->extent_count++] =
      (struct agxs_extent){.pc = pc, .length = build->byte_count, .bytes = copy};
   build->byte_count = 0;
}

/* What stands where no instruction can be decoded. */
static void bind_broken(struct agxs_bound *bound, agx_status status)
{
   bool is_unmapped = status == AGX_OUT_OF_RANGE;
   *bound = (struct agxs_bound){.ends = true};
   bound->uop = (struct agxs_uop){
      .exec_index = AGXS_X_refuse,
      .imm = is_unmapped ? AGX_DATA_LOSS : AGX_INVALID_ARGUMENT,
      .reason = is_unmapped ? "code fetch from unmapped memory" : "no valid instruction",
   };
}

/* Decodes one instruction to a uop; false when nothing falls through it. */
static bool decode_one(struct build *build, uint32_t pc, uint32_t *out_length)
{
   struct agxs_kernel *kernel = build->kernel;
   struct agx_isa_instr instr;
   struct agxs_bound bound;
   uint8_t bytes[AGX_ISA_MAX_BYTES];
   uint32_t size = fetch(build, pc, bytes);
   agx_status status = agx_isa_decode(bytes, size, &instr);
   if (status == AGX_OK)
      agxs_bind(kernel, &instr, pc, &bound);
   else
      bind_broken(&bound, status);
   uint32_t length = status == AGX_OK ? instr.length : AGX_MIN(size, 2u);
   keep_bytes(build, bytes, length);
   struct agxs_uop_info info = {
      .pc = pc, .length = (uint8_t)length, .async_group = bound.async_group};
   if (status == AGX_OK && kernel->request.profile) {
      info.op = instr.op;
      info.cost = agx_isa_cost(&instr);
   }
   uint32_t index = append_uop(build, &bound.uop, info, &bound.regs);
   if (2 * kernel->uop_count > kernel->hash_capacity)
      grow_hash(kernel);
   *hash_slot(kernel, pc) = index + 1;
   if (bound.jumps && (bound.target_pc < 0 || bound.target_pc > UINT32_MAX))
      fix(build, (struct fixup){.uop = index, .is_outside = true});
   else if (bound.jumps)
      want(build, index, (uint32_t)bound.target_pc);
   kernel->stack_words = AGX_MIN(kernel->stack_words + bound.stack_words, AGXS_MAX_STACK_WORDS);
   *out_length = length;
   return !bound.ends;
}

/* Decodes from pc until the code ends or runs into what is decoded already. */
static void decode_stretch(struct build *build, uint32_t pc)
{
   uint32_t start = pc, length;
   if (*hash_slot(build->kernel, pc))
      return;
   while (decode_one(build, pc, &length)) {
      pc += length; /* fetch keeps it inside the window */
      if (build->kernel->uop_count >= AGXS_MAX_UOPS) {
         build->too_large = true;
         return;
      }
      if (*hash_slot(build->kernel, pc)) {
         append_link(build, pc);
         break;
      }
   }
   end_extent(build, start);
}

/* What a jump out of the window arrives at: fails as the jump. */
static uint32_t append_outside(struct build *build, uint32_t jump)
{
   static const struct agxs_uop_regs none;
   struct agxs_uop uop = {.exec_index = AGXS_X_refuse,
                          .imm = AGX_INVALID_ARGUMENT,
                          .reason = "the jump leaves the 4 GiB window of code",
                          .unit = AGXS_UNIT_LINK};
   return append_uop(build, &uop, build->kernel->info[jump], &none);
}

static void fix_jump(struct build *build, const struct fixup *fixup)
{
   struct agxs_kernel *kernel = build->kernel;
   uint32_t outside = fixup->is_outside ? append_outside(build, fixup->uop) : 0;
   kernel->uops[fixup->uop].target =
      fixup->is_outside ? &kernel->uops[outside] : agxs_kernel_find(kernel, fixup->pc);
}

static void decode_all(struct build *build)
{
   struct agxs_kernel *kernel = build->kernel;
   grow_hash(kernel);
   decode_stretch(build, kernel->request.entry);
   while (build->todo_count && !build->too_large)
      decode_stretch(build, build->todo[--build->todo_count]);
   reserve(build, build->fixup_count); /* targets point into the array */
   for (uint32_t i = 0; i < build->fixup_count && !build->too_large; i++)
      fix_jump(build, &build->fixups[i]);
}

agx_status agxs_kernel_create(struct agxs_tlb *tlb, const struct agxs_kernel_request *request,
                              const struct agxs_exec_set *set, struct agxs_kernel **out_kernel)
{
   jmp_buf exhausted;
   *out_kernel = NULL;
   struct agxs_kernel *kernel = calloc(1, sizeof(*kernel));
   if (!kernel)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "kernel at 0x%x: out of memory", request->entry);
   kernel->request = *request;
   kernel->set = set;
   agx_arena_init(&kernel->arena, NULL, KERNEL_LIMIT_B, &exhausted);
   struct build build = {.kernel = kernel, .tlb = tlb, .set = set};
   if (setjmp(exhausted)) {
      agxs_kernel_destroy(kernel);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "kernel at 0x%x: needs more than %u bytes decoded",
                      request->entry, KERNEL_LIMIT_B);
   }
   decode_all(&build);
   if (build.too_large) {
      agxs_kernel_destroy(kernel);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "kernel at 0x%x: more than %u instructions",
                      request->entry, AGXS_MAX_UOPS);
   }
   kernel->arena.exhausted = NULL;
   *out_kernel = kernel;
   return AGX_OK;
}

void agxs_kernel_destroy(struct agxs_kernel *kernel)
{
   if (!kernel)
      return;
   agx_arena_fini(&kernel->arena);
   free(kernel);
}

static bool same_request(const struct agxs_kernel_request *a, const struct agxs_kernel_request *b)
{
   return a->usc_base == b->usc_base && a->entry == b->entry && a->halves == b->halves &&
          a->uniform_halves == b->uniform_halves && a->is_preamble == b->is_preamble &&
          a->is_helper == b->is_helper && a->check == b->check && a->profile == b->profile;
}

bool agxs_kernel_matches(const struct agxs_kernel *kernel, struct agxs_tlb *tlb,
                         const struct agxs_kernel_request *request)
{
   if (!same_request(&kernel->request, request))
      return false;
   for (uint32_t i = 0; i < kernel->extent_count; i++) {
      const struct agxs_extent *extent = &kernel->extents[i];
      for (uint32_t at = 0; at < extent->length;) {
         uint64_t va = request->usc_base + extent->pc + at;
         uint32_t step =
            AGX_MIN(extent->length - at, AGX_PAGE_BYTES - (uint32_t)(va & AGXS_PAGE_MASK));
         const uint8_t *now = agxs_tlb_find(tlb, va, AGXS_READ);
         if (!now || memcmp(now, extent->bytes + at, step) != 0)
            return false;
         at += step;
      }
   }
   return true;
}

void agxs_kernel_text(const struct agxs_kernel *kernel, const struct agxs_uop *uop, char *text,
                      size_t capacity)
{
   const struct agxs_uop_info *info = &kernel->info[uop - kernel->uops];
   struct agx_isa_instr instr;
   text[0] = '\0';
   for (uint32_t i = 0; i < kernel->extent_count; i++) {
      const struct agxs_extent *extent = &kernel->extents[i];
      if (info->pc < extent->pc || info->pc - extent->pc >= extent->length)
         continue;
      uint32_t at = info->pc - extent->pc;
      if (agx_isa_decode(extent->bytes + at, extent->length - at, &instr) == AGX_OK)
         agx_isa_print(&instr, text, capacity);
      return;
   }
}
