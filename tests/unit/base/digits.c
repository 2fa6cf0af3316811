/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/digits.h"
#include "tests/tap/tap.h"

int main(void)
{
    static const struct {
        const char *text;
        uintmax_t max;
        int code; /* 0: accepted */
        uintmax_t number;
    } cases[] = {
        {"", 9, EINVAL, 0},
        {"-1", 9, EINVAL, 0},
        {"+1", 9, EINVAL, 0},
        {" 1", 9, EINVAL, 0},
        {"1 ", 9, EINVAL, 0},
        {"0x1", 9, EINVAL, 0},
        {"1.0", 9, EINVAL, 0},
        {"99999999999999999999999999x", 9, EINVAL, 0},
        {"10", 9, ERANGE, 0},
        {"1", 0, ERANGE, 0},
        {"18446744073709551616", UINTMAX_MAX, ERANGE, 0},
        {"99999999999999999999999999", UINTMAX_MAX, ERANGE, 0},
        {"0", 0, 0, 0},
        {"9", 9, 0, 9},
        {"007", 9, 0, 7},
        {"18446744073709551615", UINTMAX_MAX, 0, UINTMAX_MAX},
    };

    uintmax_t number;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = cases[i].text;
        int result;

        number = 42;
        result = aps_digits_parse(text, strlen(text), cases[i].max, &number);

        if (cases[i].code)
            ok(result < 0 && errno == cases[i].code && number == 42,
               "'%s' up to %ju is refused", text, cases[i].max);
        else
            ok(result == 0 && number == cases[i].number, "'%s' is %ju", text,
               cases[i].number);
    }
    ok(aps_whole_parse("64 Ki", 65536, &number) == 0 && number == 65536 &&
           aps_whole_parse("2^14", 16384, &number) == 0 && number == 16384,
       "units and powers of two");
    ok(aps_whole_parse("64Ki", 65535, &number) < 0 && errno == ERANGE &&
           aps_whole_parse("64 ", 65535, &number) < 0 && errno == EINVAL &&
           aps_whole_parse("64KiB", 65535, &number) < 0 && errno == EINVAL,
       "... have a maximum, and no other units");
    return done_testing();
}
