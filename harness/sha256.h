/* sha256.h - SHA-256 (FIPS 180-4), to name a machine without telling its identity.
 *
 * Our own because OpenSSL is optional and nothing else we build with has it; not for anything
 * secret or fast.
 */
#ifndef LM_SHA256_H
#define LM_SHA256_H

#include <stddef.h>

/* Room for a digest as text. */
#define LM_SHA256_HEX_BYTES 65u

/* Writes the digest of `bytes` bytes as 64 lower-case hexadecimal digits and a NUL. */
void lm_sha256_hex(const void *data, size_t bytes, char hex[LM_SHA256_HEX_BYTES]);

#endif
