// z = A^-1 r within each domain, plus what the level above says of the whole domain. One workgroup a domain, one thread a
// row.

layout(local_size_x = 48) in;

layout(std430, binding = 0) readonly buffer Members { uint members[]; };
layout(std430, binding = 1) readonly buffer Inverses { double inverses[]; };
layout(std430, binding = 2) readonly buffer Residual { double r[]; };
layout(std430, binding = 3) readonly buffer Coarse { double coarse[]; };
layout(std430, binding = 4) writeonly buffer Corrected { double z[]; };

layout(push_constant) uniform Constants { uint count; uint with_coarse; };

#include "lib/thread.glsl"

shared double local_r[48];

void main() {
    uint domain = group_index(), lane = gl_LocalInvocationID.x;
    bool inside = domain < count / 48u;
    uint node = inside ? members[16u * domain + lane / 3u] : 0xffffffffu;
    bool present = node != 0xffffffffu;
    local_r[lane] = present ? r[3u * node + lane % 3u] : 0.0lf;
    barrier();
    if (!present) return;
    precise double sum = with_coarse != 0u ? coarse[3u * domain + lane % 3u] : 0.0lf;
    for (uint k = 0u; k < 48u; ++k) sum += inverses[2304u * domain + 48u * k + lane] * local_r[k];
    z[3u * node + lane % 3u] = sum;
}
