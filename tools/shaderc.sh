#!/usr/bin/env bash
# Makes shaderc linkable and says where it is:
#
#   eval "$(tools/shaderc.sh)"
#   cargo build --release --features shaderc
#
# Debian's libshaderc.so and libshaderc_combined.a both lack glslang and SPIRV-Tools, so neither links as it is. All of them
# merged into one archive do, with any linker. Where the packages are missing, the crate builds shaderc from source instead:
# ten minutes, and it needs cmake.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${SHADERC_LIB_DIR:-}" ]; then
    echo "export SHADERC_LIB_DIR=$SHADERC_LIB_DIR"
    exit
fi
libraries=/usr/lib/$(gcc -print-multiarch)
if [ ! -f "$libraries/libshaderc_combined.a" ]; then
    echo "no libshaderc_combined.a in $libraries: apt-get install libshaderc-dev, or let cargo build shaderc" >&2
    exit
fi
folder=$PWD/target/shaderc-lib
mkdir -p "$folder"
if [ ! -f "$folder/libshaderc_combined.a" ]; then
    # Whole or not at all.
    new=$folder/new.$$.a
    {
        echo "create $new"
        for archive in shaderc_combined glslang MachineIndependent GenericCodeGen OSDependent OGLCompiler HLSL SPIRV \
            SPIRV-Tools-opt SPIRV-Tools; do
            if [ -f "$libraries/lib$archive.a" ]; then echo "addlib $libraries/lib$archive.a"; fi
        done
        echo save
        echo end
    } | ar -M
    mv "$new" "$folder/libshaderc_combined.a"
fi
echo "export SHADERC_LIB_DIR=$folder"
