// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps memory that tensors have released within this program.
//
// The C library returns every large block to the kernel as soon as it is freed, and the kernel
// clears it page by page when the next training step asks for it again: up to a third of a step's
// time. Here blocks up to 8 MB come from the heap as well, which is trimmed when 2 GB at its end
// are free; `malloc_trim` at the end of a run returns them all. Larger ones, of language models,
// would leave holes in it that raise the peak by a tenth. One heap for all threads: others cannot
// hold large blocks. Compiled into every program that uses LibTorch, and called before main.
#include <malloc.h>

namespace {

[[gnu::constructor]] void keepMemory() {
#if defined(__GLIBC__)
    constexpr int kMegabyte = 1 << 20;
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 8 * kMegabyte);
    mallopt(M_TRIM_THRESHOLD, 2047 * kMegabyte);  // an int
    mallopt(M_TOP_PAD, 128 * kMegabyte);
#endif
}

}  // namespace
