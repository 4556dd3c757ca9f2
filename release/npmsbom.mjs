// node npmsbom.mjs LOCKFILE: the npm packages of the page as CycloneDX, from the lockfile, on stdout.
// What only builds or tests the page has the scope excluded. Two runs are equal.
import { readFileSync } from "node:fs";

const lock = JSON.parse(readFileSync(process.argv[2], "utf8"));
const components = Object.entries(lock.packages)
  .filter(([path]) => path !== "")
  .map(([path, p]) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const purl = `pkg:npm/${name.replace("@", "%40")}@${p.version}`;
    const [algorithm, digest] = p.integrity.split("-", 2);
    if (algorithm !== "sha512") throw new Error(`${name}: ${p.integrity} is no SHA-512`);
    return {
      "bom-ref": `${path}@${p.version}`,
      type: "library",
      name,
      version: p.version,
      scope: p.dev ? "excluded" : "required",
      hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }],
      ...(p.license ? { licenses: [{ expression: p.license }] } : {}),
      purl,
    };
  });
console.log(JSON.stringify({
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: { component: { type: "application", name: lock.name } },
  components,
}, null, 2));
