/* Fuzz target: any bytes read as an HTTP request get one answer, however they are cut. */
#include "tests/fuzz/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    return fuzz_http(lm_http_request, data, bytes);
}
