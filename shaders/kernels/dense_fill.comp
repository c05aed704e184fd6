// The scaled matrix as a full lower triangle, which was set to 0, and the scaled right-hand side as one more row below it: the
// factorisation then solves the first triangular system by itself. One thread a number of a block, a row of padding, or a
// number of the right-hand side.
//
// CPU twin: `DenseCholesky::factorise` in crates/system/src/dense.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Places { uvec2 places[]; };
layout(std430, binding = 1) readonly buffer Blocks { double blocks[]; };
layout(std430, binding = 2) readonly buffer Scale { double scale[]; };
layout(std430, binding = 3) readonly buffer Right { double right[]; };
// Row after row.
layout(std430, binding = 4) writeonly buffer Matrix { double a[]; };

layout(push_constant) uniform Constants {
    uint count;     // blocks
    uint n;         // rows of the matrix
    uint padded;    // a multiple of the tile's
};

#include "lib/thread.glsl"

void main() {
    uint k = thread_index();
    if (k < 9u * count) {
        uint block = k / 9u, r = k % 9u / 3u, c = k % 3u;
        uint row = 3u * places[block].x + r, column = 3u * places[block].y + c;
        precise double scaled = scale[row] * blocks[k] * scale[column];
        if (row >= column) a[padded * row + column] = scaled;
    }
    if (k < n) {
        precise double scaled = scale[k] * right[k];
        a[padded * padded + k] = scaled;
    } else if (k < padded) {
        a[padded * k + k] = 1.0lf;
    }
}
