// The checks that need no more than an echo server: echo returns its params,
// hang ends only when it is cancelled, active counts those that hang.
import { assert, check, refused, rpc, until, within } from "./checks.mjs";

export const REQUEST_CANCELLED = -32800;

/** echoChecks registers them for a connection that exists when they run. */
export function echoChecks(peer) {
  const echo = (params) => peer().sendRequest("echo", rpc.ParameterStructures.byName, params);

  check("object", async () => {
    const value = { a: [1, -2.5, 1e21, true, false, null, { b: {} }], "": "", nested: { deep: [[[[]]]] } };
    assert.deepEqual(await echo(value), value);
  });
  check("member order", async () => {
    const value = { zebra: 1, apple: 2, mango: { y: 1, x: 2 } };
    assert.equal(JSON.stringify(await echo(value)), JSON.stringify(value));
  });
  check("positional params", async () => {
    assert.deepEqual(await peer().sendRequest("echo", rpc.ParameterStructures.byPosition, 1, "two", [3]), [1, "two", [3]]);
  });
  check("unicode", async () => {
    const value = { text: "héllo wörld, 世界, עולם, 😀👩‍👩‍👧, \u0000\u001f\u2028\u2029\ufeff", "ключ😀": "\\\"/\b\f\n\r\t" };
    assert.deepEqual(await echo(value), value);
  });
  check("lone surrogate", async () => {
    // JSON.stringify escapes it; a server that decodes and encodes loses it.
    const value = { text: "a\ud800b\udfffc" };
    assert.deepEqual(await echo(value), value);
  });
  check("1 MiB", async () => {
    const text = "0123456789 é 世 😀\n".repeat(2 ** 16).slice(0, 2 ** 20);
    const answer = await echo({ text });
    assert.ok(answer.text === text, "the text came back changed");
    return `${Buffer.byteLength(JSON.stringify(answer))} bytes`;
  });
  check("1000 concurrent", async () => {
    const all = Array.from({ length: 1000 }, (_, n) => echo({ n, pad: "x".repeat(n) }));
    (await Promise.all(all)).forEach((answer, n) => {
      assert.equal(answer.n, n);
      assert.equal(answer.pad.length, n);
    });
  });
  check("unknown request", async () => {
    const err = await refused(peer().sendRequest("no/such/method", {}), rpc.ErrorCodes.MethodNotFound);
    assert.ok(err.message.length > 0);
  });
  check("unknown notification", async () => {
    await peer().sendNotification("no/such/notification", { a: 1 });
    assert.deepEqual(await echo({ after: true }), { after: true });
  });
  check("cancel by token", async () => {
    const source = new rpc.CancellationTokenSource();
    const hung = peer().sendRequest("hang", {}, source.token);
    hung.catch(() => {}); // it may be refused before it is awaited
    await until("active=1", () => peer().sendRequest("active"));
    source.cancel();
    await refused(within(60_000, hung, "the cancelled request"), REQUEST_CANCELLED);
    await until("active=0", () => peer().sendRequest("active"));
  });
  check("cancel 64, the others live", async () => {
    const sources = Array.from({ length: 64 }, () => new rpc.CancellationTokenSource());
    const hung = sources.map((s) => peer().sendRequest("hang", {}, s.token));
    hung.forEach((h) => h.catch(() => {}));
    await until("active=64", () => peer().sendRequest("active"));
    sources.slice(0, 32).forEach((s) => s.cancel());
    for (const h of hung.slice(0, 32)) await refused(h, REQUEST_CANCELLED);
    await until("active=32", () => peer().sendRequest("active"));
    assert.deepEqual(await echo({ between: true }), { between: true });
    sources.slice(32).forEach((s) => s.cancel());
    for (const h of hung.slice(32)) await refused(h, REQUEST_CANCELLED);
    await until("active=0", () => peer().sendRequest("active"));
  });
  check("cancel of a request that was answered", async () => {
    const source = new rpc.CancellationTokenSource();
    assert.deepEqual(await peer().sendRequest("echo", { n: 1 }, source.token), { n: 1 });
    source.cancel();
    assert.deepEqual(await echo({ n: 2 }), { n: 2 });
  });
}
