/* SPDX-License-Identifier: MIT
 *
 * A device with one program in its memory, for tests: code, launch words, uniforms,
 * a stream, two inputs and an output, one page each.
 */
#pragma once

#include "agx/isa/isa.h"
#include "device.h"

#define CODE_VA    (USC_BASE + 0x4000)
#define WORDS_VA   (USC_BASE + 0x8000)
#define UNIFORM_VA 0x2000000000ull
#define STREAM_VA  0x2000004000ull
#define A_VA       0x2000008000ull
#define B_VA       0x200000c000ull
#define OUT_VA     0x2000010000ull

static const uint8_t add_code[] = {
   0x72, 0x01, 0x10, 0x04,                         /* r0 = thread in grid, x */
   0x05, 0x09, 0x08, 0x0e, 0x00, 0xc0, 0x12, 0x00, /* r1 = A[r0] */
   0x05, 0x11, 0x04, 0x4e, 0x00, 0xc0, 0x12, 0x00, /* r2 = B[r0] */
   0x38, 0x00, 0x38, 0x01,                         /* wait for both */
   0x2a, 0x85, 0xc2, 0x42, 0x2c, 0x00,             /* r1 = r1 + r2, as floats */
   0x45, 0x09, 0x00, 0x0e, 0x00, 0xc0, 0x12, 0x00, /* out[r0] = r1 */
   0x88, 0x00,                                     /* stop */
   0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00, 0x08, 0x00,
};

static const uint8_t usc_words[] = {
   0x1d, 0x00, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x20, /* 12 uniform halves */
   0x4d, 0x90, 0x00, 0x00,                         /* no threadgroup memory */
   0x0d, 0x0c, 0x00, 0x40, 0x00, 0x00,             /* code at + 0x4000 */
   0x8d, 0x01, 0x00, 0x00,                         /* 8 register halves */
   0x88, 0x00,                                     /* no preamble, end */
};

static const uint32_t stream[] = {0x00000002, 0x00008000, 4,          1,          1, 4,
                                  1,          1,          0x600fffff, 0x40000000, 0};

#define PROGRAM_PAGES 7

struct program {
   struct device device;
   float *out;
   uint32_t *stream;
   void *pages[PROGRAM_PAGES]; /* mappings of all of it */
};

static inline void *place(struct device *device, uint64_t va, uint32_t flags, const void *bytes,
                          size_t size)
{
   uint32_t gem = make_gem(device, PAGE, AGX_UAPI_GEM_VM_PRIVATE);
   void *memory = map_gem(device, gem, PAGE);
   assert_int_equal(bind_gem(device, gem, va, PAGE, flags), 0);
   memcpy(memory, bytes, size);
   return memory;
}

static inline struct program load_on(int segment, const uint8_t *code, size_t size)
{
   static const uint64_t uniforms[] = {OUT_VA, B_VA, A_VA};
   static const float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40}, zero[4];
   struct program it = {.device = device_open_on(segment, agx_virtual_default_run_compute())};
   struct device *device = &it.device;
   const struct {
      uint64_t va;
      uint32_t flags;
      const void *bytes;
      size_t size;
   } rows[PROGRAM_PAGES] = {
      {CODE_VA, AGX_UAPI_BIND_READ, code, size},
      {WORDS_VA, AGX_UAPI_BIND_READ, usc_words, sizeof(usc_words)},
      {UNIFORM_VA, AGX_UAPI_BIND_READ, uniforms, sizeof(uniforms)},
      {STREAM_VA, AGX_UAPI_BIND_READ, stream, sizeof(stream)},
      {A_VA, AGX_UAPI_BIND_READ, a, sizeof(a)},
      {B_VA, AGX_UAPI_BIND_READ, b, sizeof(b)},
      {OUT_VA, AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE, zero, sizeof(zero)},
   };
   agx_virtual_set_option(device->node, AGX_VIRTUAL_THREADS, 1);
   for (unsigned i = 0; i < PROGRAM_PAGES; i++)
      it.pages[i] = place(device, rows[i].va, rows[i].flags, rows[i].bytes, rows[i].size);
   it.stream = it.pages[3];
   it.out = it.pages[6];
   return it;
}

static inline struct program load(const uint8_t *code, size_t size)
{
   return load_on(-1, code, size);
}

static inline void unmap_all(struct program *it)
{
   for (unsigned i = 0; i < PROGRAM_PAGES; i++)
      unmap_gem(&it->device, it->pages[i], PAGE);
}

/* Instructions from text, a line each, and the program's end; returns the bytes. */
static inline size_t assemble(const char *text, uint8_t *code, size_t capacity)
{
   static const uint8_t end[18] = {0x88, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0, 8, 0};
   size_t at = 0;
   while (*text) {
      size_t length = strcspn(text, "\n"), size = 0;
      struct agx_isa_instr instr;
      uint8_t bytes[AGX_ISA_MAX_BYTES];
      if (agx_isa_parse(text, length, &instr) != AGX_OK ||
          agx_isa_encode(&instr, bytes, &size) != AGX_OK)
         fail_msg("%s: %s", text, agx_error_peek());
      assert_true(at + size + sizeof(end) <= capacity);
      memcpy(code + at, bytes, size);
      at += size;
      text += length + (text[length] == '\n');
   }
   memcpy(code + at, end, sizeof(end));
   return at + sizeof(end);
}

/* Submits and returns the status of the out-fence: 1 or a negative errno. */
static inline int finish(struct program *it)
{
   struct device *device = &it->device;
   uint32_t handle = make_syncobj(device);
   struct agx_uapi_sync out = {AGX_UAPI_SYNC_SYNCOBJ, handle, 0};
   struct compute_record command = compute_command(STREAM_VA);
   assert_int_equal(submit(device, &command, &out, 0, 1), 0);
   assert_int_equal(wait_syncobj(device, handle, INT64_MAX, AGX_UAPI_SYNCOBJ_WAIT_ALL), 0);
   return fence_status(device, handle);
}

static inline void assert_last_error(struct program *it, const char *part)
{
   char text[512];
   agx_virtual_last_error(it->device.node, text, sizeof(text));
   if (!strstr(text, part))
      fail_msg("\"%s\" is not in \"%s\"", part, text);
}
