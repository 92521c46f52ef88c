/* The published load comparisons: a group's figure is the median over its cases of the difference
 * of the medians, and has to come out of the functions that comparisons use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/statistics.h"

#define COLUMNS 64
#define CASES   128

struct row {
    char protocol[64], dependency[64], work[16];
    double reference, candidate; /* median throughput */
};

struct table {
    struct row rows[CASES];
    size_t count;
};

static size_t column_of(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    fail_msg("there is no column %s", name);
    return 0;
}

static size_t split(char *line, char **fields)
{
    size_t count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *field; (field = strsep(&line, ",")) != NULL;) {
        assert_true(count < COLUMNS);
        fields[count++] = field;
    }
    return count;
}

static void read_table(const char *file, struct table *table)
{
    char path[512], header[4096], line[4096], *names[COLUMNS], *fields[COLUMNS];
    snprintf(path, sizeof path, LM_TEST_DATA "/%s", file);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(header, sizeof header, in));
    size_t columns = split(header, names);
    size_t protocol = column_of(names, columns, "protocol"),
           dependency = column_of(names, columns, "dependency"),
           work = column_of(names, columns, "work"),
           reference = column_of(names, columns, "reference_throughput_per_s_median"),
           candidate = column_of(names, columns, "candidate_throughput_per_s_median");
    table->count = 0;
    while (fgets(line, sizeof line, in) != NULL) {
        assert_true(table->count < CASES);
        assert_int_equal(split(line, fields), columns);
        struct row *row = &table->rows[table->count++];
        snprintf(row->protocol, sizeof row->protocol, "%s", fields[protocol]);
        snprintf(row->dependency, sizeof row->dependency, "%s", fields[dependency]);
        snprintf(row->work, sizeof row->work, "%s", fields[work]);
        row->reference = strtod(fields[reference], NULL);
        row->candidate = strtod(fields[candidate], NULL);
    }
    fclose(in);
}

struct group {
    const char *protocol, *dependency, *work; /* NULL: any */
    size_t cases;
    const char *percent; /* as published */
};

static bool is_in(const struct row *row, const struct group *group)
{
    return strcmp(row->protocol, group->protocol) == 0 &&
           strcmp(row->dependency, group->dependency) == 0 &&
           (group->work == NULL || strcmp(row->work, group->work) == 0);
}

/* Published with up to two decimals, trailing zeros left out. */
static void assert_published(const struct table *table, const struct group *group)
{
    double differences[CASES];
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (is_in(row, group)) {
            differences[count++] = lm_difference(row->candidate, row->reference, true);
        }
    }
    lm_sort(differences, count);
    assert_int_equal(count, group->cases);
    double percent = lm_median(differences, count) * 100.0;
    if (fabs(percent - strtod(group->percent, NULL)) > 0.005 + 1e-9) {
        fail_msg("%s, %s: %.4f is not %s", group->protocol, group->dependency, percent,
                 group->percent);
    }
}

static void groups_of_endpoints_have_their_published_figures(void **state)
{
    static const struct group groups[] = {
        {"TCP", "Boost.Asio", NULL, 8, "-2.34"},
        {"TCP over TLS", "Boost.Asio", NULL, 8, "-0.8"},
        {"HTTP/1.1", "Boost.Asio", NULL, 8, "-1.44"},
        {"HTTPS", "Boost.Asio", NULL, 8, "-1.82"},
        {"WebSocket", "Boost.Asio", NULL, 8, "-3.02"},
        {"WebSocket over TLS", "Boost.Asio", NULL, 8, "0.15"},
        {"TCP", "Standalone Asio", NULL, 8, "-0.5"},
        {"TCP over TLS", "Standalone Asio", NULL, 8, "-0.31"},
    };
    static struct table table;
    (void)state;
    read_table("arknet-endpoints-2026-10-15.csv", &table);
    size_t cases = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        assert_published(&table, &groups[i]);
        cases += groups[i].cases;
    }
    assert_int_equal(cases, table.count);
}

static void groups_of_raw_asio_have_their_published_figures(void **state)
{
    static const struct group groups[] = {
        {"TCP", "Boost.Asio", "0", 4, "-0.8"},
        {"TCP", "Boost.Asio", "10000", 4, "-0.41"},
        {"TCP", "Standalone Asio", "0", 4, "-0.95"},
        {"TCP", "Standalone Asio", "10000", 4, "-0.81"},
    };
    static struct table table;
    (void)state;
    read_table("arknet-raw-asio-2026-10-15.csv", &table);
    size_t cases = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        assert_published(&table, &groups[i]);
        cases += groups[i].cases;
    }
    assert_int_equal(cases, table.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_endpoints_have_their_published_figures),
        cmocka_unit_test(groups_of_raw_asio_have_their_published_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
