#include "report/report_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/write_all.h"

struct file {
    char *path;   /* owned; below the folder */
    char *place;  /* owned; with it */
    char *beside; /* owned; where it is written first; NULL while it is not */
    char *bytes;  /* owned */
    size_t length;
    FILE *stream; /* while it is being made */
};

struct lm_files {
    const char *folder;
    struct file *items;
    size_t count, capacity;
    bool failed; /* memory was short */
};

struct lm_files *lm_files_new(const char *folder)
{
    struct lm_files *files = calloc(1, sizeof *files);
    if (files != NULL) {
        files->folder = folder;
    }
    return files;
}

/* Ends the file that is being made. */
static void settle(struct lm_files *files)
{
    struct file *last = files->count > 0 ? &files->items[files->count - 1] : NULL;
    if (last != NULL && last->stream != NULL) {
        files->failed = files->failed || ferror(last->stream) != 0;
        files->failed = fclose(last->stream) != 0 || files->failed;
        last->stream = NULL;
    }
}

void lm_files_free(struct lm_files *files)
{
    if (files == NULL) {
        return;
    }
    settle(files);
    for (size_t i = 0; i < files->count; i++) {
        struct file *file = &files->items[i];
        if (file->beside != NULL) {
            unlink(file->beside);
        }
        free(file->path);
        free(file->place);
        free(file->beside);
        free(file->bytes);
    }
    free(files->items);
    free(files);
}

static char *join(const char *folder, const char *path)
{
    size_t bytes = strlen(folder) + strlen(path) + 2;
    char *joined = malloc(bytes);
    if (joined != NULL) {
        snprintf(joined, bytes, "%s/%s", folder, path);
    }
    return joined;
}

FILE *lm_files_next(struct lm_files *files, const char *path)
{
    settle(files);
    if (files->count == files->capacity) {
        size_t capacity = files->capacity > 0 ? files->capacity * 2 : 16;
        struct file *items = realloc(files->items, capacity * sizeof *items);
        if (items == NULL) {
            return NULL;
        }
        files->items = items;
        files->capacity = capacity;
    }
    /* The stream keeps the addresses of bytes and length, so they must not move: it is settled
     * before the list grows. */
    struct file *file = &files->items[files->count];
    *file = (struct file){.path = strdup(path), .place = join(files->folder, path)};
    files->count++;
    if (file->path == NULL || file->place == NULL) {
        return NULL;
    }
    file->stream = open_memstream(&file->bytes, &file->length);
    return file->stream;
}

size_t lm_files_count(const struct lm_files *files)
{
    return files->count;
}

const char *lm_files_path(const struct lm_files *files, size_t index)
{
    return files->items[index].path;
}

static int fail(char *error, size_t error_bytes, const char *what, int result)
{
    bool full = result == -ENOSPC || result == -EDQUOT || result == -EFBIG;
    snprintf(error, error_bytes, "%s: %s; %sname another folder with --out", what,
             strerror(-result), full ? "free some space or " : "");
    return result;
}

/* Makes every folder on the way to a file. */
static int make_folders(const char *place, char *error, size_t error_bytes)
{
    char *path = strdup(place);
    int result = path != NULL ? 0 : -ENOMEM;
    for (char *slash = path != NULL ? strchr(path + 1, '/') : NULL; slash != NULL && result == 0;
         slash = strchr(slash + 1, '/')) {
        struct stat status;
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            result = fail(error, error_bytes, path, -errno);
        } else if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
            result = fail(error, error_bytes, path, -ENOTDIR);
        }
        *slash = '/';
    }
    free(path);
    return result;
}

static char *name_beside(const char *place)
{
    size_t bytes = strlen(place) + 32;
    char *name = malloc(bytes);
    const char *slash = strrchr(place, '/');
    if (name != NULL) {
        snprintf(name, bytes, "%.*s.%s.%ld.new", (int)(slash + 1 - place), place, slash + 1,
                 (long)getpid());
    }
    return name;
}

static int write_beside(struct file *file, char *error, size_t error_bytes)
{
    int result = make_folders(file->place, error, error_bytes);
    if (result != 0) {
        return result;
    }
    /* Found out by rename, it would be too late: others would have been moved before it. */
    struct stat status;
    if (lstat(file->place, &status) == 0 && S_ISDIR(status.st_mode)) {
        return fail(error, error_bytes, file->place, -EISDIR);
    }
    file->beside = name_beside(file->place);
    if (file->beside == NULL) {
        return -ENOMEM;
    }
    int fd = open(file->beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        return fail(error, error_bytes, file->place, -errno);
    }
    result = lm_write_all(fd, file->bytes, file->length);
    if (close(fd) != 0 && result == 0) {
        result = -errno;
    }
    return result == 0 ? 0 : fail(error, error_bytes, file->place, result);
}

static int move_all(struct lm_files *files, char *error, size_t error_bytes)
{
    int result = 0;
    for (size_t i = 0; i < files->count && result == 0; i++) {
        struct file *file = &files->items[i];
        if (rename(file->beside, file->place) != 0) {
            result = fail(error, error_bytes, file->place, -errno);
        } else {
            free(file->beside);
            file->beside = NULL;
        }
    }
    return result;
}

int lm_files_write(struct lm_files *files, char *error, size_t error_bytes)
{
    sigset_t signals, before;
    settle(files);
    int result = files->failed ? -ENOMEM : 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    for (size_t i = 0; i < files->count && result == 0; i++) {
        result = write_beside(&files->items[i], error, error_bytes);
    }
    if (result == 0) {
        result = move_all(files, error, error_bytes);
    }
    if (result == -ENOMEM) {
        snprintf(error, error_bytes, "not enough memory for the pages");
    }
    /* What was not moved goes away before a signal can end the process. */
    for (size_t i = 0; i < files->count; i++) {
        struct file *file = &files->items[i];
        if (file->beside != NULL) {
            unlink(file->beside);
            free(file->beside);
            file->beside = NULL;
        }
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return result;
}
