// Bundles src/main.js with three.js into dist/viewer.js: `npm ci && npm run build`.
// The bundle is checked in, so building Gusset needs no Node.
import { build } from "esbuild";
import { copyFile, readdir, readFile, stat, writeFile } from "node:fs/promises";

const { version } = JSON.parse(await readFile("node_modules/three/package.json", "utf8"));

// A test compares this sum (FNV-1a, 32 bits) with the sources, so that a stale bundle is noticed.
let sum = 0x811c9dc5;
for (const name of (await readdir("src")).filter((n) => n.endsWith(".js")).sort()) {
  for (const byte of await readFile(`src/${name}`)) sum = Math.imul(sum ^ byte, 0x01000193);
}
const sources = (sum >>> 0).toString(16).padStart(8, "0");

await build({
  entryPoints: ["src/main.js"],
  outfile: "dist/viewer.js",
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
  banner: {
    js: `/* Gusset viewer, sources ${sources}; contains three.js ${version}, Copyright 2010-2026 three.js authors, MIT licence (three-LICENSE.txt). */`,
  },
});
await copyFile("node_modules/three/LICENSE", "dist/three-LICENSE.txt");

// The lock keeps versions and checksums, not the address of anybody's mirror.
const lock = JSON.parse(await readFile("package-lock.json", "utf8"));
for (const entry of Object.values(lock.packages)) delete entry.resolved;
await writeFile("package-lock.json", JSON.stringify(lock, null, 2) + "\n");

const { size } = await stat("dist/viewer.js");
console.log(`dist/viewer.js: ${(size / 1000).toFixed(0)} kB`);
if (size > 600_000) throw new Error("the bundle is larger than 600 kB");
