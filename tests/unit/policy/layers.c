/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text/layer_table.h"
#include "tests/tap/tap.h"
#include "tests/unit/common/errortext.h"
#include "tests/unit/common/sample_table.h"

#define HEADER "layer,name,count\n"
#define SHAPED "layer,name,count,shape\n"
#define SCALED "layer,name,count,scale\n"
#define FIRST "layer,name,count,first\n"
#define COMMAS ",,,,,,,,,,,,,,,," /* 16 */

static struct aps_errors errors;

static const char *all_errors(void)
{
    return error_lines(errors.list, aps_errors_kept(&errors), aps_error_format,
                       "");
}

static int parse(const char *text, struct aps_layers **layers)
{
    errors.count = 0;
    return aps_layers_parse("t.csv", text, strlen(text), layers, &errors);
}

static void test_bad(void)
{
    static const struct {
        const char *what;
        const char *text;
        const char *errors;
    } cases[] = {
        {"nothing", "", "t.csv:1:1: the table has no layers"},
        {"a header alone", HEADER, "t.csv:1:1: the table has no layers"},
        {"no header", "0,a,1\n1,b,1\n",
         "t.csv:1:1: the first line must name the columns: layer,name,count, "
         "and shape and scale if they are known"},
        {"an unknown column", "layer,nmae,count\n0,a,1\n",
         "t.csv:1:7: unknown column 'nmae'; did you mean 'name'?"},
        {"two of them", "layer,name,count,Shapes,colour\n0,a,1,1,2\n",
         "t.csv:1:18: unknown column 'Shapes'; did you mean 'shape'?\n"
         "t.csv:1:25: unknown column 'colour'"},
        {"a column without a name", "layer,name,count,\n0,a,1,\n",
         "t.csv:1:18: unknown column ''"},
        {"a column twice", "layer,name,count,name\n0,a,1,b\n",
         "t.csv:1:18: column 'name' stands twice"},
        {"no column of counts", "layer,name,shape\n0,a,1\n",
         "t.csv:1:17: the table has no column 'count'"},
        {"too few fields", HEADER "0,a\n",
         "t.csv:2:4: too few fields: the first line names 3 columns"},
        {"too many fields", HEADER "0,a,1,2\n",
         "t.csv:2:7: too many fields: the first line names 3 columns"},
        {"more columns than are read",
         "layer,name,count" COMMAS COMMAS COMMAS COMMAS "\n",
         "t.csv:1:79: more than 64 fields in a line"},
        {"a shape of another product", SHAPED "0,a,64,8x7\n",
         "t.csv:2:8: shape 8x7 has another number of elements than the count, "
         "64"},
        {"a shape that is too large", SHAPED "0,a,64,4294967296x4294967296\n",
         "t.csv:2:8: shape 4294967296x4294967296 has another number of "
         "elements than the count, 64"},
        {"a size of 0", SHAPED "0,a,64,64x0\n",
         "t.csv:2:8: shape '64x0' is not up to 8 sizes above 0, with x between "
         "them: 64x3x7x7"},
        {"a shape that ends early", SHAPED "0,a,64,64x\n",
         "t.csv:2:8: shape '64x' is not up to 8 sizes above 0, with x between "
         "them: 64x3x7x7"},
        {"a shape with another sign", SHAPED "0,a,64,\"8,8\"\n",
         "t.csv:2:8: shape '8,8' is not up to 8 sizes above 0, with x between "
         "them: 64x3x7x7"},
        {"nine sizes", SHAPED "0,a,1,1x1x1x1x1x1x1x1x1\n",
         "t.csv:2:7: shape '1x1x1x1x1x1x1x1x1' is not up to 8 sizes above 0, "
         "with x between them: 64x3x7x7"},
        {"a shape where the count is wrong", SHAPED "0,a,0,8\n",
         "t.csv:2:5: count must be above 0"},
        {"a scale of 0", SCALED "0,a,1,0\n",
         "t.csv:2:7: scale '0' is not a float above 0"},
        {"a negative scale", SCALED "0,a,1,-1\n",
         "t.csv:2:7: scale '-1' is not a float above 0"},
        {"a place that is missing", FIRST "0,a,1,\n",
         "t.csv:2:7: place '' in the first step is not a whole number"},
        {"a place beyond the layers", FIRST "0,a,1,0\n1,b,1,2\n",
         "t.csv:3: place 2 in the first step: the table has 2 layers, whose "
         "places begin with 0"},
        {"places and networks", "layer,name,count,first,network\n0,a,1,0,n\n",
         "t.csv:2:9: a table with a column 'network' has no column 'first'"},
        {"a type that is none", "layer,name,count,type\n0,a,1,half\n",
         "t.csv:2:7: type 'half' is not float, bf16, fp16 or double"},
        {"a place of two layers", FIRST "0,a,1,1\n1,b,1,1\n",
         "t.csv:3: layer 0 has place 1 in the first step, too"},
        {"a scale that is not a number", SCALED "0,a,1,small\n",
         "t.csv:2:7: scale 'small' is not a float above 0"},
        {"an infinite scale", SCALED "0,a,1,1e39\n",
         "t.csv:2:7: scale '1e39' is not a float above 0"},
        {"a scale that rounds to 0", SCALED "0,a,1,1e-60\n",
         "t.csv:2:7: scale '1e-60' is not a float above 0"},
        {"an index out of order", HEADER "0,a,1\n2,b,1\n",
         "t.csv:3:1: layer index 2 out of order: expected 1"},
        {"no index", HEADER "x,a,1\n",
         "t.csv:2:1: layer index 'x' is not a whole number"},
        {"a negative index", HEADER "-1,a,1\n",
         "t.csv:2:1: layer index '-1' is not a whole number"},
        {"no name", HEADER "0,,1\n", "t.csv:2:3: the layer has no name"},
        {"an empty name in quotes", HEADER "0,\"\",1\n",
         "t.csv:2:3: the layer has no name"},
        {"a name that is not UTF-8", HEADER "0,a,1\n1,b\xff,1\n",
         "t.csv:3:3: the layer's name is not UTF-8 (byte 0xff); write the "
         "table in UTF-8"},
        {"a name twice", HEADER "0,a,1\n1,b,1\n2,a,1\n",
         "t.csv:4:3: duplicate layer name 'a', first in line 2"},
        {"a name three times", HEADER "0,a,1\n1,a,1\n2,a,1\n",
         "t.csv:3:3: duplicate layer name 'a', first in line 2\n"
         "t.csv:4:3: duplicate layer name 'a', first in line 2"},
        {"no elements", HEADER "0,a,0\n", "t.csv:2:5: count must be above 0"},
        {"no count", HEADER "0,a,\n",
         "t.csv:2:5: count '' is not a whole number"},
        {"a negative count", HEADER "0,a,-5\n",
         "t.csv:2:5: count '-5' is not a whole number"},
        {"a huge count", HEADER "0,a,99999999999999999999\n",
         "t.csv:2:5: count '99999999999999999999' is too large"},
        {"a huge sum", HEADER "0,a,9223372036854775807\n1,b,1\n",
         "t.csv:3:5: the counts up to here add up to too many elements"},
        {"a quote without end", HEADER "0,\"a,1\n",
         "t.csv:2:3: the quote does not end"},
        {"text behind a quote", HEADER "0,\"a\"b,1\n",
         "t.csv:2:6: a comma must follow the closing quote"},
        {"a column behind UTF-8", HEADER "0,\xc3\xa4\xc3\xb6,x\n",
         "t.csv:2:6: count 'x' is not a whole number"},
        {"several errors, sorted", HEADER "0,a,x\n5,a,1\n2,,1\n",
         "t.csv:2:5: count 'x' is not a whole number\n"
         "t.csv:3:1: layer index 5 out of order: expected 1\n"
         "t.csv:3:3: duplicate layer name 'a', first in line 2\n"
         "t.csv:4:3: the layer has no name"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct aps_layers *layers = NULL;

        ok(parse(cases[i].text, &layers) < 0 && !layers, "%s is refused",
           cases[i].what);
        is(all_errors(), cases[i].errors, "... with its place and cause");
    }
}

static void test_many_errors(void)
{
    static char text[16 * 1024] = HEADER;
    struct aps_layers *layers = NULL;

    for (int i = 0; i < 1000; i++)
        strcat(text, "x,y\n");
    ok(parse(text, &layers) < 0 && errors.count == 1000,
       "all errors are counted, though not all are kept");
}

static void test_good(void)
{
    struct aps_layers *layers = NULL;

    ok(parse("\n# a comment\n layer , name, count \r\n"
             "0,conv1.weight,9408\r\n"
             "\n  # another\n"
             "1,\"a, \"\"quoted\"\" name\" ,64\n"
             "2, blanks around , 1",
             &layers) == 0,
       "comments, empty lines, CRLF, quotes and blanks are taken");
    if (!layers) {
        diag("%s", all_errors());
        return;
    }
    ok(layers->count == 3, "three layers");
    is(layers->list[0].name, "conv1.weight", "a plain name");
    is(layers->list[1].name, "a, \"quoted\" name", "a quoted name");
    is(layers->list[2].name, "blanks around", "blanks around a name go");
    ok(layers->list[0].count == 9408 && layers->list[1].count == 64 &&
           layers->list[2].count == 1,
       "the counts");
    aps_layers_destroy(layers);
    aps_layers_destroy(NULL);
}

/* Columns in any order, other columns, empty fields. */
static void test_columns(void)
{
    struct aps_layers *layers = NULL;

    ok(parse("\xef\xbb\xbfshape, x-note ,count,scale,\"name\",layer,type\n"
             "64x3x7x7,\"a, b\",9408,0.02,conv1,0,bf16\n"
             ",,64,,bn1,1,\n"
             "20480,,20 Ki,2^-7,fc,2,double\n",
             &layers) == 0,
       "columns in another order, with others that are ignored");
    if (!layers) {
        diag("%s", all_errors());
        return;
    }
    is(layers->list[0].name, "conv1", "the name is found");
    ok(layers->list[0].count == 9408, "and the count");
    ok(layers->list[0].dimensions == 4 && layers->list[0].shape[0] == 64 &&
           layers->list[0].shape[1] == 3 && layers->list[0].shape[2] == 7 &&
           layers->list[0].shape[3] == 7,
       "and the shape");
    ok(layers->list[0].scale == 0.02, "and the scale");
    ok(layers->list[0].element == APS_ELEMENT_BF16 &&
           layers->list[1].element == APS_ELEMENT_FLOAT &&
           layers->list[2].element == APS_ELEMENT_DOUBLE,
       "and the type");
    ok(layers->list[1].dimensions == 0 && layers->list[1].scale == 0,
       "empty: neither is known");
    ok(layers->list[2].dimensions == 1 && layers->list[2].shape[0] == 20480 &&
           layers->list[2].scale == 0.0078125,
       "a shape of one size, and a power of two");
    is(layers->list[2].name, "fc", "names are kept line by line");
    aps_layers_destroy(layers);
}

/* Names stay what they are next to a column of texts, before or after them. */
static void test_networks(void)
{
    static const char *const texts[] = {
        "layer,name,count,network\n0,pi.0,4,actor\n1,pi.1,4,actor\n"
        "2,v.0,4,critic\n",
        "network,layer,name,count\nactor,0,pi.0,4\nactor,1,pi.1,4\n"
        "critic,2,v.0,4\n"};

    for (int i = 0; i < 2; i++) {
        struct aps_layers *layers = NULL;

        if (!ok(parse(texts[i], &layers) == 0, "two networks are read")) {
            diag("%s", all_errors());
            continue;
        }
        is(layers->list[0].name, "pi.0", "the first layer has its name");
        is(layers->list[1].name, "pi.1", "... and the second");
        is(layers->list[2].name, "v.0", "... and that of the other network");
        ok(layers->list[1].begin == 0 && layers->list[1].end == 2 &&
               layers->list[2].begin == 2 && layers->list[2].end == 3,
           "the networks begin and end");
        aps_layers_destroy(layers);
    }
}

/* The sample table, read from the source tree. */
static struct aps_layers *read_sample(void)
{
    static char text[64 * 1024];
    struct aps_layers *layers = NULL;
    FILE *file = open_resnet50();

    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (parse(text, &layers) < 0)
        diag("%s", all_errors());
    return layers;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* The shapes follow from ResNet-50's architecture: 3 channels come in, each convolution
 * takes the channels of the previous one, the shortcut takes those of the block, and
 * each normalisation has one value for each channel of its convolution. */
static void test_resnet50(void)
{
    struct aps_layers *layers = read_sample();
    size_t channels = 3, entry = 0, total = 0;
    const struct aps_layer_row *convolution = NULL;
    int wrong = 0;

    if (!ok(layers != NULL, "the table of ResNet-50: products are counts"))
        return;
    for (size_t i = 0; i < layers->count; i++) {
        const struct aps_layer_row *layer = &layers->list[i];
        const bool shortcut = ends_with(layer->name, "downsample.0.weight");
        bool good;

        total += layer->count;
        if (ends_with(layer->name, ".conv1.weight"))
            entry = channels;
        if (layer->dimensions == 4) {
            good =
                layer->shape[1] == (shortcut ? entry : channels) &&
                layer->shape[2] == layer->shape[3] &&
                layer->shape[2] == (ends_with(layer->name, ".conv2.weight") ? 3u
                                    : i == 0                                ? 7u
                                             : 1u);
            channels = layer->shape[0];
            convolution = layer;
        } else if (layer->dimensions == 2) {
            good = strcmp(layer->name, "fc.weight") == 0 &&
                   layer->shape[0] == 1000 && layer->shape[1] == channels;
        } else {
            good = layer->dimensions == 1 &&
                   (strcmp(layer->name, "fc.bias") == 0
                        ? layer->shape[0] == 1000
                        : layer->shape[0] == convolution->shape[0]);
        }
        if (!good) {
            diag("layer %zu, %s", i, layer->name);
            wrong++;
        }
    }
    ok(wrong == 0, "its shapes are those of the architecture");
    ok(layers->count == 161 && total == 25557032,
       "161 layers, 25557032 elements");
    aps_layers_destroy(layers);
}

/* Every prefix, in storage that ends where the text ends. */
static void test_truncated(void)
{
    static const char text[] = "layer,name,count,shape,scale,x_y\n# c\n"
                               "0,\"a \"\"b\",12,3x4,1e-3,\n1, x ,3,,,z\n";
    int parsed = 0;

    for (size_t length = 0; length < sizeof text; length++) {
        char copy[sizeof text];
        struct aps_layers *layers = NULL;

        /* Aligned to the end of the array, so that tools find reads beyond it. */
        char *start = copy + sizeof copy - length;
        memcpy(start, text, length);
        errors.count = 0;
        if (aps_layers_parse("t.csv", start, length, &layers, &errors) == 0)
            parsed++;
        aps_layers_destroy(layers);
    }
    ok(parsed > 0, "no truncated table does harm");
}

int main(void)
{
    test_bad();
    test_many_errors();
    test_good();
    test_columns();
    test_networks();
    test_resnet50();
    test_truncated();
    return done_testing();
}
