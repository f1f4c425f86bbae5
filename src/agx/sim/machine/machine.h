/* SPDX-License-Identifier: MIT
 *
 * The simulator's own form of things: a decoded instruction (uop), a kernel made
 * of them, one SIMD-group's state, and the worker that runs it. A register row
 * holds one 32-bit register of all 32 lanes; constants and uniforms are rows
 * too (the pool), so that every source is a row and a shift. Nothing here is
 * locked: a worker owns its groups, kernel and pool are read-only while they run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agx/chip.h"
#include "agx/isa/cost.h"
#include "agx/isa/isa.h"
#include "agx/sim/machine/options.h"
#include "agx/sim/memory/memory.h"
#include "base/arena.h"

#define AGXS_LANES       32u
#define AGXS_MAX_SOURCES 4
/* What a register, uniform or byte of threadgroup memory holds before anything wrote it. */
#define AGXS_POISON      0xabadcafeu
#define AGXS_POISON_BYTE 0xa5
/* A uop that is no instruction counts as this unit. */
#define AGXS_UNIT_LINK AGXS_UNITS
/* Most that a launch can declare for a thread (spill code 15). */
#define AGXS_MAX_STACK_WORDS 131072u
/* Words of a lane's stack that lie together: the smallest block that a helper program maps. */
#define AGXS_CHUNK_WORDS 8u

struct agxs_row {
   uint32_t lane[AGXS_LANES];
} __attribute__((aligned(64)));

struct agxs_exec_set;
struct agxs_group;
struct agxs_helpers;
struct agxs_profile;
struct agxs_uop;
struct agxs_kernel;
struct agxs_image_observer;
struct agxs_image_op;
struct agxs_image_cache;
struct agxs_states;
struct agxs_shadow;
struct agxs_extension;
struct agxs_shadow_store;

/* Executes one instruction for the group; returns the next one, or NULL with
 * group->state saying why it stops. */
typedef const struct agxs_uop *agxs_exec(struct agxs_group *group, const struct agxs_uop *uop);

enum agxs_bank {
   AGXS_BANK_REG,  /* the group's registers */
   AGXS_BANK_POOL, /* constants and uniforms, the same in all lanes */
};

/* lane value = ((row << left >> right) ^ sign) - sign, which sign-extends a half when
 * sign is its top bit; a float then goes through (bits & keep) ^ flip. Pool rows are
 * prepared: no shifts needed. */
struct agxs_source {
   uint32_t keep, flip; /* abs and neg of a float */
   uint32_t sign;
   uint16_t row;
   uint8_t bank;
   uint8_t bits; /* 16, 32 or 64 (two rows) */
   uint8_t left, right;
   bool is_signed;
};

struct agxs_dest {
   uint32_t mask; /* bits of the row that are written */
   uint16_t row;
   uint8_t shift;
   uint8_t bits; /* 16, 32, 64; 0: no destination */
};

struct agxs_uop {
   agxs_exec *exec;
   const struct agxs_uop *target; /* of a jump */
   int64_t imm;
   const char *reason;                /* of a refusal; static */
   const struct agxs_image_op *image; /* of a texture or image access; in the kernel's arena */
   struct agxs_dest dst;
   struct agxs_source src[AGXS_MAX_SOURCES];
   uint8_t exec_index; /* enum agxs_exec_index */
   uint8_t mode;       /* condition, truth table, rounding, operation ... of the instruction */
   uint8_t nest, shift, mask, format, group, count;
   bool invert, saturate, negate, window, prefix, has_index, is_signed;
   bool is_plain;    /* 32-bit registers only, nothing to shift, extend or saturate */
   bool is_coherent; /* a load or store past the core's caches */
   bool reads_plain; /* the same of the sources alone */
   bool modifies;    /* a source is negated or made positive */
   bool is_always;   /* a condition that compares a constant with itself for equality */
   uint8_t unit;     /* enum agx_isa_unit, or AGXS_UNIT_LINK */
};

/* Beside a uop: what diagnosis and checking need. */
struct agxs_uop_info {
   uint32_t pc; /* relative to usc_base */
   uint8_t length;
   bool is_link;        /* no instruction of the program: joins two stretches of code */
   uint8_t async_group; /* 1 + the group that the instruction occupies; 0 for none */
   uint16_t op;         /* enum agx_isa_op */
   struct agx_isa_cost cost;
};

/* Register halves that a uop touches, for check mode and statistics. */
struct agxs_uop_regs {
   uint64_t reads[4], writes[4], discards[4];
};

/* A pool row's recipe. */
struct agxs_constant {
   uint32_t value; /* the immediate, or the first uniform half */
   uint32_t keep, flip;
   uint8_t bits; /* of the uniform */
   bool is_uniform, is_signed, is_float;
   bool is_high; /* the upper word of a 64-bit uniform */
};

struct agxs_extent {
   uint32_t pc, length;
   const uint8_t *bytes;
};

struct agxs_kernel_request {
   uint64_t usc_base;
   uint32_t entry;          /* relative to usc_base */
   uint32_t halves;         /* registers declared */
   uint32_t uniform_halves; /* uniforms declared */
   bool is_preamble;
   bool is_helper; /* gives SIMD-groups their stack: has doorbells and blocks */
   bool check;     /* collect what check mode needs, refuse what it forbids */
   bool profile;   /* collect what statistics need; one uop for each instruction */
};

struct agxs_kernel {
   struct agx_arena arena; /* holds all of this */
   struct agxs_kernel_request request;
   const struct agxs_exec_set *set;
   struct agxs_uop *uops;
   struct agxs_uop_info *info;
   struct agxs_uop_regs *regs; /* check mode and statistics only, else NULL */
   uint32_t uop_count, uop_capacity;
   struct agxs_constant *constants;
   uint32_t constant_count, constant_capacity;
   uint32_t *pc_hash;           /* open addressing: 1 + uop index; 0 free */
   uint32_t hash_capacity;      /* a power of two */
   struct agxs_extent *extents; /* the bytes that were decoded */
   uint32_t extent_count;
   uint32_t stack_words; /* per lane: sum of the adjustments in the code */
};

enum agxs_group_state {
   AGXS_GROUP_READY,
   AGXS_GROUP_AT_BARRIER,
   AGXS_GROUP_AT_DOORBELL, /* a helper program that waits for its next operation */
   AGXS_GROUP_DONE,
   AGXS_GROUP_FAILED, /* status and text are set */
};

/* What a helper program and the hardware tell each other; of one core. Source:
 * docs/hw/machine.md 16. */
#define AGXS_STACK_BLOCKS 4u

enum agxs_helper_op {
   AGXS_HELPER_ALLOC = 0,
   AGXS_HELPER_FREE = 1,
   AGXS_HELPER_END = 15,
   AGXS_HELPER_NONE, /* nothing was asked for yet */
};

enum agxs_doorbell {
   AGXS_DOORBELL_NONE = 0, /* no answer yet */
   AGXS_DOORBELL_NEXT = 32,
   AGXS_DOORBELL_ACK = 48,
   AGXS_DOORBELL_NACK = 49,
};

struct agxs_helper_talk {
   uint64_t arg;    /* special registers 146 and 147 */
   uint32_t op;     /* enum agxs_helper_op, special register 144 */
   uint32_t answer; /* enum agxs_doorbell */
   /* Of the SIMD-group whose stack is allocated or freed: words as map takes and unmap gives
    * them, and which of them the helper program mapped or unmapped. */
   uint32_t blocks[AGXS_STACK_BLOCKS];
   uint32_t touched;
};

/* Everything that is constant during one launch. */
struct agxs_dispatch {
   const struct agx_chip *chip;
   const struct agxs_memory *memory;
   const struct agxs_options *options;
   const struct agxs_kernel *kernel;
   struct agxs_row *pool;      /* read-only but for uniform_store */
   uint16_t *uniforms;         /* AGX_UNIFORM_HALVES; written by a preamble only */
   uint32_t uniform_count;     /* declared halves */
   uint64_t *uniform_loaded;   /* one bit a half, for check mode; NULL: all */
   uint32_t index;             /* of the launch in its stream */
   uint32_t local[3], grid[3]; /* threads */
   uint32_t launch_local[3];   /* the same of the launch, also where this is its preamble */
   uint32_t shared_bytes;
   uint32_t stack_words;            /* declared for a lane */
   uint32_t spill_code;             /* the same as the launch words say it */
   struct agxs_helpers *helpers;    /* who gives it; NULL: the simulator */
   uint32_t tile_stride_B;          /* of a pixel in tile memory */
   struct agxs_states *states;      /* textures and samplers; written by a preamble only */
   const struct agxs_range *ranges; /* with options.ranges, the launch's own */
   uint32_t range_count;
   const struct agxs_exec_set *inner_set; /* then: what executes, check/check.h */
};

struct agxs_worker {
   struct agxs_tlb tlb;
   const struct agxs_dispatch *dispatch;
   struct agxs_group *groups;
   struct agxs_row *registers;
   uint32_t *stack;         /* without a helper program, that of all groups */
   uint32_t **stack_chunks; /* of all groups */
   uint64_t group_capacity, row_capacity, stack_capacity, chunk_capacity; /* in elements */
   uint8_t *shared; /* AGX_MAX_SHARED_BYTES and some */
   uint32_t workgroup[3];
   uint32_t core; /* whose number special register 20 gives */
   bool has_core; /* chaos: it stays on that core; else workgroups take turns on all of them */
   struct agxs_image_cache *images; /* unpacked descriptors; NULL until one is used */
   /* What image accesses report to check mode and statistics; NULL without both. */
   const struct agxs_image_observer *image_observer;
   struct agxs_stats stats;
   uint32_t slice; /* uops that a group runs before the next one; 0: AGXS_SLICE */
   const struct agxs_exec_set *plain_set; /* chaos: what its own functions stand before */
   struct agxs_extension *extensions;     /* code that registers led to; kernel.h */
   uint32_t extension_count;
   struct agxs_shadow_store *shadow; /* check mode, else NULL */
   struct agxs_profile *profile;     /* with options.profile, from the first launch on; else NULL */
};

struct agxs_group {
   struct agxs_row exec;  /* all ones where the lane is active */
   struct agxs_row lives; /* all ones where the lane has a thread */
   struct agxs_row *regs;
   const struct agxs_row *bank[2];
   uint32_t active, exists; /* exec and lives, one bit a lane */
   uint8_t state;           /* enum agxs_group_state */
   agx_status status;
   const struct agxs_uop *next; /* where to go on */
   struct agxs_worker *worker;
   const struct agxs_kernel *kernel;
   /* Where a jump leads out of this kernel; NULL: nowhere. */
   const struct agxs_kernel *next_kernel;
   const struct agxs_row *next_pool;
   uint32_t index; /* in the workgroup */
   uint64_t instructions;
   uint64_t links; /* uops of this time slice that are no instructions */
   uint32_t stack_pointer, stack_words;
   uint32_t stack_given; /* words that there is memory for; fewer with too small blocks only */
   /* Memory of AGXS_CHUNK_WORDS words each, [word][lane]; NULL where there is none. */
   uint32_t **stack_chunks;
   bool has_blocks; /* of a helper program, to be freed */
   uint32_t blocks[AGXS_STACK_BLOCKS];
   struct agxs_helper_talk *talk; /* of a helper program itself; NULL: this is none */
   /* Check mode: halves that an unfinished operation writes, per group. */
   struct agxs_shadow *shadow; /* what is defined; check/shadow.h */
   uint64_t pending[2][4];
   uint32_t outstanding[2];
   uint32_t outstanding_loads[2]; /* of those, that write registers */
};

/* Stops the group with a text "pc 0x10: fadd ...: <format>". Returns NULL for exec functions. */
const struct agxs_uop *agxs_group_fail(struct agxs_group *group, const struct agxs_uop *uop,
                                       agx_status code, const char *format, ...)
   __attribute__((format(printf, 4, 5), cold));

/* Tells options.on_fault. */
void agxs_group_report(const struct agxs_group *group, const struct agxs_uop *uop,
                       enum agxs_fault_kind kind, uint64_t va, uint64_t bytes, unsigned lane,
                       const char *what) __attribute__((cold));

/* Counts and reports a soft fault; false when the group must stop (strict; it has failed). */
bool agxs_group_fault(struct agxs_group *group, const struct agxs_uop *uop,
                      enum agxs_fault_kind kind, uint64_t va, unsigned bytes, unsigned lane,
                      const char *what) __attribute__((cold));

/* What decoding keeps of a texture, image or tile instruction, and what the execution of one
 * reports to check mode and statistics. */

/* How an instruction names a descriptor; the encoding's numbers. */
enum agxs_handle {
   AGXS_HANDLE_STATE = 0,
   AGXS_HANDLE_STATE_REGISTER = 1,
   AGXS_HANDLE_HEAP = 3,
};

struct agxs_image_op {
   uint8_t dim;      /* enum agx_isa_dim */
   uint8_t lod_mode; /* enum agx_isa_lod_mode */
   uint8_t gather;   /* 1 + channel; 0: none */
   uint8_t mask;
   uint8_t format; /* of tile memory */
   uint8_t handle; /* enum agxs_handle */
   bool is_float, has_shadow, has_offset, query_lod, is_sparse, toward_zero;
   uint8_t coord_axes, coord_elements; /* of the coordinates: x, y, z, and with layer and sample */
   uint16_t texture_state, sampler_state; /* when they are numbers */
   struct agxs_source texture, sampler;   /* when they are registers */
   bool has_texture_register, has_sampler_register;
   struct agxs_source heap; /* 64 bits */
   struct agxs_source coord, data;
   struct agxs_source lod;     /* bias, level or gradients; an immediate as well */
   struct agxs_source minimum; /* of the modes with one */
   struct agxs_source reference, offset;
   uint32_t heap_offset; /* of state stores by number */
};

/* Check mode and statistics lie above image accesses, which call them through this table
 * (agxs_worker.image_observer). */
struct agxs_image_observer {
   /* An active lane touches these bytes of a texture or image. */
   void (*touch)(struct agxs_group *group, uint64_t va, uint32_t bytes);
   /* R, G, B, A of a store that have undefined bits, one bit each. */
   uint32_t (*undefined_channels)(const struct agxs_group *group, const struct agxs_source *data,
                                  unsigned lane);
   /* Whether bytes of tile memory have undefined bits. */
   bool (*is_undefined)(const struct agxs_group *group, const uint8_t *at, unsigned bytes);
   /* Fails the group for the first of these channels. Returns false. */
   bool (*fail_channels)(struct agxs_group *group, const struct agxs_uop *uop, uint32_t channels,
                         unsigned lane);
   /* One element between registers and tile memory; at NULL: nowhere. is_raw: bits go as they
    * are; is_more: the bytes hold other channels too. */
   void (*tile_store)(struct agxs_group *group, const struct agxs_source *data, unsigned slot,
                      unsigned lane, uint8_t *at, unsigned bytes, bool is_raw, bool is_more);
   void (*tile_load)(struct agxs_group *group, const struct agxs_dest *dst, unsigned slot,
                     unsigned lane, const uint8_t *at, unsigned bytes, bool is_raw);
};
