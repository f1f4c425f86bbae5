/* SPDX-License-Identifier: MIT
 *
 * vkcorpus: runs the kernels of a corpus folder on a Vulkan device and compares what
 * they wrote with the references, each kernel in a process of its own, so that one that
 * crashes, hangs or loses the device spoils no other. With --batch N up to N kernels share a
 * process and its device, which saves most of the time of small kernels; the one that ends a
 * process or loses the device fails, and the next process goes on behind it.
 *
 *    vkcorpus [--device NAME] [--robust] [--limit SECONDS] [--best N] [--batch N] [--tsv FILE]
 *             [--dump DIR] FOLDER [KERNEL...]
 *
 * Progress goes to standard output; --tsv writes kernel, verdict, milliseconds, words, the
 * milliseconds of the quickest of N compilations (1), and the driver's statistics of the pipeline.
 * --dump compares nothing: it writes each output to DIR/KERNEL.ID.bin, and what the buffer held
 * before to DIR/KERNEL.ID.before.
 */
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"
#include "vk.h"

struct options {
   const char *device, *tsv, *folder, *dump;
   bool robust;
   unsigned limit_s, best, batch;
};

struct result {
   char verdict[16]; /* same, close, ran or compiled (nothing compared), FAIL */
   char words[400];
   double compile_ms;
   char statistics[VK_STATISTICS_CAPACITY];
};

static double now_ms(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* The reference of an output, of exactly that size. */
static agx_status read_reference(const char *folder, const char *kernel, uint32_t id, uint64_t size,
                                 uint8_t **out_data)
{
   char path[1024];
   snprintf(path, sizeof(path), "%s/ref/%s.%u.bin", folder, kernel, id);
   FILE *file = fopen(path, "rb");
   if (!file)
      return AGX_FAIL(AGX_NOT_FOUND, "%s: %s", path, strerror(errno));
   *out_data = malloc(size + 1);
   size_t got = *out_data ? fread(*out_data, 1, size + 1, file) : 0;
   fclose(file);
   if (got != size)
      return AGX_FAIL(AGX_DATA_LOSS, "%s: not %llu bytes", path, (unsigned long long)size);
   return AGX_OK;
}

static agx_status compare(const struct options *options, const char *kernel,
                          const struct agx_manifest *manifest, const struct vk_resource *resources,
                          struct result *result)
{
   snprintf(result->verdict, sizeof(result->verdict), "same");
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *desc = &manifest->resources[i];
      char words[300] = "";
      uint8_t *reference = NULL;
      if (!desc->is_output)
         continue;
      AGX_TRY(read_reference(options->folder, kernel, desc->id, resources[i].size_B, &reference));
      bool same = memcmp(resources[i].mapped, reference, resources[i].size_B) == 0;
      bool matches = same || agx_manifest_compare(manifest, resources[i].mapped, reference,
                                                  resources[i].size_B, words, sizeof(words));
      free(reference);
      if (!matches)
         return AGX_FAIL(AGX_DATA_LOSS, "output %u: %s", desc->id, words);
      if (!same) {
         snprintf(result->verdict, sizeof(result->verdict), "close");
         snprintf(result->words, sizeof(result->words), "output %u: %s", desc->id, words);
      }
   }
   return AGX_OK;
}

static agx_status write_file(const char *folder, const char *kernel, uint32_t id,
                             const char *ending, const void *data, uint64_t size)
{
   char path[1024];
   snprintf(path, sizeof(path), "%s/%s.%u.%s", folder, kernel, id, ending);
   FILE *file = fopen(path, "wb");
   if (!file)
      return AGX_FAIL(AGX_NOT_FOUND, "%s: %s", path, strerror(errno));
   bool whole = fwrite(data, 1, size, file) == size;
   whole &= fclose(file) == 0;
   return whole ? AGX_OK : AGX_FAIL(AGX_DATA_LOSS, "%s: %s", path, strerror(errno));
}

/* Buffers, with what they were filled with; addresses among it are left out. */
static agx_status dump(const struct options *options, const char *kernel,
                       const struct agx_manifest *manifest, const struct vk_resource *resources)
{
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *desc = &manifest->resources[i];
      uint64_t size_B = resources[i].size_B;
      if (!desc->is_output)
         continue;
      uint8_t *before = malloc(size_B);
      if (!before)
         return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for output %u", desc->id);
      agx_manifest_fill(&desc->init, before, size_B, NULL, NULL);
      agx_status status = write_file(options->dump, kernel, desc->id, "before", before, size_B);
      free(before);
      AGX_TRY(status);
      AGX_TRY(write_file(options->dump, kernel, desc->id, "bin", resources[i].mapped, size_B));
   }
   return AGX_OK;
}

static agx_status run_here(const struct options *options, const struct vk_device *device,
                           const char *kernel, struct result *result)
{
   static struct agx_manifest manifest;
   static struct vk_resource resources[AGX_MANIFEST_MAX_RESOURCES];
   char path[1024];
   memset(resources, 0, sizeof(resources));
   snprintf(path, sizeof(path), "%s/%s.txt", options->folder, kernel);
   AGX_TRY(agx_manifest_load(path, &manifest));
   snprintf(path, sizeof(path), "%s/%s.spv", options->folder, kernel);
   AGX_TRY(vk_kernel_run(device, path, &manifest, resources, options->best, &result->compile_ms,
                         options->dump ? result->statistics : NULL));
   if (options->dump || manifest.slot_count) {
      snprintf(result->verdict, sizeof(result->verdict), manifest.slot_count ? "compiled" : "ran");
      return manifest.slot_count ? AGX_OK : dump(options, kernel, &manifest, resources);
   }
   return compare(options, kernel, &manifest, resources, result);
}

/* The child: its results go through the pipe; the device's clean-up is the kernel's. */
_Noreturn static void run_child(const struct options *options, char **kernels, size_t count, int fd)
{
   struct vk_device device;
   bool whole = true;
   alarm(options->limit_s);
   agx_status opened = vk_device_open(options->device, options->robust, &device);
   bool usable = true; /* a device that was lost fails whatever comes after it */
   for (size_t i = 0; i < count && whole && usable; i++) {
      struct result result = {0};
      alarm(options->limit_s);
      agx_status status =
         opened == AGX_OK ? run_here(options, &device, kernels[i], &result) : opened;
      usable = status != AGX_INTERNAL;
      if (status != AGX_OK) {
         snprintf(result.verdict, sizeof(result.verdict), "FAIL");
         snprintf(result.words, sizeof(result.words), "%s", agx_error_peek());
      }
      whole = write(fd, &result, sizeof(result)) == (ssize_t)sizeof(result);
   }
   _exit(whole ? 0 : 1);
}

/* Prints and writes the result of kernel `number`. True when it matched. */
static bool tell(const char *kernel, size_t number, size_t count, struct result *result, double ms,
                 FILE *tsv)
{
   for (char *at = result->words; *at; at++)
      if (*at == '\t' || *at == '\n')
         *at = ' ';
   printf("[%2zu/%zu] %-22s %-5s %8.0f ms  %s\n", number, count, kernel, result->verdict, ms,
          result->words);
   fflush(stdout);
   if (tsv)
      fprintf(tsv, "%s\t%s\t%.0f\t%s\t%.4f\t%s\n", kernel, result->verdict, ms, result->words,
              result->compile_ms, result->statistics);
   return strcmp(result->verdict, "FAIL") != 0;
}

/* What became of a child that ended without the result of a kernel. */
static void explain(const struct options *options, pid_t pid, int status, struct result *out)
{
   *out = (struct result){.verdict = "FAIL"};
   if (pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
      snprintf(out->words, sizeof(out->words), "not done after %u s", options->limit_s);
   else if (pid > 0 && WIFSIGNALED(status))
      snprintf(out->words, sizeof(out->words), "ended by signal %d", WTERMSIG(status));
   else
      snprintf(out->words, sizeof(out->words), "the process went without a result");
}

/* Runs kernels from `first` on, at most a batch of them; *out_good counts those that matched.
 * Returns how many were run, at least one. */
static size_t run_batch(const struct options *options, char **names, size_t first, size_t count,
                        FILE *tsv, size_t *out_good)
{
   int pipes[2], status = 0;
   size_t batch = count - first < options->batch ? count - first : options->batch, done = 0;
   struct result result = {.verdict = "FAIL"};
   if (pipe(pipes)) {
      snprintf(result.words, sizeof(result.words), "pipe: %s", strerror(errno));
      tell(names[first], first + 1, count, &result, 0, tsv);
      return 1;
   }
   fflush(NULL);
   double start = now_ms();
   pid_t pid = fork();
   if (pid == 0)
      run_child(options, names + first, batch, pipes[1]);
   close(pipes[1]);
   while (pid > 0 && done < batch &&
          read(pipes[0], &result, sizeof(result)) == (ssize_t)sizeof(result)) {
      double now = now_ms();
      *out_good += tell(names[first + done], first + done + 1, count, &result, now - start, tsv);
      start = now;
      done++;
   }
   close(pipes[0]);
   while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
      ;
   if (done == batch || (done && WIFEXITED(status) && WEXITSTATUS(status) == 0))
      return done;
   explain(options, pid, status, &result);
   tell(names[first + done], first + done + 1, count, &result, now_ms() - start, tsv);
   return done + 1;
}

/* Names of all kernels in the folder that have a manifest: of .txt files. */
static size_t list_kernels(const char *folder, char ***out_names)
{
   char pattern[1024];
   glob_t found;
   snprintf(pattern, sizeof(pattern), "%s/*.txt", folder);
   if (glob(pattern, 0, NULL, &found))
      return 0;
   for (size_t i = 0; i < found.gl_pathc; i++) {
      char *name = strrchr(found.gl_pathv[i], '/') + 1;
      *strrchr(name, '.') = 0;
      found.gl_pathv[i] = name;
   }
   *out_names = found.gl_pathv; /* lives as long as the process */
   return found.gl_pathc;
}

/* Index of the first argument that is no option, or -1. */
static int parse(int argc, char **argv, struct options *options)
{
   int at = 1;
   for (; at < argc && argv[at][0] == '-'; at++) {
      const char *value = at + 1 < argc ? argv[at + 1] : NULL;
      if (strcmp(argv[at], "--robust") == 0) {
         options->robust = true;
         continue;
      }
      if (strcmp(argv[at], "--device") == 0)
         options->device = value;
      else if (strcmp(argv[at], "--tsv") == 0)
         options->tsv = value;
      else if (strcmp(argv[at], "--dump") == 0)
         options->dump = value;
      else if (strcmp(argv[at], "--limit") == 0)
         options->limit_s = value ? (unsigned)atoi(value) : 0;
      else if (strcmp(argv[at], "--best") == 0)
         options->best = value ? (unsigned)atoi(value) : 0;
      else if (strcmp(argv[at], "--batch") == 0)
         options->batch = value ? (unsigned)atoi(value) : 0;
      else
         return -1;
      if (!value)
         return -1;
      at++;
   }
   return at < argc && options->limit_s && options->best && options->batch ? at : -1;
}

int main(int argc, char **argv)
{
   struct options options = {.device = "Apple", .limit_s = 120, .best = 1, .batch = 1};
   int at = parse(argc, argv, &options);
   if (at < 0) {
      fprintf(stderr, "usage: vkcorpus [--device NAME] [--robust] [--limit SECONDS] [--best N] "
                      "[--batch N] [--tsv FILE] [--dump DIR] FOLDER [KERNEL...]\n");
      return 2;
   }
   options.folder = argv[at++];
   char **names = argv + at;
   size_t count = (size_t)(argc - at), good = 0;
   if (!count)
      count = list_kernels(options.folder, &names);
   FILE *tsv = options.tsv ? fopen(options.tsv, "w") : NULL;
   if (!count || (options.tsv && !tsv)) {
      fprintf(stderr, "vkcorpus: %s: %s\n", count ? options.tsv : options.folder,
              count ? strerror(errno) : "no kernels");
      return 2;
   }
   for (size_t i = 0; i < count;)
      i += run_batch(&options, names, i, count, tsv, &good);
   if (tsv)
      fclose(tsv);
   printf("%zu of %zu kernels match\n", good, count);
   return good != count;
}
