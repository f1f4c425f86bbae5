/* SPDX-License-Identifier: MIT
 *
 * agx selftest: experiments about what hardware does. Each runs on the device that is asked about,
 * and on a virtual AGX that stands for what we believe; what both show is compared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "winsys/winsys.h"

/* ---- a device with a program's memory ------------------------------------ */

/* Offsets in the data buffer; the guard page behind it isn't mapped. */
enum {
   SELFTEST_STREAM = 0x2000,
   SELFTEST_SIZES = 0x3f00, /* of indirect launches; the stream ends before */
   SELFTEST_INPUT = 0x4000,
   SELFTEST_OUTPUT = 0x8000, /* 16 bytes a thread */
   SELFTEST_SPARE = 0xc000,  /* for programs that load and store */
   SELFTEST_HEAP = 0x10000,  /* descriptors */
   SELFTEST_PIXELS = 0x14000,
   SELFTEST_DATA_B = 0x40000,
};

#define SELFTEST_MAX_THREADS   1024
#define SELFTEST_MAX_SCRATCH_B 256

/* What each program finds in its uniforms, as 64-bit numbers from du0, du2, du4 ... on: addresses
 * of input, output, spare memory, the first byte behind the buffer, the read-only buffer, an
 * address that nothing is mapped at, the heap, and numbers: u14: the loop count of rates, u15: the
 * bits of 2.5, u16: 0x80000001, u17: 0x00030002; in du18 the address of the code. */
enum {
   SELFTEST_UNIFORM_WORDS = 32
};

struct selftest_machine {
   char name[64]; /* for agxw_kmd_open */
   struct agxw_device *device;
   struct agxw_queue *queue;
   struct agxw_timeline *timeline;
   uint64_t point;
   struct agxw_bo *code_bo, *data_bo, *read_only_bo;
   struct agxw_bo *helper_bo, *scratch_bo; /* made for the first launch that wants stacks */
   struct agxw_helper helper;
   bool needs_helper; /* what is prepared */
   struct agxw_stamps *stamps;
   uint8_t *code, *data;
   uint64_t data_va;
   uint32_t stream_end; /* offset of the prepared stream's terminator in the data buffer */
   bool is_stale;       /* a submission failed: to be opened anew before the next experiment */
   bool has_counters;
   struct agx_kmd_counters counters; /* of the last launch */
};

/* What is launched. Zeros: 32 threads in one workgroup, 128 register halves, nothing else. */
struct selftest_launch {
   const char *program, *preamble; /* text; a stop is added */
   const char *from, *to; /* in the program, or else the preamble: an alteration; or NULL */
   uint32_t threads[3], local[3];
   bool has_threads; /* threads[] counts even where it has a 0 */
   uint32_t halves, shared_B;
   uint32_t scratch_B;      /* of a thread's stack, SELFTEST_MAX_SCRATCH_B at most */
   uint32_t sample_stride;  /* of tile memory, in 8 bytes */
   uint32_t uniform_halves; /* that are loaded; 0: all 64 */
   uint32_t loops;          /* u14 */
   uint32_t barrier;        /* the stream's barrier word; 0: the usual one */
   uint32_t repeats;        /* launches in the stream beyond the first */
   uint32_t mode;           /* enum agx_hw_cdm_mode; sizes of indirect ones are at SELFTEST_SIZES */
};

/* How a submission went. */
struct selftest_outcome {
   int error;           /* of its fence, an errno; 0: none */
   uint64_t start, end; /* timestamps, in ticks; 0: not written */
   uint64_t host_ns;    /* from submission to the end of the wait */
};

/* Opens the device called name; the machine is closed by selftest_close, also on failure. */
AGX_MUST_CHECK agx_status selftest_open(struct selftest_machine *machine, const char *name);
void selftest_close(struct selftest_machine *machine);
/* Closes the machine and opens the same device again. */
AGX_MUST_CHECK agx_status selftest_reopen(struct selftest_machine *machine);
/* Zeroes the data buffer but for uniforms, fills the output with 0xee. */
void selftest_clear(struct selftest_machine *machine);
/* Makes the helper program and the memory that it hands out, once. */
AGX_MUST_CHECK agx_status selftest_make_helper(struct selftest_machine *machine);
/* Writes code, launch words, uniforms and the stream of a launch. */
AGX_MUST_CHECK agx_status selftest_prepare(struct selftest_machine *machine,
                                           const struct selftest_launch *launch);
/* Submits what is prepared and waits for it, 30 seconds at most. A submission that fails on the
 * GPU is an outcome and no failure of the function. */
AGX_MUST_CHECK agx_status selftest_submit(struct selftest_machine *machine,
                                          struct selftest_outcome *out_outcome);
/* The same for any number of commands, on a queue of the machine's device, behind a point (or
 * NULL); the point that it reaches may be waited for by the next. */
AGX_MUST_CHECK agx_status selftest_submit_on(struct selftest_machine *machine,
                                             struct agxw_queue *queue,
                                             const struct agxw_compute *commands, uint32_t count,
                                             struct selftest_outcome *out_outcome);
/* The command of what is prepared, with the machine's timestamps. */
struct agxw_compute selftest_command(const struct selftest_machine *machine);
/* The last two in one. */
AGX_MUST_CHECK agx_status selftest_run(struct selftest_machine *machine,
                                       const struct selftest_launch *launch,
                                       struct selftest_outcome *out_outcome);

/* Lines of text, also by ';', to machine code with a stop and traps behind it. "name:" marks a
 * place, offset=@name refers to one; ".hex 3800" gives the bytes themselves. Atomics get the chip's
 * coherency. from (or NULL) is replaced by `to` wherever it stands; it must stand somewhere. */
AGX_MUST_CHECK agx_status selftest_assemble(const struct agx_chip *chip, const char *text,
                                            const char *from, const char *to, uint8_t *out_code,
                                            size_t capacity, size_t *out_length);

/* ---- experiments --------------------------------------------------------- */

struct selftest_value {
   char name[32];
   uint64_t value;
   uint32_t slack; /* per mille by which two of them may differ and still agree */
   bool is_told;   /* only for the report: not compared */
};

#define SELFTEST_MAX_VALUES (4 * SELFTEST_MAX_THREADS + 64)

/* What one run of an experiment showed. */
struct selftest_seen {
   uint32_t count;
   struct selftest_value value[SELFTEST_MAX_VALUES];
   char text[256]; /* of a submission that failed */
};

/* Adds a value; beyond the room there is, values are dropped. */
void selftest_see(struct selftest_seen *seen, uint64_t value, const char *name, ...)
   __attribute__((format(printf, 3, 4)));
/* The same, for one that only the report tells. */
void selftest_tell(struct selftest_seen *seen, uint64_t value, const char *name);
/* Adds the error of a submission that failed, and its text. */
void selftest_see_failure(struct selftest_machine *machine, const struct selftest_outcome *outcome,
                          struct selftest_seen *seen);
/* Adds the first words of each thread's output: 4 at most. */
void selftest_see_output(const struct selftest_machine *machine, uint32_t threads, uint32_t words,
                         struct selftest_seen *seen);

enum selftest_inputs {
   SELFTEST_INTS,   /* corners and random numbers of 32 bits */
   SELFTEST_FLOATS, /* singles */
   SELFTEST_HALVES, /* two halves each */
   SELFTEST_LANES,  /* the thread's number, its square, 1000 + it, random bits */
};

enum selftest_flags {
   SELFTEST_RISKY = 1,    /* may hang the GPU */
   SELFTEST_NO_FRAME = 2, /* the program loads and stores for itself */
   SELFTEST_HARDWARE = 4, /* times of real hardware only: no modelled device behind a DRM node */
   SELFTEST_SOFT = 8,     /* meets unmapped memory, which ends a submission without soft faults */
   SELFTEST_PIXELS_SEEN = 16, /* what is stored to the image is compared, too */
};

/* What a texture, a storage image and two samplers are like. Zeros: 8 by 8 texels in two
 * dimensions, one level, the GPU's tiles, nearest texels, a transparent border. */
struct selftest_image {
   uint32_t channels, type, dimension, layout; /* as the descriptors of agx/hw have them */
   uint32_t width, height, depth, levels;
   uint32_t stride;        /* bytes of a row, of linear ones */
   bool srgb, is_reversed; /* is_reversed: R, G, B, A come from A, B, G, R */
   uint32_t filter, mip, border, anisotropy;
   bool has_tile; /* the launch has tile memory, 8 bytes a sample */
   bool compare;  /* less */
   bool has_wrap;
   uint32_t wrap;
};

/* Loads what selftest_write_image wrote: ts0, ts1, ss0 and ss1. */
#define SELFTEST_IMAGE_PREAMBLE                                                                    \
   "tex_state_store ts=ts0 heap=du12 offset=0 group=a; "                                           \
   "tex_state_store ts=ts1 heap=du12 offset=24 group=a; "                                          \
   "sampler_state_store ss=ss0 heap=du12 offset=64 group=a; "                                      \
   "sampler_state_store ss=ss1 heap=du12 offset=72 group=a; wait group=a"

/* Writes descriptors and pixels. */
AGX_MUST_CHECK agx_status selftest_write_image(struct selftest_machine *machine,
                                               const struct selftest_image *image);

struct selftest_experiment;
typedef agx_status selftest_fn(const struct selftest_experiment *experiment,
                               struct selftest_machine *machine, bool is_altered,
                               struct selftest_seen *seen);

struct selftest_experiment {
   const char *name;
   const char *ids; /* the questions that it asks, a blank between them; may be "" */
   selftest_fn *run;
   unsigned flags;         /* enum selftest_flags */
   const char *what;       /* of those with a function: what they do, in words */
   const char *alteration; /* of those with a function: what the device is given instead */
   enum selftest_inputs inputs;
   const struct selftest_image *image; /* of those about images */
   struct selftest_launch launch;      /* of programs, with their alteration in from and to */
};

/* Runs the program of an experiment between a prologue and an epilogue: r4 is the thread in the
 * grid, r8 to r11 its inputs; r12 to r15 are its outputs, 0xeeeeeeee before. */
selftest_fn selftest_run_row;

struct selftest_group {
   const char *name;
   const struct selftest_experiment *experiments;
   uint32_t count;
};
extern const struct selftest_group selftest_alu, selftest_lanes, selftest_memory, selftest_control,
   selftest_unknown, selftest_launches, selftest_submissions, selftest_images, selftest_rates;

/* ---- questions ----------------------------------------------------------- */

struct selftest_question {
   const char *id, *text;
   const char *reason; /* why no experiment asks it, or NULL */
};
extern const struct selftest_question selftest_questions[];
extern const uint32_t selftest_question_count;
/* Whether an experiment asks the question with that id. */
bool selftest_asks(const struct selftest_experiment *experiment, const char *id);

/* ---- results ------------------------------------------------------------- */

enum selftest_verdict {
   SELFTEST_AGREES,
   SELFTEST_DIFFERS,
   SELFTEST_COULD_NOT_RUN,
};

struct selftest_result {
   const struct selftest_experiment *experiment;
   const char *group;
   enum selftest_verdict verdict;
   char reason[256];          /* of what could not run, or of failures */
   uint32_t different, first; /* values that differ; the first of them */
   uint32_t count;            /* values of the device, which follow only where some differ */
   struct selftest_value *device, *expected;
   uint32_t expected_count;
   uint64_t ns;
};

struct selftest_report {
   struct agxw_device_info info;
   bool is_mutation;
   struct selftest_result *results;
   uint32_t count;
};

/* Whether a value of the device is what was expected, as far as the two are compared. */
bool selftest_agree(const struct selftest_value *device, const struct selftest_value *expected);
/* Compares, and copies what is needed for the report into *result. */
void selftest_compare(const struct selftest_seen *device, const struct selftest_seen *expected,
                      struct selftest_result *result);
/* One line or more about a result. */
void selftest_print_result(const struct selftest_result *result, bool is_mutation);
/* The machine-readable report. */
void selftest_print_json(const struct selftest_report *report, void *file);
