/* SPDX-License-Identifier: BSD-3-Clause */
/* The input is a machine file, as apsmpi-measure writes it. */
#include "config.h"

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "predict/measured.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct aps_errors errors;
    static struct aps_measured measured;
    static char path[64];
    static int file = -1;

    if (file < 0) {
        file = memfd_create("machine", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    fuzz_require(ftruncate(file, 0) == 0 &&
                     pwrite(file, data, size, 0) == (ssize_t)size,
                 "the input cannot be written to a file");
    errors.count = errors.warning_count = 0;
    if (aps_measured_read(path, &measured, &errors) < 0)
        fuzz_require(errors.count > 0, "a machine is refused without a cause");
    return 0;
}
