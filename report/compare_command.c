/* `loopmark compare`: one results file by backend, two case by case, or a published table. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/nearest.h"
#include "harness/arguments.h"
#include "harness/commands.h"
#include "report/command.h"
#include "report/compare_render.h"
#include "report/comparison.h"
#include "report/gates.h"
#include "report/import_csv.h"
#include "report/report.h"

#define COMMAND "compare"

enum format {
    FORMAT_TABLE,
    FORMAT_MARKDOWN,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_COUNT
};

static const char *const format_names[FORMAT_COUNT] = {"table", "markdown", "csv", "json"};

struct request {
    struct lm_compare_options options;
    char *cases; /* owned; all --case joined */
    enum format format;
    struct lm_gates gates;
    const char *paths[2];
    size_t path_count;
    bool help;
};

static void print_help(void)
{
    puts(
        "usage: loopmark compare [OPTION...] RESULTS [RESULTS_AFTER]\n"
        "       loopmark compare [OPTION...] TABLE.csv\n"
        "\n"
        "Compares each backend of a results file with the baseline. With two files (before, "
        "after)\n"
        "each backend is compared with itself, case by case. A published table of medians and CVs\n"
        "is recognised by its header line.\n"
        "\n"
        "  --baseline SPEC       compare against this one (default: the file's own baseline)\n"
        "  --case GLOB,...       only these cases; * also matches a slash\n"
        "  --format FORM         table (default), markdown, csv or json\n"
        "  --fail-on GATE,...    exit with 1 when a gate is not met: slower, slower:PERCENT\n"
        "                        (slower by more than that), failed (a failed sample)\n"
        "  --force               give verdicts though two files differ in host or settings\n"
        "\n"
        "  loopmark compare results.jsonl\n"
        "  loopmark compare --baseline epoll --case 'socket_latency/*' results.jsonl\n"
        "  loopmark compare --fail-on slower:5,failed before.jsonl after.jsonl\n"
        "  loopmark compare --format markdown results.jsonl >> \"$GITHUB_STEP_SUMMARY\"\n"
        "\n"
        "Exit codes: 0 all well; 1 a gate is not met; 2 wrong use, unreadable input, or the "
        "output\n"
        "could not be written; 3 samples failed and no gate was asked for.");
}

static void complain(const char *message)
{
    lm_complain(COMMAND, message);
}

static bool parse_format(const char *text, enum format *format)
{
    struct lm_nearest nearest = {.word = text};
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(text, format_names[i]) == 0) {
            *format = (enum format)i;
            return true;
        }
        lm_nearest_offer(&nearest, format_names[i]);
    }
    lm_refuse_word(COMMAND, "--format is table, markdown, csv or json", &nearest);
    return false;
}

static bool parse_option(struct request *request, int option)
{
    char error[LM_MESSAGE_BYTES];
    switch (option) {
    case 'b':
        request->options.baseline = optarg;
        return true;
    case 'c':
        if (!lm_join_list(&request->cases, optarg)) {
            return false;
        }
        request->options.cases = request->cases;
        return true;
    case 'f':
        return parse_format(optarg, &request->format);
    case 'g':
        if (lm_gates_parse(optarg, &request->gates, error, sizeof error) != 0) {
            complain(error);
            return false;
        }
        return true;
    case 'F':
        request->options.force = true;
        return true;
    case 'h':
        request->help = true;
        return true;
    default:
        return false; /* said by lm_next_option */
    }
}

static bool take_paths(struct request *request, int argc, char **argv)
{
    int words = argc - optind;
    if (request->help) {
        return true;
    }
    if (words < 1 || words > 2) {
        complain(words < 1 ? "name a results file; see: loopmark compare --help"
                           : "takes one results file, or two (before, after); see: loopmark "
                             "compare --help");
        return false;
    }
    if (words == 2 && request->options.baseline != NULL) {
        complain("--baseline is for one file; with two, the first is the baseline of the second");
        return false;
    }
    for (; request->path_count < (size_t)words; request->path_count++) {
        request->paths[request->path_count] = argv[optind + (int)request->path_count];
    }
    return true;
}

static bool parse_request(struct request *request, int argc, char **argv)
{
    static const struct option options[] = {
        {"baseline", required_argument, NULL, 'b'},
        {"case", required_argument, NULL, 'c'},
        {"format", required_argument, NULL, 'f'},
        {"fail-on", required_argument, NULL, 'g'},
        {"force", no_argument, NULL, 'F'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    lm_restart_options();
    while ((option = lm_next_option(argc, argv, options, COMMAND)) != -1) {
        if (!parse_option(request, option)) {
            return false;
        }
    }
    return take_paths(request, argc, argv);
}

static int compare_table(const struct request *request, struct lm_comparison **comparison,
                         char *error, size_t error_bytes)
{
    struct lm_import import;
    if (request->path_count == 2) {
        snprintf(error, error_bytes,
                 "a published table can not be compared with another file; "
                 "name only the table");
        return -EINVAL;
    }
    int status = lm_import_csv_read(request->paths[0], &import, error, error_bytes);
    if (status == 0) {
        status =
            lm_comparison_from_import(&import, &request->options, comparison, error, error_bytes);
    }
    lm_import_free(&import);
    return status;
}

static int compare_results(const struct request *request, struct lm_comparison **comparison,
                           char *error, size_t error_bytes)
{
    struct lm_results results[2];
    size_t read = 0;
    int status = 0;
    while (read < request->path_count && status == 0) {
        status = lm_results_read(request->paths[read], &results[read], error, error_bytes);
        read += status == 0;
    }
    if (status == 0 && read == 1) {
        status = lm_comparison_from_results(&results[0], &request->options, comparison, error,
                                            error_bytes);
    } else if (status == 0) {
        status = lm_comparison_from_two(&results[0], &results[1], &request->options, comparison,
                                        error, error_bytes);
    }
    for (size_t i = 0; i < read; i++) {
        lm_results_free(&results[i]);
    }
    return status;
}

static int build(const struct request *request, struct lm_comparison **comparison)
{
    char error[LM_MESSAGE_BYTES] = "";
    bool is_table = false;
    for (size_t i = 0; i < request->path_count; i++) {
        is_table = is_table || lm_import_csv_recognise(request->paths[i]);
    }
    int status = is_table ? compare_table(request, comparison, error, sizeof error)
                          : compare_results(request, comparison, error, sizeof error);
    if (status != 0) {
        complain(error);
    }
    return status;
}

/* Colour for terminals that take it, unless the user said no (no-color.org). */
static bool wants_colour(FILE *out)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(fileno(out)) && (no_colour == NULL || *no_colour == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

static int render(const struct lm_comparison *comparison, enum format format, bool colour,
                  FILE *out)
{
    switch (format) {
    case FORMAT_MARKDOWN:
        return lm_render_compare_markdown(comparison, out);
    case FORMAT_CSV:
        return lm_render_compare_csv(comparison, out);
    case FORMAT_JSON:
        return lm_render_compare_json(comparison, out);
    default:
        return lm_render_compare_table(comparison, colour, out);
    }
}

/* Made in memory first: then there is one write whose failure has one errno, and a shortage of
 * memory leaves no half of a document behind. 0 or a negative errno. */
static int write_out(const struct lm_comparison *comparison, enum format format, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    if (memory == NULL) {
        return -ENOMEM;
    }
    int status = render(comparison, format, wants_colour(out), memory);
    bool whole = ferror(memory) == 0;
    if (fclose(memory) != 0 || !whole) {
        status = -ENOMEM;
    }
    errno = 0;
    if (status == 0 && (fwrite(text, 1, bytes, out) != bytes || fflush(out) != 0)) {
        status = errno != 0 ? -errno : -EIO;
    }
    free(text);
    return status;
}

/* Prints on stdout. A reader that closed the pipe (head, a pager) makes this an error, not a
 * signal: the exit code of a gate must not get lost without a word. */
static bool print_comparison(const struct request *request, const struct lm_comparison *comparison)
{
    char message[LM_MESSAGE_BYTES];
    signal(SIGPIPE, SIG_IGN);
    int status = write_out(comparison, request->format, stdout);
    if (status != 0) {
        snprintf(message, sizeof message,
                 "the comparison could not be written to standard output: %s", strerror(-status));
        complain(message);
    }
    return status == 0;
}

static int exit_code(const struct request *request, const struct lm_comparison *comparison)
{
    if (!request->gates.slower && !request->gates.failed) {
        return comparison->failed_samples > 0 ? LM_EXIT_FAILED : LM_EXIT_OK;
    }
    int reasons = lm_gates_check(&request->gates, comparison, stderr);
    return reasons < 0 ? LM_EXIT_USAGE : reasons > 0 ? LM_EXIT_GATE : LM_EXIT_OK;
}

int lm_compare_command(int argc, char **argv)
{
    struct request request = {.format = FORMAT_TABLE};
    struct lm_comparison *comparison = NULL;
    int code = LM_EXIT_USAGE;
    if (!parse_request(&request, argc, argv)) {
        goto out;
    }
    if (request.help) {
        print_help();
        code = LM_EXIT_OK;
    } else if (build(&request, &comparison) == 0 && print_comparison(&request, comparison)) {
        code = exit_code(&request, comparison);
    }
out:
    lm_comparison_free(comparison);
    free(request.cases);
    return code;
}

int lm_compare_print_results(const struct lm_results *results, FILE *out)
{
    const struct lm_compare_options options = {.baseline = NULL};
    struct lm_comparison *comparison = NULL;
    char error[LM_MESSAGE_BYTES] = "";
    int status = lm_comparison_from_results(results, &options, &comparison, error, sizeof error);
    if (status != 0) {
        complain(error);
        return status;
    }
    status = write_out(comparison, FORMAT_TABLE, out);
    lm_comparison_free(comparison);
    return status;
}
