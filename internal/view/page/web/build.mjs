// Bundles the page into ../dist: one script and one style sheet, which package page puts into
// every HTML file that it writes. With --tests it bundles the tests into build/, for node --test.
import { readFileSync } from "node:fs";
import { build } from "esbuild";

// The colours of figures are those of package drawing, as variables before the style sheet.
const colours = {
  name: "colours",
  setup: (b) => b.onLoad({ filter: /style\.css$/ }, ({ path }) => {
    const { inks } = JSON.parse(readFileSync("../../drawing/theme.json", "utf8"));
    const variables = Object.entries(inks).map(([name, [light, dark]]) => `--${name}: light-dark(${light}, ${dark});`);
    return { loader: "css", contents: `:root { ${variables.join(" ")} }\n` + readFileSync(path, "utf8") };
  }),
};

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
        plugins: [colours],
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
