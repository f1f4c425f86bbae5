/* SPDX-License-Identifier: MIT
 *
 * Random compute kernels in SPIR-V: structured control flow of any kind, integers and floats
 * of all widths, workgroup and private memory, calls, and operations between lanes. Whatever
 * the seed, what a kernel computes is defined: shifts stay below the width, divisors are
 * positive, loops end, indices are masked, floats are never contracted, lanes reconverge as
 * SPV_KHR_maximal_reconvergence has it. That leaves open which lanes meet inside of a switch: only
 * kernels that say so have operations between lanes there, and none but our own results to compare.
 */
#pragma once

#include "support.h"

#define RANDOM_THREADS    64u /* of a workgroup */
#define RANDOM_IN_WORDS   1024u
#define RANDOM_OUT_WORDS  16u /* of a thread */
#define RANDOM_GROUPS     2u
#define RANDOM_TAIL_AT    (RANDOM_GROUPS * RANDOM_THREADS * RANDOM_OUT_WORDS)
#define RANDOM_TAIL       8u /* words behind what the threads write, for atomics of all of them */
#define RANDOM_UNIFORM_B  1024u /* of the uniform buffer, and words of push constants: */
#define RANDOM_PUSH_WORDS 12u
#define RANDOM_MAX_WORDS  65536u

/* What a kernel may use; bits. */
enum random_features {
   RANDOM_INT8 = 1,
   RANDOM_INT16 = 2,
   RANDOM_INT64 = 4,
   RANDOM_FLOAT16 = 8,
   RANDOM_FLOAT32 = 16,
   RANDOM_SUBGROUP = 32, /* results depend on the size of a subgroup */
   RANDOM_SHARED = 64,
   RANDOM_MEMORY = 128, /* the output read and written as elements of all kinds */
   RANDOM_ZEROS = 256,  /* signs of zeros are kept, as SignedZeroInfNanPreserve asks */
   RANDOM_WIDE = 512,   /* what wide.c adds; also needs a uniform buffer and push constants */
   RANDOM_ALL = 1023,
   RANDOM_FLOAT64 = 1024, /* not in RANDOM_ALL: an operation is a hundred instructions */
   RANDOM_SUMS = 2048,    /* not in RANDOM_ALL: loops of one block that load and sum */
};

struct random_kernel {
   uint32_t words[RANDOM_MAX_WORDS];
   uint32_t count;
   uint32_t binding_count; /* that it declares, from 0 on */
   bool is_open;           /* may have operations between lanes in switches */
};

/* The kernel of a seed (not 0); features says what it may use. Binding 0 of set 0 are
 * RANDOM_IN_WORDS words of input, binding 1 RANDOM_OUT_WORDS words of output for each thread
 * and RANDOM_TAIL words of zeros. With RANDOM_WIDE, binding 2 is a uniform buffer. */
void random_kernel_make(struct random_kernel *kernel, uint64_t seed, uint32_t features);
