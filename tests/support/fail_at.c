// SPDX-License-Identifier: BSD-3-Clause
// This library is preloaded into one rank of a program under test and makes the rank fail at a
// chosen place.
//
//   TRIREME_KILL_AT=H5Dwrite:2  The second call of this function sends SIGKILL to the rank.
//   TRIREME_NO_MEMORY_AT=40     From the 40th allocation of 32 KiB or more on, the rank gets no
//                               more memory than it has at that time. Memory that it frees is
//                               available again. Open MPI itself gets what it asks for: without
//                               memory for its requests it waits for ever, which no caller can end.
//   TRIREME_COUNT_INTO=file     At its end the rank writes to this file the number of such
//                               allocations since MPI_Init_thread.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- SIGKILL ------------------------------------------------------------------------------------

static void kill_at(const char* name) {
  static atomic_long calls;
  const char* wanted = getenv("TRIREME_KILL_AT");
  const size_t length = strlen(name);
  if (!wanted || strncmp(wanted, name, length) != 0 || wanted[length] != ':') return;
  if (atomic_fetch_add(&calls, 1) + 1 == atol(wanted + length + 1)) raise(SIGKILL);
}

// Watches a function whose arguments are integers and pointers. Up to six of them are in
// registers, and they are passed on unchanged.
#define WATCH(name)                                                                          \
  long name(long a, long b, long c, long d, long e, long f) {                                \
    static long (*next)(long, long, long, long, long, long);                                 \
    if (!next) next = (long (*)(long, long, long, long, long, long))dlsym(RTLD_NEXT, #name); \
    kill_at(#name);                                                                          \
    return next(a, b, c, d, e, f);                                                           \
  }

WATCH(H5Dget_offset)
WATCH(MatShellSetOperation)
WATCH(KSPSetUp)
WATCH(H5Dwrite)
WATCH(MPI_Send)

int rename(const char* from, const char* to) {
  static int (*next)(const char*, const char*);
  if (!next) next = (int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename");
  kill_at("rename");
  return next(from, to);
}

// PetscErrorCode KSPMonitor(KSP, PetscInt, PetscReal)
int KSPMonitor(void* ksp, int iteration, double norm) {
  static int (*next)(void*, int, double);
  if (!next) next = (int (*)(void*, int, double))dlsym(RTLD_NEXT, "KSPMonitor");
  kill_at("KSPMonitor");
  return next(ksp, iteration, norm);
}

// --- memory -------------------------------------------------------------------------------------

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

extern void __libc_free(void*);

enum { kLarge = 32 << 10 };  // smaller allocations are granted and not counted

static atomic_int begun;
static atomic_long allocations, held, limit;  // held: bytes in large allocations

static long refused_from(void) {
  static long from = -1;  // not read yet
  if (from < 0) {
    const char* text = getenv("TRIREME_NO_MEMORY_AT");
    from = text ? atol(text) : 0;
  }
  return from;
}

static int is_open_mpi(const void* caller) {
  Dl_info place;
  if (!dladdr(caller, &place) || !place.dli_fname) return 0;
  return strstr(place.dli_fname, "libopen-") || strstr(place.dli_fname, "libmpi") ||
         strstr(place.dli_fname, "/openmpi/");
}

static int refused(size_t bytes, const void* caller) {
  if (bytes < kLarge || !atomic_load(&begun) || is_open_mpi(caller)) return 0;
  const long number = atomic_fetch_add(&allocations, 1) + 1;
  if (refused_from() == 0 || number < refused_from()) return 0;
  if (number == refused_from()) atomic_store(&limit, atomic_load(&held));
  if (atomic_load(&held) + (long)bytes <= atomic_load(&limit)) return 0;
  errno = ENOMEM;
  return 1;
}

static long large_bytes(void* memory) {
  const size_t bytes = memory ? malloc_usable_size(memory) : 0;
  return bytes < kLarge ? 0 : (long)bytes;
}

static void* counted(void* memory) {
  atomic_fetch_add(&held, large_bytes(memory));
  return memory;
}

#define CALLER __builtin_return_address(0)

static void* allocate_aligned(size_t alignment, size_t bytes, const void* caller) {
  return refused(bytes, caller) ? NULL : counted(__libc_memalign(alignment, bytes));
}

void* malloc(size_t bytes) { return refused(bytes, CALLER) ? NULL : counted(__libc_malloc(bytes)); }
void* calloc(size_t count, size_t bytes) {
  return refused(count * bytes, CALLER) ? NULL : counted(__libc_calloc(count, bytes));
}
void* realloc(void* old, size_t bytes) {
  if (refused(bytes, CALLER)) return NULL;
  atomic_fetch_sub(&held, large_bytes(old));
  return counted(__libc_realloc(old, bytes));
}
void* memalign(size_t alignment, size_t bytes) {
  return allocate_aligned(alignment, bytes, CALLER);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return allocate_aligned(alignment, bytes, CALLER);
}
int posix_memalign(void** result, size_t alignment, size_t bytes) {
  void* memory = allocate_aligned(alignment, bytes, CALLER);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}
void free(void* memory) {
  atomic_fetch_sub(&held, large_bytes(memory));
  __libc_free(memory);
}

// The allocations of MPI before this point are not counted.
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int (*next)(int*, char***, int, int*) =
      (int (*)(int*, char***, int, int*))dlsym(RTLD_NEXT, "MPI_Init_thread");
  const int error = next(argc, argv, required, provided);
  atomic_store(&begun, 1);
  return error;
}

__attribute__((destructor)) static void write_count(void) {
  const char* name = getenv("TRIREME_COUNT_INTO");
  FILE* file = name ? fopen(name, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", atomic_load(&allocations));
  fclose(file);
}
