// node comment.mjs FILE NAME NUMBER: makes FILE the text of our comment of pull request NUMBER for the
// comparison NAME. There is at most one: it is updated, or created if there is none. A comment is ours
// if the token's own user wrote it: anybody can write one that begins as ours does.
import { openSync, readSync } from "node:fs";

const [file, name, number] = process.argv.slice(2);
const api = process.env.GITHUB_API_URL || "https://api.github.com";
const repository = process.env.GITHUB_REPOSITORY;
const marker = `<!-- dyno vs: ${name} -->`;
const pagesMost = 30; // of 100 comments each
const bytesMost = 16 << 10;

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

// The login of the token's user. A job's own token is an app's, which may not ask who it is.
async function author() {
  try {
    return (await call("GET", "/user")).login;
  } catch (problem) {
    if (problem.status !== 403 && problem.status !== 401) throw problem;
    return process.env.DYNO_AUTHOR || "github-actions[bot]";
  }
}

async function find(login) {
  for (let page = 1; page <= pagesMost; page++) {
    const all = await call("GET", `/repos/${repository}/issues/${number}/comments?per_page=100&page=${page}`);
    const ours = all.find((c) => c.user?.login === login && c.body?.startsWith(marker));
    if (ours || all.length < 100) return ours;
  }
}

// The text comes from a job that ran the pull request's code, so it may be anybody's. It mentions
// nobody, leads nowhere and has no elements but dyno's own.
function plain(text) {
  return text
    .replace(/<(?!\/?(details|summary)>)(?=[a-z!?/])/gi, "&lt;")
    .replace(/@(?=[\w-])/g, "&#64;")
    .replace(/\](?=\s*[([:])/g, "&#93;")
    .replace(/(https?|ftp):\/\//gi, "$1:&#47;&#47;")
    .replace(/www\./gi, "www&#46;");
}

function read(path) {
  const bytes = Buffer.alloc(bytesMost + 1);
  const size = readSync(openSync(path), bytes);
  if (size > bytesMost) throw new Error(`${path} has more than ${bytesMost} bytes, and dyno writes fewer`);
  return bytes.subarray(0, size).toString("utf8");
}

if (!/^[\w.-]+\/[\w.-]+$/.test(repository ?? "") || !/^\d+$/.test(number ?? "") || !/^[\w .+-]+$/.test(name ?? "")) {
  console.error(`::error::GITHUB_REPOSITORY (${repository}), the pull request (${number}) or the name is not valid`);
  process.exit(2);
}
try {
  const body = `${marker}\n${plain(read(file))}`;
  const ours = await find(await author());
  if (ours) await call("PATCH", `/repos/${repository}/issues/comments/${ours.id}`, { body });
  else await call("POST", `/repos/${repository}/issues/${number}/comments`, { body });
} catch (problem) {
  // A pull request from a fork has a token that may only read. The summary has the same text.
  if (problem.status !== 403 && problem.status !== 404) throw problem;
  console.log(`::warning::The comment could not be written: ${problem.message}`);
}
