// Inverse of the matrix of each domain: up to 16 nodes, so 48 rows. One workgroup a domain; Gauss and Jordan without
// pivoting, which a positive definite matrix doesn't need.
//
// CPU twin: the dense inverse in the tests of crates/gpu

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Starts { uint starts[]; };
// Row and column among the domain's nodes (16 row + column), and block of the level's matrix, transposed or not.
layout(std430, binding = 1) readonly buffer Entries { uvec2 entries[]; };
layout(std430, binding = 2) readonly buffer Blocks { double blocks[]; };
layout(std430, binding = 3) writeonly buffer Inverses { double inverses[]; };
layout(std430, binding = 4) buffer Status { uint status[]; };

layout(push_constant) uniform Constants { uint count; };

#include "lib/thread.glsl"

const uint TRANSPOSED = 0x80000000u;
const uint N = 48u;

shared double a[N * N];
shared double pivot_row[N];
shared double pivot_column[N];

void main() {
    uint domain = group_index(), lane = gl_LocalInvocationID.x;
    // Every workgroup but those beyond the end goes through the same barriers.
    bool inside = domain < count / 64u;
    for (uint k = lane; k < N * N; k += 64u) a[k] = k % (N + 1u) == 0u ? 1.0lf : 0.0lf;
    barrier();
    if (inside) {
        uint first = starts[domain], entry_count = 9u * (starts[domain + 1u] - first);
        for (uint k = lane; k < entry_count; k += 64u) {
            uvec2 entry = entries[first + k / 9u];
            uint r = k % 9u / 3u, c = k % 3u;
            bool turned = (entry.y & TRANSPOSED) != 0u;
            uint base = 9u * (entry.y & ~TRANSPOSED);
            double value = blocks[base + (turned ? 3u * c + r : 3u * r + c)];
            uint row = 3u * (entry.x / 16u) + r, column = 3u * (entry.x % 16u) + c;
            a[N * row + column] = value;
            if (entry.x / 16u != entry.x % 16u) a[N * column + row] = value;
        }
    }
    barrier();
    for (uint k = 0u; k < N; ++k) {
        double pivot = a[N * k + k];
        barrier();
        for (uint j = lane; j < N; j += 64u) {
            pivot_row[j] = j == k ? 1.0lf / pivot : a[N * k + j] / pivot;
            pivot_column[j] = a[N * j + k];
        }
        if (lane == 0u && inside && !(pivot > 0.0lf)) atomicOr(status[0], 2u);
        barrier();
        for (uint t = lane; t < N * N; t += 64u) {
            uint i = t / N, j = t % N;
            if (i == k) {
                a[t] = pivot_row[j];
            } else {
                double kept = j == k ? 0.0lf : a[t];
                precise double less = pivot_column[i] * pivot_row[j];
                a[t] = kept - less;
            }
        }
        barrier();
    }
    if (inside) {
        for (uint t = lane; t < N * N; t += 64u) {
            // Symmetric to the last bit, so that the preconditioner is.
            uint i = t / N, j = t % N;
            precise double mean = 0.5lf * (a[N * i + j] + a[N * j + i]);
            inverses[N * N * domain + t] = mean;
        }
    }
}
