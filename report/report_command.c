/* `loopmark report`: results files become pages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/nearest.h"
#include "harness/arguments.h"
#include "harness/commands.h"
#include "report/command.h"
#include "report/content.h"
#include "report/import_csv.h"
#include "report/report.h"
#include "report/report_files.h"

#define COMMAND "report"

static const struct lm_writer_kind *const kinds[] = {&lm_write_asciidoc, &lm_write_html,
                                                     &lm_write_markdown};
#define KINDS (sizeof kinds / sizeof *kinds)

struct request {
    const char *out;
    const char *os;   /* of published tables */
    const char *page; /* slug or name of the only page to be written; NULL: all */
    bool kinds[KINDS];
    bool all, inline_charts, help;
    char **paths;
    size_t path_count;
};

/* The pages of all files, in the order of the landing page. */
struct pages {
    struct lm_page **items; /* owned */
    size_t count;
};

static void print_help(void)
{
    puts("usage: loopmark report [OPTION...] RESULTS...\n"
         "       loopmark report --os NAME [OPTION...] TABLE.csv\n"
         "\n"
         "Turns results files (also gzip'ed ones) and published tables into a landing page, a\n"
         "methodology page and one page for each operating system, with charts. The same files\n"
         "give the same bytes. Of several files of one system the newest is taken.\n"
         "\n"
         "  --out DIR          where the pages go (default: pages)\n"
         "  --format FORM,...  adoc, html and md (default: all three)\n"
         "  --all              a page for each file, not only for the newest of each system\n"
         "  --page SYSTEM      write that system's page and the landing page, leave the others\n"
         "  --os NAME          the system of a file that does not say it, as published tables\n"
         "  --inline-charts    AsciiDoc: charts in the page instead of files in DIR/charts\n"
         "\n"
         "  loopmark report results/loopmark-20261201-041019.jsonl\n"
         "  loopmark report --out site --format html linux.jsonl.gz macos.jsonl.gz\n"
         "  loopmark report --os macOS corosio-macos-2026-10-02.csv\n"
         "  loopmark report --page Linux --out report/pages report/pages/*.jsonl.gz\n"
         "\n"
         "Exit codes: 0 the pages are written; 2 wrong use, unreadable input, or a page could not\n"
         "be written: then the former pages are still there.");
}

static void complain(const char *message)
{
    lm_complain(COMMAND, message);
}

static bool parse_kind(struct request *request, const char *word)
{
    struct lm_nearest nearest = {.word = word};
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(word, kinds[i]->extension) == 0) {
            request->kinds[i] = true;
            return true;
        }
        lm_nearest_offer(&nearest, kinds[i]->extension);
    }
    lm_refuse_word(COMMAND, "--format takes adoc, html and md", &nearest);
    return false;
}

static bool parse_kinds(struct request *request, const char *list)
{
    char *copy = strdup(list), *rest = copy;
    bool good = copy != NULL;
    while (good && rest != NULL) {
        good = parse_kind(request, strsep(&rest, ","));
    }
    free(copy);
    return good;
}

static bool parse_option(struct request *request, int option)
{
    switch (option) {
    case 'o':
        request->out = optarg;
        if (optarg[0] == '\0') {
            complain("--out is empty; name a folder");
        }
        return optarg[0] != '\0';
    case 'f':
        return parse_kinds(request, optarg);
    case 'a':
        request->all = true;
        return true;
    case 'p':
        request->page = optarg;
        return true;
    case 's':
        request->os = optarg;
        if (optarg[0] == '\0') {
            complain("--os is empty; name the system, such as --os macOS");
        }
        return optarg[0] != '\0';
    case 'i':
        request->inline_charts = true;
        return true;
    case 'h':
        request->help = true;
        return true;
    default:
        return false; /* said by lm_next_option */
    }
}

static bool parse_request(struct request *request, int argc, char **argv)
{
    static const struct option options[] = {
        {"out", required_argument, NULL, 'o'}, {"format", required_argument, NULL, 'f'},
        {"all", no_argument, NULL, 'a'},       {"page", required_argument, NULL, 'p'},
        {"os", required_argument, NULL, 's'},  {"inline-charts", no_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},      {NULL, 0, NULL, 0},
    };
    int option;
    lm_restart_options();
    while ((option = lm_next_option(argc, argv, options, COMMAND)) != -1) {
        if (!parse_option(request, option)) {
            return false;
        }
    }
    bool any = false;
    for (size_t i = 0; i < KINDS; i++) {
        any = any || request->kinds[i];
    }
    for (size_t i = 0; i < KINDS; i++) {
        request->kinds[i] = request->kinds[i] || !any;
    }
    request->paths = argv + optind;
    request->path_count = (size_t)(argc - optind);
    if (request->path_count == 0 && !request->help) {
        complain("name at least one results file; see: loopmark report --help");
        return false;
    }
    return true;
}

static int read_page(const struct request *request, const char *path, struct lm_page **page)
{
    char error[LM_MESSAGE_BYTES] = "";
    int status;
    *page = NULL;
    if (lm_import_csv_recognise(path)) {
        struct lm_import import;
        status = lm_import_csv_read(path, &import, error, sizeof error);
        if (status == 0) {
            status = lm_page_from_import(&import, request->os, page, error, sizeof error);
        }
        lm_import_free(&import);
    } else {
        struct lm_results results;
        status = lm_results_read(path, &results, error, sizeof error);
        if (status == 0) {
            status = lm_page_from_results(&results, request->os, page, error, sizeof error);
            lm_results_free(&results);
        }
    }
    if (status != 0) {
        complain(error);
    }
    return status;
}

/* By system, then the newest first; files of one date by their names and paths, so that the order
 * they were named in means nothing. */
static int compare_pages(const void *a, const void *b)
{
    const struct lm_page *left = *(struct lm_page *const *)a, *right = *(struct lm_page *const *)b;
    int order = strcmp(left->slug, right->slug);
    order = order != 0 ? order : strcmp(left->os, right->os);
    order = order != 0 ? order : strcmp(right->date_utc, left->date_utc);
    order = order != 0 ? order : strcmp(left->file, right->file);
    return order != 0 ? order : strcmp(left->path, right->path);
}

static int read_pages(const struct request *request, struct pages *pages)
{
    pages->items = calloc(request->path_count, sizeof(struct lm_page *));
    if (pages->items == NULL) {
        complain("not enough memory for the pages");
        return -ENOMEM;
    }
    for (size_t i = 0; i < request->path_count; i++) {
        int status = read_page(request, request->paths[i], &pages->items[i]);
        if (status != 0) {
            return status;
        }
        pages->count++;
    }
    qsort(pages->items, pages->count, sizeof(struct lm_page *), compare_pages);
    return 0;
}

/* Keeps the newest page of each system, and says which were left out. */
static void keep_newest(struct pages *pages)
{
    size_t kept = 0;
    for (size_t i = 0; i < pages->count; i++) {
        struct lm_page *page = pages->items[i];
        if (kept > 0 && strcmp(pages->items[kept - 1]->os, page->os) == 0) {
            char message[LM_MESSAGE_BYTES];
            snprintf(message, sizeof message,
                     "%s: left out, %s is of the same system and not older; --all takes both",
                     page->path, pages->items[kept - 1]->path);
            complain(message);
            lm_page_free(page);
        } else {
            pages->items[kept++] = page;
        }
    }
    pages->count = kept;
}

/* As much of a page's name is kept when a date and a number follow it. */
#define NAME_BYTES 24

static bool share_name(const char *a, const char *b)
{
    return strncmp(a, b, NAME_BYTES) == 0;
}

/* Pages of one name, as --all makes them, are told apart by date, then by number. */
static void tell_apart(struct pages *pages)
{
    char before[64] = "";
    size_t number = 1;
    for (size_t i = 0; i < pages->count; i++) {
        struct lm_page *page = pages->items[i];
        char first[64], date[64];
        snprintf(first, sizeof first, "%s", page->slug);
        bool same = share_name(first, before);
        bool shared =
            same || (i + 1 < pages->count && share_name(first, pages->items[i + 1]->slug));
        number = same ? number + 1 : 1;
        snprintf(before, sizeof before, "%s", first);
        if (shared) {
            lm_slug(date, page->date);
            const char *day = date[1] == '\0' ? "undated" : date + (date[0] == 'x');
            snprintf(page->slug, sizeof page->slug, "%.*s--%.20s-%zu", NAME_BYTES, first, day,
                     number);
        }
    }
}

/* Only what --page names is written; NULL names all. */
static bool is_wanted(const struct request *request, const struct lm_page *page)
{
    char wanted[64], system[64];
    if (request->page == NULL) {
        return true;
    }
    lm_slug(wanted, request->page);
    lm_slug(system, page->os);
    return strcmp(wanted, system) == 0 || strcmp(request->page, page->slug) == 0;
}

static bool has_wanted(const struct request *request, const struct pages *pages)
{
    struct lm_nearest nearest = {.word = request->page};
    for (size_t i = 0; i < pages->count; i++) {
        if (is_wanted(request, pages->items[i])) {
            return true;
        }
        lm_nearest_offer(&nearest, pages->items[i]->slug);
    }
    char message[LM_MESSAGE_BYTES];
    snprintf(message, sizeof message, "--page: no file is of '%s'; there is %s%s", request->page,
             nearest.best != NULL ? nearest.best : pages->items[0]->slug,
             pages->count > 1 ? " and others" : "");
    complain(message);
    return false;
}

/* A page in one form: `content` fills it. */
static int make_page(struct lm_files *files, const struct request *request,
                     const struct lm_writer_kind *kind, const struct lm_page *page,
                     const struct pages *landing, const char *slug)
{
    char path[96];
    snprintf(path, sizeof path, "%s.%s", slug, kind->extension);
    struct lm_writer writer = {.kind = kind,
                               .out = lm_files_next(files, path),
                               .page = page,
                               .inline_charts = request->inline_charts};
    if (writer.out == NULL) {
        return -ENOMEM;
    }
    if (page != NULL) {
        lm_content_os(&writer);
    } else if (landing != NULL) {
        lm_content_landing(&writer, landing->items, landing->count);
    } else {
        lm_content_methodology(&writer);
    }
    return writer.status;
}

static bool needs_chart_files(const struct request *request)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (request->kinds[i] && kinds[i]->chart_files &&
            !(kinds[i] == &lm_write_asciidoc && request->inline_charts)) {
            return true;
        }
    }
    return false;
}

static int make_charts(struct lm_files *files, const struct lm_page *page)
{
    int status = 0;
    for (size_t i = 0; i < page->chart_count && status == 0; i++) {
        char path[LM_CHART_PATH_BYTES];
        lm_chart_path(path, page, &page->charts[i]);
        FILE *out = lm_files_next(files, path);
        status = out != NULL ? lm_chart_draw(page, &page->charts[i], true, out) : -ENOMEM;
    }
    return status;
}

static int make_form(struct lm_files *files, const struct request *request,
                     const struct lm_writer_kind *kind, const struct pages *pages)
{
    int status = make_page(files, request, kind, NULL, pages, "index");
    if (status == 0 && request->page == NULL) {
        status = make_page(files, request, kind, NULL, NULL, "methodology");
    }
    for (size_t i = 0; i < pages->count && status == 0; i++) {
        if (is_wanted(request, pages->items[i])) {
            status = make_page(files, request, kind, pages->items[i], NULL, pages->items[i]->slug);
        }
    }
    return status;
}

static int make_all(struct lm_files *files, const struct request *request,
                    const struct pages *pages)
{
    int status = 0;
    for (size_t i = 0; i < KINDS && status == 0; i++) {
        if (request->kinds[i]) {
            status = make_form(files, request, kinds[i], pages);
        }
    }
    for (size_t i = 0; i < pages->count && status == 0 && needs_chart_files(request); i++) {
        if (is_wanted(request, pages->items[i])) {
            status = make_charts(files, pages->items[i]);
        }
    }
    return status;
}

/* One line for each page, and one for all charts. */
static void list_files(const struct request *request, const struct lm_files *files)
{
    size_t charts = 0;
    for (size_t i = 0; i < lm_files_count(files); i++) {
        const char *path = lm_files_path(files, i);
        if (strchr(path, '/') != NULL) {
            charts++;
        } else {
            printf("%s/%s\n", request->out, path);
        }
    }
    if (charts > 0) {
        printf("%s/charts: %zu charts\n", request->out, charts);
    }
}

static int write_pages(const struct request *request, const struct pages *pages)
{
    char error[LM_MESSAGE_BYTES] = "not enough memory for the pages";
    struct lm_files *files = lm_files_new(request->out);
    int status = files != NULL ? make_all(files, request, pages) : -ENOMEM;
    if (status == 0) {
        status = lm_files_write(files, error, sizeof error);
    }
    if (status != 0) {
        complain(error);
    } else {
        list_files(request, files);
    }
    lm_files_free(files);
    return status;
}

int lm_report_command(int argc, char **argv)
{
    struct request request = {.out = "pages"};
    struct pages pages = {.items = NULL};
    int code = LM_EXIT_USAGE;
    if (!parse_request(&request, argc, argv)) {
        return code;
    }
    if (request.help) {
        print_help();
        return LM_EXIT_OK;
    }
    if (read_pages(&request, &pages) != 0) {
        goto out;
    }
    if (!request.all) {
        keep_newest(&pages);
    }
    tell_apart(&pages);
    if (request.page != NULL && !has_wanted(&request, &pages)) {
        goto out;
    }
    if (write_pages(&request, &pages) == 0) {
        code = LM_EXIT_OK;
    }
out:
    for (size_t i = 0; i < pages.count; i++) {
        lm_page_free(pages.items[i]);
    }
    free(pages.items);
    return code;
}
