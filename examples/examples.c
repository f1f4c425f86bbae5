/* SPDX-License-Identifier: MIT
 *
 * Runs four kernels through agxhal, checks each against the CPU, writes
 * mandelbrot.png, and prints what became of them. Uses the public header only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "image.h"
#include "reference.h"

/* SPIR-V from the .comp files, made at build time. */
#include "mandelbrot.spv.h"
#include "matmul_tiled.spv.h"
#include "reduction.spv.h"
#include "saxpy.spv.h"

static const char *run_saxpy(struct gpu *gpu, struct gpu_run *run)
{
   enum {
      COUNT = 100000
   };
   struct gpu_buffer x, y;
   struct {
      float a;
      uint32_t count;
   } arguments = {2.5f, COUNT};
   float *before = malloc(COUNT * sizeof(float));
   if (!before || !gpu_buffer(gpu, COUNT * sizeof(float), &x) ||
       !gpu_buffer(gpu, COUNT * sizeof(float), &y))
      return gpu_error();
   fill_floats(x.memory, COUNT, 1);
   fill_floats(y.memory, COUNT, 2);
   memcpy(before, y.memory, COUNT * sizeof(float));
   *run = (struct gpu_run){.spirv = saxpy_spv,
                           .spirv_bytes = sizeof(saxpy_spv),
                           .buffers = {&x, &y},
                           .buffer_count = 2,
                           .arguments = &arguments,
                           .argument_bytes = sizeof(arguments),
                           .workgroups = {(COUNT + 63) / 64, 1, 1}};
   if (!gpu_execute(gpu, run))
      return gpu_error();
   const char *wrong = check_saxpy(x.memory, before, y.memory, arguments.a, COUNT);
   gpu_buffer_free(&x);
   gpu_buffer_free(&y);
   free(before);
   return wrong;
}

static const char *run_reduction(struct gpu *gpu, struct gpu_run *run)
{
   enum {
      COUNT = 250000,
      GROUPS = 32
   };
   struct gpu_buffer data, sums;
   uint32_t count = COUNT;
   if (!gpu_buffer(gpu, COUNT * sizeof(uint32_t), &data) ||
       !gpu_buffer(gpu, GROUPS * sizeof(uint32_t), &sums))
      return gpu_error();
   fill_integers(data.memory, COUNT, 3);
   *run = (struct gpu_run){.spirv = reduction_spv,
                           .spirv_bytes = sizeof(reduction_spv),
                           .buffers = {&data, &sums},
                           .buffer_count = 2,
                           .arguments = &count,
                           .argument_bytes = sizeof(count),
                           .workgroups = {GROUPS, 1, 1}};
   if (!gpu_execute(gpu, run))
      return gpu_error();
   const char *wrong = check_reduction(data.memory, COUNT, sums.memory, GROUPS, 256);
   gpu_buffer_free(&data);
   gpu_buffer_free(&sums);
   return wrong;
}

static const char *run_matmul(struct gpu *gpu, struct gpu_run *run)
{
   enum {
      ROWS = 96,
      COLUMNS = 128,
      INNER = 64
   };
   struct gpu_buffer a, b, c;
   uint32_t arguments[] = {ROWS, COLUMNS, INNER};
   if (!gpu_buffer(gpu, ROWS * INNER * sizeof(float), &a) ||
       !gpu_buffer(gpu, INNER * COLUMNS * sizeof(float), &b) ||
       !gpu_buffer(gpu, ROWS * COLUMNS * sizeof(float), &c))
      return gpu_error();
   fill_floats(a.memory, ROWS * INNER, 4);
   fill_floats(b.memory, INNER * COLUMNS, 5);
   *run = (struct gpu_run){.spirv = matmul_tiled_spv,
                           .spirv_bytes = sizeof(matmul_tiled_spv),
                           .buffers = {&a, &b, &c},
                           .buffer_count = 3,
                           .arguments = arguments,
                           .argument_bytes = sizeof(arguments),
                           .workgroups = {COLUMNS / 16, ROWS / 16, 1}};
   if (!gpu_execute(gpu, run))
      return gpu_error();
   const char *wrong = check_matmul(a.memory, b.memory, c.memory, ROWS, COLUMNS, INNER);
   gpu_buffer_free(&a);
   gpu_buffer_free(&b);
   gpu_buffer_free(&c);
   return wrong;
}

static const char *run_mandelbrot(struct gpu *gpu, struct gpu_run *run)
{
   /* The order is that of the kernel's push constants. */
   static const struct mandelbrot_view view = {
      .width = 480, .height = 320, .limit = 250, .left = -2.1f, .top = -1.0f, .step = 0.00625f};
   const uint32_t pixels = view.width * view.height;
   struct gpu_buffer iterations;
   if (!gpu_buffer(gpu, pixels * sizeof(uint32_t), &iterations))
      return gpu_error();
   *run = (struct gpu_run){.spirv = mandelbrot_spv,
                           .spirv_bytes = sizeof(mandelbrot_spv),
                           .buffers = {&iterations},
                           .buffer_count = 1,
                           .arguments = &view,
                           .argument_bytes = sizeof(view),
                           .workgroups = {(view.width + 7) / 8, (view.height + 7) / 8, 1}};
   if (!gpu_execute(gpu, run))
      return gpu_error();
   const char *wrong = check_mandelbrot(iterations.memory, &view);
   if (!write_mandelbrot("mandelbrot.png", iterations.memory, view.width, view.height, view.limit))
      wrong = "mandelbrot.png can't be written";
   gpu_buffer_free(&iterations);
   return wrong;
}

static const struct {
   const char *name;
   const char *(*run)(struct gpu *gpu, struct gpu_run *run); /* what is wrong, or NULL */
} examples[] = {
   {"saxpy", run_saxpy},
   {"reduction", run_reduction},
   {"matmul_tiled", run_matmul},
   {"mandelbrot", run_mandelbrot},
};

static void print_header(const struct gpu *gpu)
{
   if (gpu->is_virtual)
      printf("There is no usable AGX device here: the kernels run on the virtual AGX,\n"
             "a simulation in software. Times are the simulator's, not a GPU's.\n\n");
   printf("%-20s %-13s %6s %6s %5s %5s %6s %7s %10s  %s\n", "device", "kernel", "instr", "bytes",
          "regs", "unif", "SIMDs", "cycles", "time", "result");
}

static void print_row(const struct gpu *gpu, const char *name, const struct gpu_run *run,
                      const char *wrong)
{
   printf("%-20s %-13s %6u %6u %5u %5u %6u %7u %7.2f ms  %s\n", gpu->name, name, run->instructions,
          run->bytes, run->registers, run->uniforms, run->simd_groups, run->cycles, run->ms,
          wrong ? wrong : "correct");
}

int main(int argc, char **argv)
{
   struct gpu gpu;
   int failures = 0;
   if (!gpu_open(argc > 1 ? argv[1] : NULL, &gpu)) {
      fprintf(stderr, "examples: %s\n", gpu_error());
      return 1;
   }
   print_header(&gpu);
   for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
      struct gpu_run run = {0};
      const char *wrong = examples[i].run(&gpu, &run);
      print_row(&gpu, examples[i].name, &run, wrong);
      failures += wrong != NULL;
   }
   gpu_close(&gpu);
   return failures != 0;
}
