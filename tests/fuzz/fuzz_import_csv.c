/* Fuzz target: any bytes read as a published table are refused with one line, or are compared and
 * shown in every form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_render.h"
#include "report/comparison.h"
#include "report/import_csv.h"
#include "tests/fuzz/fuzz.h"

static void check_refusal(const char *error)
{
    fuzz_check(error[0] != '\0' && strchr(error, '\n') == NULL);
}

static void check_forms(const struct lm_comparison *comparison)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fuzz_check(out != NULL);
    fuzz_check(lm_render_compare_table(comparison, false, out) == 0);
    fuzz_check(lm_render_compare_markdown(comparison, out) == 0);
    fuzz_check(lm_render_compare_csv(comparison, out) == 0);
    fuzz_check(lm_render_compare_json(comparison, out) == 0);
    fuzz_check(fclose(out) == 0);
    for (size_t i = 0; i < bytes; i++) {
        fuzz_check((unsigned char)text[i] >= 0x20 || text[i] == '\n');
    }
    free(text);
}

static void check_table(const struct lm_import *import)
{
    const struct lm_compare_options options = {.baseline = import->implementations[0]};
    struct lm_comparison *comparison = NULL;
    char error[1024] = "";
    fuzz_check(import->row_count > 0);
    fuzz_check(lm_comparison_from_import(import, &options, &comparison, error, sizeof error) == 0);
    check_forms(comparison);
    lm_comparison_free(comparison);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lm_import import;
    char error[1024] = "";
    if (size == 0) {
        return 0; /* fmemopen takes no empty buffer */
    }
    FILE *in = fmemopen((void *)data, size, "r");
    fuzz_check(in != NULL);
    if (lm_import_csv_parse(in, "fuzz.csv", &import, error, sizeof error) == 0) {
        check_table(&import);
    } else {
        check_refusal(error);
    }
    lm_import_free(&import);
    fclose(in);
    return 0;
}
