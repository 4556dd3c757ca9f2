// node comment.mjs FILE MARKER NUMBER: makes FILE the text of the comment of pull request NUMBER
// that begins with MARKER. There is at most one: it is updated, or created if there is none.
import { readFileSync } from "node:fs";

const [file, marker, number] = process.argv.slice(2);
const api = process.env.GITHUB_API_URL || "https://api.github.com";
const repository = process.env.GITHUB_REPOSITORY;
const pagesMost = 30; // of 100 comments each

async function call(method, path, body) {
  const answer = await fetch(api + path, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${process.env.GITHUB_TOKEN}`,
      "content-type": "application/json",
      "user-agent": "dyno-action",
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  if (!answer.ok) {
    const problem = new Error(`${method} ${path}: ${answer.status} ${(await answer.text()).slice(0, 200)}`);
    problem.status = answer.status;
    throw problem;
  }
  return answer.json();
}

async function find() {
  for (let page = 1; page <= pagesMost; page++) {
    const all = await call("GET", `/repos/${repository}/issues/${number}/comments?per_page=100&page=${page}`);
    const ours = all.find((c) => c.body?.startsWith(marker));
    if (ours || all.length < 100) return ours;
  }
}

if (!/^[\w.-]+\/[\w.-]+$/.test(repository ?? "") || !/^\d+$/.test(number ?? "")) {
  console.error(`::error::GITHUB_REPOSITORY (${repository}) or the pull request (${number}) is not valid`);
  process.exit(2);
}
try {
  const body = readFileSync(file, "utf8");
  const ours = await find();
  if (ours) await call("PATCH", `/repos/${repository}/issues/comments/${ours.id}`, { body });
  else await call("POST", `/repos/${repository}/issues/${number}/comments`, { body });
} catch (problem) {
  // A pull request from a fork has a token that may only read. The summary has the same text.
  if (problem.status !== 403 && problem.status !== 404) throw problem;
  console.log(`::warning::The comment could not be written: ${problem.message}`);
}
