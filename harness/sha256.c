#include "harness/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    BLOCK = 64
};

/* FIPS 180-4, 4.2.2: the cube roots' first 32 fractional bits of the first 64 primes. */
static const uint32_t round_constants[BLOCK] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void compress(uint32_t hash[8], const unsigned char block[BLOCK])
{
    uint32_t schedule[BLOCK], v[8];
    for (int i = 0; i < 16; i++) {
        schedule[i] = (uint32_t)block[i * 4] << 24 | (uint32_t)block[i * 4 + 1] << 16 |
                      (uint32_t)block[i * 4 + 2] << 8 | block[i * 4 + 3];
    }
    for (int i = 16; i < BLOCK; i++) {
        uint32_t a = schedule[i - 15], b = schedule[i - 2];
        schedule[i] = schedule[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + schedule[i - 7] +
                      (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(v, hash, sizeof(v));
    for (int i = 0; i < BLOCK; i++) {
        uint32_t e = v[4], a = v[0];
        uint32_t first = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                         ((e & v[5]) ^ (~e & v[6])) + round_constants[i] + schedule[i];
        uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                          ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof(v[0]));
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < 8; i++) {
        hash[i] += v[i];
    }
}

void lm_sha256_hex(const void *data, size_t bytes, char hex[LM_SHA256_HEX_BYTES])
{
    uint32_t hash[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *from = data;
    size_t left = bytes;
    for (; left >= BLOCK; from += BLOCK, left -= BLOCK) {
        compress(hash, from);
    }
    /* The end: a one bit, zeros, and the length in bits in the last eight bytes. */
    unsigned char tail[2 * BLOCK] = {0};
    size_t tail_bytes = left + 9 > BLOCK ? 2 * BLOCK : BLOCK;
    memcpy(tail, from, left);
    tail[left] = 0x80;
    for (unsigned i = 0; i < 8; i++) {
        tail[tail_bytes - 1 - i] = (unsigned char)((uint64_t)bytes * 8 >> i * 8);
    }
    for (size_t at = 0; at < tail_bytes; at += BLOCK) {
        compress(hash, tail + at);
    }
    for (int i = 0; i < 8; i++) {
        snprintf(hex + i * 8, 9, "%08x", hash[i]);
    }
}
