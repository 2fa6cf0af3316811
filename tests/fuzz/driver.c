/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a target of this folder on files, on their beginnings and on mutations
 * of them:
 *
 *     TARGET [--seconds N] FILE...
 *
 * Without --seconds each file has 200 mutations, which are the same in every
 * run; with it, other mutations in each run follow. An input that ends the target,
 * or takes longer than 20 seconds of a core, is written to TARGET.input in the
 * working directory; run the target on that file to repeat it. The entry of a
 * target is that of libFuzzer: with clang, a target without this file can be linked
 * with -fsanitize=fuzzer instead.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

#define SIZE_MOST ((size_t)1 << 16)
#define MUTATIONS 200
#define LONGEST 20 /* seconds of a core for an input */

struct input {
    uint8_t *bytes;
    size_t size;
};

static struct input current;
static char path[64];

static void keep_input(int number)
{
    const int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);

    if (file >= 0 &&
        write(file, current.bytes, current.size) == (ssize_t)current.size)
        dprintf(STDERR_FILENO, "signal %d: %s has the input\n", number, path);
    signal(number, SIG_DFL);
    raise(number);
}

/* Runs the target on a copy without memory after it, so that a sanitizer can
 * find a read there. Returns its result. */
static int run(const uint8_t *bytes, size_t size)
{
    static const struct itimerval longest = {.it_value.tv_sec = LONGEST};
    int result;

    current.size = size;
    current.bytes = malloc(size ? size : 1);
    if (!current.bytes)
        abort();
    memcpy(current.bytes, bytes, size);
    setitimer(ITIMER_PROF, &longest, NULL);
    result = LLVMFuzzerTestOneInput(current.bytes, size);
    free(current.bytes);
    return result;
}

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

/* Replaces bytes[at, at + removed) by more[added]. */
static void replace(struct input *input, size_t at, size_t removed,
                    const void *more, size_t added)
{
    if (input->size - removed + added > SIZE_MOST)
        return;
    memmove(input->bytes + at + added, input->bytes + at + removed,
            input->size - at - removed);
    memcpy(input->bytes + at, more, added);
    input->size += added - removed;
}

static void mutate(struct input *input, const struct input *other)
{
    static const char *const words[] = {"{",       "}",
                                        "[",       "]",
                                        ":",       ",",
                                        "-",       "\n",
                                        "'",       "\"",
                                        "*",       "&a",
                                        "!t",      "#",
                                        "0",       "-1",
                                        "|",       "?",
                                        "\t",      "\\x00",
                                        "~",       "x-a:",
                                        "\xff",    ">",
                                        "%",       "@",
                                        ": ",      "- ",
                                        ", ",      "999999999",
                                        "1e9",     "nan",
                                        "2^-1022", "99999999999999999999"};
    const size_t at = draw((uint32_t)input->size + 1);
    const size_t rest = input->size - at;
    const size_t some = rest > 0 ? draw((uint32_t)(rest > 32 ? 32 : rest)) : 0;
    const char *word = words[draw(sizeof words / sizeof *words)];
    const uint8_t byte = (uint8_t)draw(256);
    size_t from;

    switch (draw(5)) {
    case 0:
        replace(input, at, rest > 0, &byte, 1);
        break;
    case 1:
        replace(input, at, some, "", 0);
        break;
    case 2:
        replace(input, at, 0, word, strlen(word));
        break;
    case 3:
        replace(input, at, some, word, strlen(word));
        break;
    default:
        from = draw((uint32_t)other->size + 1);
        replace(input, at, some, other->bytes + from,
                draw((uint32_t)(other->size - from) + 1));
    }
}

static void run_mutated(const struct input *inputs, size_t count, size_t i)
{
    static uint8_t bytes[SIZE_MOST];
    struct input input = {bytes, inputs[i].size};

    memcpy(bytes, inputs[i].bytes, input.size);
    for (uint32_t times = 1 + draw(8); times > 0; times--)
        mutate(&input, &inputs[draw((uint32_t)count)]);
    run(input.bytes, input.size);
}

static void read_input(const char *name, struct input *input)
{
    FILE *stream = fopen(name, "re");

    input->bytes = malloc(SIZE_MOST);
    if (!stream || !input->bytes) {
        perror(name);
        exit(1);
    }
    input->size = fread(input->bytes, 1, SIZE_MOST, stream);
    fclose(stream);
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGPROF};
    const char *slash = strrchr(argv[0], '/');
    const int first = argc > 2 && strcmp(argv[1], "--seconds") == 0 ? 3 : 1;
    const long seconds = first == 3 ? atol(argv[2]) : 0;
    const size_t count = (size_t)(argc - first);
    struct input *inputs = calloc(count + 1, sizeof *inputs);
    const time_t end = time(NULL) + seconds;
    unsigned long long runs = 0;

    if (!inputs || count == 0)
        return 1;
    snprintf(path, sizeof path, "%.50s.input", slash ? slash + 1 : argv[0]);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], keep_input);
    for (size_t i = 0; i < count; i++)
        read_input(argv[first + (int)i], &inputs[i]);
    for (size_t i = 0; i < count; i++) {
        const size_t stride = inputs[i].size / 256 + 1;
        int result = -1;

        for (size_t size = inputs[i].size % stride; size <= inputs[i].size;
             size += stride, runs++)
            result = run(inputs[i].bytes, size);
        fuzz_require(result == 0, "%s: nothing can be tried",
                     argv[first + (int)i]);
        for (int j = 0; j < MUTATIONS; j++, runs++)
            run_mutated(inputs, count, i);
    }
    state = (uint64_t)end * 1000003 + (uint64_t)getpid();
    for (; time(NULL) < end; runs++)
        run_mutated(inputs, count, draw((uint32_t)count));
    printf("%llu inputs\n", runs);
    for (size_t i = 0; i < count; i++)
        free(inputs[i].bytes);
    free(inputs);
    return 0;
}
