/* SPDX-License-Identifier: MIT
 *
 * The kernel of an extracted dispatch as a program of our own kind, and what `agx run` needs
 * besides. What its launch loads into uniforms becomes constants of the program; eight bytes that
 * are an address of mapped memory become that of a buffer, in uniforms and in the buffers that they
 * lead to, since the driver puts buffers elsewhere.
 */
#include "extract.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agx/isa/isa.h"
#include "base/util.h"
#include "print.h"
#include "program/program.h"

#define PAGE_BYTES         AGXW_CAPTURE_PAGE_BYTES
#define MAX_CODE_B         (1u << 20)
#define TRAPS_B            16u /* behind stop */
#define MAX_BUFFERS        64u /* of a manifest */
#define MAX_POINTS         4096u
#define MAX_BUFFER_B       (UINT64_C(1) << 30)
#define MAX_UNIFORM_HALVES 512u

struct making {
   struct extract *extract;
   struct agx_program program;
   struct agx_program_uniform uniforms[AGX_PROGRAM_MAX_UNIFORMS];
   struct agx_program_binding bindings[AGX_PROGRAM_MAX_BINDINGS];
   struct extract_range *reached[MAX_BUFFERS]; /* by id, less one */
   struct extract_point points[MAX_POINTS];
   uint32_t point_count;
   uint8_t *code, *preamble;
   char *why;
   size_t capacity;
};

#define REFUSE(making, ...) (snprintf((making)->why, (making)->capacity, __VA_ARGS__), false)

/* ---- code ---- */

/* To the first stop, and traps; *out_bytes 0: there is none. */
static agx_status copy_code(const struct extract *extract, uint32_t offset, uint8_t **out_code,
                            uint32_t *out_bytes)
{
   static const uint8_t trap[2] = {8, 0};
   uint8_t *code = malloc(MAX_CODE_B + TRAPS_B);
   *out_bytes = 0;
   *out_code = code;
   if (!code)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the code");
   for (uint32_t at = 0; at + AGX_ISA_MAX_BYTES <= MAX_CODE_B;) {
      struct agx_isa_instr instr;
      size_t size = AGX_ISA_MAX_BYTES;
      while (size > 0 && !extract_read(extract, &extract->before, extract->usc_base + offset + at,
                                       code + at, size))
         size -= 2;
      if (agx_isa_decode(code + at, size, &instr) != AGX_OK)
         return AGX_OK;
      at += instr.length;
      if (instr.op != AGX_ISA_OP_STOP)
         continue;
      for (uint32_t i = 0; i < TRAPS_B; i += sizeof(trap))
         memcpy(code + at + i, trap, sizeof(trap));
      *out_bytes = at + TRAPS_B;
      return AGX_OK;
   }
   return AGX_OK;
}

/* What the first instruction takes of scratch memory for each thread. */
static uint32_t frame_bytes(const uint8_t *code, uint32_t bytes)
{
   struct agx_isa_instr instr;
   if (agx_isa_decode(code, bytes, &instr) != AGX_OK || instr.op != AGX_ISA_OP_STACK_ADJUST)
      return 0;
   const struct agx_isa_operand *amount = &instr.operand[AGX_ISA_STACK_ADJUST_INDEX];
   return amount->kind == AGX_ISA_IMM ? (uint32_t)amount->value * 4 : 0;
}

/* ---- buffers ---- */

/* The range becomes one of the manifest's buffers. */
static bool reach(struct making *making, struct extract_range *range)
{
   uint32_t count = 0;
   while (count < MAX_BUFFERS && making->reached[count])
      count++;
   if (range->id)
      return true;
   if (count == MAX_BUFFERS)
      return REFUSE(making, "the kernel reaches more than %u buffers", MAX_BUFFERS);
   if (range->bytes > MAX_BUFFER_B)
      return REFUSE(making,
                    "%" PRIu64 " bytes are mapped at 0x%" PRIx64 "; a manifest's buffer has "
                    "at most %" PRIu64,
                    range->bytes, range->va, MAX_BUFFER_B);
   making->reached[count] = range;
   range->id = count + 1;
   return true;
}

static bool add_point(struct making *making, const struct extract_range *range, uint64_t offset,
                      uint64_t address)
{
   for (uint32_t i = 0; i < making->point_count && making->points[i].is_uniform; i++)
      if (making->points[i].range == range && making->points[i].offset == offset)
         return true;
   struct extract_range *target = extract_find(making->extract, address);
   if (!target)
      return true;
   if (!reach(making, target))
      return false;
   if (making->point_count == MAX_POINTS)
      return REFUSE(making, "the buffers hold more than %u addresses", MAX_POINTS);
   making->points[making->point_count++] = (struct extract_point){
      .range = range, .target = target, .offset = offset, .place = address - target->va};
   return true;
}

/* Addresses in a buffer. A page that is repeated is looked at each time. */
static bool scan(struct making *making, const struct extract_range *range)
{
   const struct extract *extract = making->extract;
   for (uint64_t at = 0; at < range->bytes; at += PAGE_BYTES) {
      uint64_t offset = range->offset + (range->single_page ? 0 : at);
      const uint8_t *page = cut_image_page(&extract->before, range->object, offset / PAGE_BYTES);
      for (uint32_t i = 0; page && i < PAGE_BYTES; i += 8)
         if (!add_point(making, range, at + i, agx_load_u64(page + i)))
            return false;
   }
   return true;
}

/* ---- uniforms ---- */

static bool add_uniform(struct making *making, struct agx_program_uniform uniform)
{
   if (making->program.uniform_count == AGX_PROGRAM_MAX_UNIFORMS)
      return REFUSE(making, "the launch loads more than %u uniforms", AGX_PROGRAM_MAX_UNIFORMS);
   making->uniforms[making->program.uniform_count++] = uniform;
   return true;
}

/* Uniforms from one word of the launch; an address may begin at each second half. */
static bool load_uniforms(struct making *making, const struct agx_hw_usc_load *load)
{
   uint8_t bytes[2 * MAX_UNIFORM_HALVES + 8] = {0};
   uint32_t halves = AGX_MIN(load->halves, MAX_UNIFORM_HALVES);
   if (!extract_read(making->extract, &making->extract->before, load->address, bytes, 2 * halves))
      return REFUSE(making, "uniforms from 0x%" PRIx64 " are not mapped", load->address);
   for (uint32_t at = 0; at < halves;) {
      uint64_t value = agx_load_u64(bytes + 2 * at);
      struct extract_range *range = at + 4 <= halves && (load->start + at) % 2 == 0
                                       ? extract_find(making->extract, value)
                                       : NULL;
      struct agx_program_uniform uniform = {.kind = AGX_UNIFORM_CONSTANT,
                                            .start = load->start + at,
                                            .halves = AGX_MIN(2, halves - at),
                                            .value = (uint32_t)value};
      if ((load->start + at) % 2 != 0 || uniform.halves == 1)
         uniform = (struct agx_program_uniform){.kind = AGX_UNIFORM_CONSTANT,
                                                .start = load->start + at,
                                                .halves = 1,
                                                .value = value & 0xffff};
      if (range) {
         if (!reach(making, range))
            return false;
         range->is_bound = true;
         uint64_t from = load->address + 2 * at;
         struct extract_range *in = extract_find(making->extract, from);
         if (making->point_count == MAX_POINTS)
            return REFUSE(making, "the launch loads more than %u addresses", MAX_POINTS);
         in->is_loaded = true;
         making->points[making->point_count++] = (struct extract_point){.range = in,
                                                                        .target = range,
                                                                        .offset = from - in->va,
                                                                        .place = value - range->va,
                                                                        .is_uniform = true};
         uniform = (struct agx_program_uniform){.kind = AGX_UNIFORM_BUFFER_ADDRESS,
                                                .start = load->start + at,
                                                .halves = 4,
                                                .index = range->id, /* a binding's, later */
                                                .value = value - range->va};
      }
      if (!add_uniform(making, uniform))
         return false;
      at += uniform.halves;
   }
   return true;
}

/* Buffers that uniforms lead to are bound; binding numbers are ids. */
static void number_bindings(struct making *making)
{
   uint32_t place[MAX_BUFFERS + 1] = {0};
   struct agx_program *program = &making->program;
   for (uint32_t i = 0; i < MAX_BUFFERS && making->reached[i]; i++) {
      if (!making->reached[i]->is_bound)
         continue;
      place[i + 1] = program->binding_count;
      making->bindings[program->binding_count++] =
         (struct agx_program_binding){.binding = i + 1,
                                      .kind = AGX_BINDING_STORAGE_BUFFER,
                                      .access = AGX_BINDING_READS | AGX_BINDING_WRITES,
                                      .min_size_B = 1};
   }
   for (uint32_t i = 0; i < program->uniform_count; i++)
      if (making->uniforms[i].kind == AGX_UNIFORM_BUFFER_ADDRESS)
         making->uniforms[i].index = place[making->uniforms[i].index];
}

/* ---- the program ---- */

/* What neither a program nor a manifest can say. */
static bool is_plain(struct making *making)
{
   const struct extract *extract = making->extract;
   const struct agx_hw_usc_info *info = &extract->program;
   if (info->texture_count || info->sampler_count)
      return REFUSE(making, "the kernel has %u words of textures and %u of samplers",
                    info->texture_count, info->sampler_count);
   if (making->program.code_B == 0)
      return REFUSE(making, "the code can't be decoded to a stop");
   for (unsigned i = 0; i < 3; i++)
      if (extract->local[i] == 0 || extract->grid[i] % extract->local[i] != 0)
         return REFUSE(making, "a grid of %u threads is not whole workgroups of %u",
                       extract->grid[i], extract->local[i]);
   return true;
}

static bool make_program(struct making *making)
{
   const struct extract *extract = making->extract;
   const struct agx_hw_usc_info *info = &extract->program;
   struct agx_program *program = &making->program;
   if (!is_plain(making))
      return false;
   for (uint32_t i = 0; i < info->load_count; i++)
      if (!load_uniforms(making, &info->loads[i]))
         return false;
   for (uint32_t i = 0; i < MAX_BUFFERS && making->reached[i]; i++)
      if (!scan(making, making->reached[i]))
         return false;
   number_bindings(making);
   agx_program_set_name(program, "kernel");
   snprintf(program->chip, sizeof(program->chip), "%s", extract->cut.chip->name);
   program->text_B = program->code_B - TRAPS_B;
   program->gpr_halves = info->gpr_halves;
   program->preamble_gpr_halves = program->preamble_B ? extract->launch.preamble_halves : 0;
   program->uniform_halves = AGX_MIN(extract->launch.uniform_halves, MAX_UNIFORM_HALVES);
   memcpy(program->local_size, extract->local, sizeof(program->local_size));
   program->shared_B = info->shared_B;
   program->scratch_B = frame_bytes(making->code, program->code_B);
   program->takes_addresses = 1;
   program->code = making->code;
   program->preamble = program->preamble_B ? making->preamble : NULL;
   program->uniforms = making->uniforms;
   program->bindings = making->bindings;
   return true;
}

static agx_status write_elf(struct making *making)
{
   void *image;
   size_t size;
   struct agx_program *read = NULL;
   AGX_TRY(agx_program_write_elf(&making->program, NULL, &image, &size));
   agx_status status = agx_program_read_elf(image, size, NULL, &read);
   if (status == AGX_OK)
      status = extract_write(making->extract, "kernel.elf", image, size);
   else
      snprintf(making->why, making->capacity, "%s", agx_error_peek());
   agx_program_free(read);
   agx_host_free(NULL, image, size);
   return making->why[0] ? AGX_OK : status;
}

/* ---- the manifest ---- */

/* Holes where pages are zero; as long as the range. */
static agx_status write_buffer(const struct extract *extract, const char *name,
                               const struct extract_range *range, const struct cut_image *image)
{
   FILE *file;
   AGX_TRY(extract_open(extract, name, &file));
   bool is_good = true;
   for (uint64_t at = 0; is_good && at < range->bytes; at += PAGE_BYTES) {
      uint64_t offset = range->offset + (range->single_page ? 0 : at);
      const uint8_t *page = cut_image_page(image, range->object, offset / PAGE_BYTES);
      if (page)
         is_good = fseeko(file, (off_t)at, SEEK_SET) == 0 &&
                   fwrite(page, 1, PAGE_BYTES, file) == PAGE_BYTES;
   }
   is_good = is_good && fflush(file) == 0 && ftruncate(fileno(file), (off_t)range->bytes) == 0;
   int error = is_good ? 0 : errno;
   bool is_closed = fclose(file) == 0;
   return is_good && is_closed
             ? AGX_OK
             : agx_status_fail_errno(error ? error : errno, "%s/%s can't be written",
                                     extract->folder, name);
}

static bool is_changed(const struct extract *extract, const struct extract_range *range)
{
   static const uint8_t zero[PAGE_BYTES];
   for (uint64_t at = 0; at < range->bytes; at += PAGE_BYTES) {
      uint64_t page = (range->offset + (range->single_page ? 0 : at)) / PAGE_BYTES;
      const uint8_t *before = cut_image_page(&extract->before, range->object, page);
      const uint8_t *after = cut_image_page(&extract->after, range->object, page);
      if (memcmp(before ? before : zero, after ? after : zero, PAGE_BYTES) != 0)
         return true;
   }
   return false;
}

static agx_status write_buffers(const struct making *making, FILE *manifest)
{
   const struct extract *extract = making->extract;
   for (uint32_t i = 0; i < MAX_BUFFERS && making->reached[i]; i++) {
      const struct extract_range *it = making->reached[i];
      const struct cut_object *object = &extract->cut.objects[it->object];
      char name[64], label[sizeof(object->label)];
      bool changes = is_changed(extract, it);
      snprintf(name, sizeof(name), "kernel.%u.bin", it->id);
      AGX_TRY(write_buffer(extract, name, it, &extract->before));
      print_clean(object->label, label, sizeof(label));
      fprintf(manifest, "# buffer %u%s%s, 0x%" PRIx64 "\n", object->handle, label[0] ? " " : "",
              label, it->va);
      fprintf(manifest, "buf %u 0 %u %s %" PRIu64 " file %s%s\n", it->id, it->id,
              it->is_bound ? "ssbo" : "addr", it->bytes, name, changes ? " out" : "");
      snprintf(name, sizeof(name), "after/kernel.%u.bin", it->id);
      if (changes)
         AGX_TRY(write_buffer(extract, name, it, &extract->after));
   }
   return AGX_OK;
}

static agx_status write_manifest(const struct making *making)
{
   const struct extract *extract = making->extract;
   char node[64];
   FILE *file;
   AGX_TRY(extract_open(extract, "dispatch.txt", &file));
   /* Names of a capture could begin a line of their own. */
   print_clean(agxw_capture_node(extract->cut.reader), node, sizeof(node));
   fprintf(file, "# dispatch %" PRIu64 ".%" PRIu64 ".%" PRIu64 " of a capture on %s\n",
           extract->submission, extract->command, extract->wanted, node);
   agx_status status = write_buffers(making, file);
   for (uint32_t i = 0; i < making->point_count; i++) {
      const struct extract_point *it = &making->points[i];
      if (it->is_data || it->is_uniform)
         continue;
      fprintf(file, "point %u %" PRIu64 " %u %" PRIu64 "\n", it->range->id, it->offset,
              it->target->id, it->place);
   }
   fprintf(file, "dispatch %u %u %u\ncmp exact\n", extract->grid[0] / extract->local[0],
           extract->grid[1] / extract->local[1], extract->grid[2] / extract->local[2]);
   bool is_bad = ferror(file);
   if ((fclose(file) != 0 || is_bad) && status == AGX_OK)
      status = agx_status_fail_errno(errno, "%s/dispatch.txt can't be written", extract->folder);
   return status;
}

/* ---- all of it ---- */

static agx_status make(struct making *making)
{
   struct extract *extract = making->extract;
   const struct agx_hw_usc_info *info = &extract->program;
   struct agx_program *program = &making->program;
   AGX_TRY(copy_code(extract, info->code_offset, &making->code, &program->code_B));
   if (info->has_preamble)
      AGX_TRY(copy_code(extract, info->preamble_offset, &making->preamble, &program->preamble_B));
   if (program->code_B)
      AGX_TRY(extract_write(extract, "kernel.bin", making->code, program->code_B));
   if (program->preamble_B)
      AGX_TRY(extract_write(extract, "preamble.bin", making->preamble, program->preamble_B));
   if (!make_program(making))
      return AGX_OK;
   AGX_TRY(extract_sort_points(extract, making->points, making->point_count, making->why,
                               making->capacity));
   if (making->why[0])
      return AGX_OK;
   AGX_TRY(write_elf(making));
   return making->why[0] ? AGX_OK : write_manifest(making);
}

agx_status extract_program(struct extract *extract, char *out_why, size_t capacity)
{
   struct making *making = calloc(1, sizeof(*making));
   if (!making)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the program");
   *making = (struct making){.extract = extract, .why = out_why, .capacity = capacity};
   out_why[0] = 0;
   agx_status status = make(making);
   free(making->code);
   free(making->preamble);
   free(making);
   return status;
}
