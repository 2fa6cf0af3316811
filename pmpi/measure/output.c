/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "measure/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int aps_output_open(struct aps_output *output, const char *path)
{
    int descriptor;

    *output = (struct aps_output){.path = path};
    if (strcmp(path, "-") == 0) {
        output->stream = stdout;
        return 0;
    }
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    output->made = descriptor >= 0;
    /* This also creates the target of a dangling link. */
    if (descriptor < 0 && errno == EEXIST)
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return -1;
    output->stream = fdopen(descriptor, "w");
    if (output->stream)
        return 0;
    close(descriptor);
    if (output->made)
        (void)unlink(path);
    errno = ENOMEM;
    return -1;
}

int aps_output_begin(struct aps_output *output)
{
    struct stat found;

    output->made = false;
    if (output->stream == stdout)
        return 0;
    if (fstat(fileno(output->stream), &found) < 0)
        return -1;
    /* A pipe or a device has no old text. */
    return S_ISREG(found.st_mode) ? ftruncate(fileno(output->stream), 0) : 0;
}

int aps_output_end(struct aps_output *output)
{
    FILE *stream = output->stream;
    const bool bad = fflush(stream) != 0 || ferror(stream);
    const int saved = errno;

    output->stream = NULL;
    if (stream != stdout && fclose(stream) != 0 && !bad)
        return -1;
    errno = saved;
    return bad ? -1 : 0;
}

void aps_output_drop(struct aps_output *output)
{
    if (!output->stream)
        return;
    if (output->stream != stdout)
        (void)fclose(output->stream);
    if (output->made)
        (void)unlink(output->path);
    output->stream = NULL;
}
