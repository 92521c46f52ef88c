/* The smallest thing that needs everything backend.h declares; compiled as C11 and as C++17. */
#include <loopmark/backend.h>

#if LM_BACKEND_ABI != 1
#error "this test knows contract 1"
#endif

const struct lm_backend *loopmark_backend(void)
{
    static struct lm_backend backend;
    backend.abi = LM_BACKEND_ABI;
    backend.name = "nothing";
    return &backend;
}
