/* replay.c - runs a fuzz target over stored inputs, without a fuzzer: replay DIRECTORY... Every
 * input is also tried cut short at each of its first bytes. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum {
    MOST_BYTES = 1 << 20,
    MOST_PREFIXES = 512
};

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    uint8_t *data = malloc(MOST_BYTES);
    fuzz_check(data != NULL);
    size_t bytes = fread(data, 1, MOST_BYTES, file);
    fclose(file);
    for (size_t cut = 0; cut < bytes && cut < MOST_PREFIXES; cut++) {
        LLVMFuzzerTestOneInput(data, cut);
    }
    LLVMFuzzerTestOneInput(data, bytes);
    free(data);
    return 0;
}

/* Number of inputs replayed, or -1. */
static int replay_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    int count = 0;
    const struct dirent *entry;
    while (count >= 0 && (entry = readdir(directory))) {
        char file[4096];
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        count = replay_file(file) == 0 ? count + 1 : -1;
    }
    closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int count = replay_directory(argv[i]);
        if (count <= 0) {
            fprintf(stderr, "%s: no inputs\n", argv[i]);
            return 1;
        }
        printf("%s: %d inputs\n", argv[i], count);
    }
    return argc > 1 ? 0 : 1;
}
