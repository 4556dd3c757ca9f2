// Bundles the page into ../dist: one script and one style sheet, which package page puts into
// every HTML file that it writes. With --tests it bundles the tests into build/, for node --test.
import { build } from "esbuild";

const tests = process.argv.includes("--tests");

await build(
  tests
    ? {
        entryPoints: ["test/*.test.ts"],
        outdir: "build",
        bundle: true,
        platform: "node",
        format: "esm",
        outExtension: { ".js": ".mjs" },
        logLevel: "warning",
      }
    : {
        entryPoints: [
          { in: "src/main.ts", out: "page" },
          { in: "src/style.css", out: "page" },
        ],
        outdir: "../dist",
        bundle: true,
        minify: true,
        logOverride: { "import-is-undefined": "error" },
        format: "iife",
        target: "es2022",
        charset: "utf8",
        legalComments: "none",
        logLevel: "warning",
      },
);
