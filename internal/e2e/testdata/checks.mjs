// What the Node.js client scripts share: checks that report one line each,
// bounded waiting, and servers as child processes.
import { spawn } from "node:child_process";
import assert from "node:assert/strict";
import { createRequire } from "node:module";

export { assert };
export const rpc = createRequire(import.meta.url)("vscode-jsonrpc/node");

const planned = [];

/** check registers one check, that may take ms. They run in the order they are registered. */
export function check(name, run, ms = 180_000) {
  planned.push({ name, run, ms });
}

const report = (line) => process.stdout.write(`e2e ${JSON.stringify(line)}\n`);

/** runChecks runs them all and returns the exit code: 0 when all passed. */
export async function runChecks() {
  report({ plan: planned.map((c) => c.name) });
  let code = 0;
  for (const { name, run, ms: limit } of planned) {
    const began = process.hrtime.bigint();
    try {
      const detail = (await within(limit, run(), name)) ?? "";
      const ms = Number((process.hrtime.bigint() - began) / 1000n) / 1000;
      report({ check: name, ok: true, detail: `${ms.toFixed(1)} ms ${detail}`.trim() });
    } catch (err) {
      code = 1;
      report({ check: name, ok: false, detail: String(err?.stack ?? err).slice(0, 4000) });
    }
  }
  return code;
}

/** within rejects when a promise takes longer than ms. */
export async function within(ms, promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing after ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** until asks again and again until the answer is the wanted one. */
export async function until(want, ask, ms = 60_000) {
  const end = Date.now() + ms;
  for (;;) {
    const got = await ask();
    if (got === want) return;
    if (Date.now() > end) assert.equal(got, want, `still so after ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** refused awaits a response with an error and returns that error. */
export async function refused(promise, code) {
  let result;
  try {
    result = await promise;
  } catch (err) {
    assert.ok(err instanceof rpc.ResponseError, `not a response: ${err?.stack ?? err}`);
    if (code !== undefined) assert.equal(err.code, code);
    return err;
  }
  assert.fail(`answered ${JSON.stringify(result)?.slice(0, 200)} instead of an error`);
}

/** start starts a server; it is killed, by its pid, if it outlives this script. */
export function start(argv, stdio) {
  const child = spawn(argv[0], argv.slice(1), { stdio });
  child.ended = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(signal ?? code));
  });
  child.ended.catch(() => {});
  process.on("exit", () => child.exitCode === null && child.kill("SIGKILL"));
  return child;
}

/** trouble collects what a connection complains about: it must stay empty. */
export function trouble(connection) {
  const seen = [];
  connection.onError(([err]) => seen.push(String(err)));
  connection.onUnhandledNotification((n) => seen.push(`unhandled notification ${n.method}`));
  return seen;
}
