// One function of lib/math.glsl on many arguments, for the test of their accuracy.
//
// CPU twin: the functions of `f64`

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Arguments { double x[]; };
layout(std430, binding = 1) readonly buffer Abscissas { double abscissa[]; };
layout(std430, binding = 2) writeonly buffer Values { double value[]; };

layout(push_constant) uniform Constants { uint count; uint which; };

#include "lib/thread.glsl"
#include "lib/math.glsl"

void main() {
    uint k = thread_index();
    if (k >= count) return;
    switch (which) {
        case 0u: value[k] = gusset_log(x[k]); break;
        case 1u: value[k] = gusset_log1p(x[k]); break;
        case 2u: value[k] = gusset_exp(x[k]); break;
        case 3u: value[k] = gusset_sin(x[k]); break;
        case 4u: value[k] = gusset_cos(x[k]); break;
        case 5u: value[k] = gusset_atan2(x[k], abscissa[k]); break;
        case 6u: value[k] = sqrt(x[k]); break;
        default: value[k] = x[k] / abscissa[k]; break;
    }
}
