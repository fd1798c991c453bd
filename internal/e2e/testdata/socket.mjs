// socket.mjs connect|listen|pipe PEER: vscode-jsonrpc and the peer of this
// folder over a socket, each calling the other. "connect": the peer listens on
// a TCP port. "listen" and "pipe": we listen, as editors do, and it connects.
import { createServer, connect } from "node:net";
import { createInterface } from "node:readline";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { assert, check, refused, rpc, runChecks, start, trouble, until, within } from "./checks.mjs";
import { echoChecks, REQUEST_CANCELLED } from "./echo.mjs";

const [mode, program] = process.argv.slice(2);
let peer, connection, complaints;
const notes = []; // what "note" notifications brought
const slow = { started: 0, cancelled: 0 };

async function open() {
  if (mode === "connect") {
    peer = start([program, "-listen", "127.0.0.1:0"], ["ignore", "pipe", "inherit"]);
    const [line] = await once(createInterface({ input: peer.stdout }), "line");
    const [host, port] = line.split(":");
    const socket = connect({ host, port: Number(port) });
    await once(socket, "connect");
    return socket;
  }
  const server = createServer();
  let address;
  if (mode === "pipe") {
    const dir = mkdtempSync(join(tmpdir(), "e2e-"));
    process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
    address = ["unix", join(dir, "s")];
    server.listen(address[1]);
  } else {
    server.listen(0, "127.0.0.1");
  }
  await once(server, "listening");
  address ??= ["tcp", `127.0.0.1:${server.address().port}`];
  peer = start([program, "-network", address[0], "-connect", address[1]], ["ignore", "inherit", "inherit"]);
  const [socket] = await within(60_000, once(server, "connection"), "the peer's connection");
  server.close();
  return socket;
}

const once = (emitter, event) =>
  new Promise((resolve, reject) => {
    emitter.once(event, (...args) => resolve(args));
    emitter.once("error", reject);
  });

check("open", async () => {
  const socket = await open();
  socket.setNoDelay(true);
  connection = rpc.createMessageConnection(new rpc.SocketMessageReader(socket), new rpc.SocketMessageWriter(socket));
  complaints = trouble(connection);
  connection.onRequest("add", ({ a, b }) => a + b);
  connection.onRequest("bounce", ({ n }) => (n === 0 ? "bottom" : connection.sendRequest("bounce", { n: n - 1 })));
  connection.onRequest("deny", () => {
    throw new rpc.ResponseError(-32099, "not today", { until: ["tomorrow", "😀"] });
  });
  connection.onRequest("slow", (...args) => {
    const token = args.at(-1); // the only argument when the call has no params
    slow.started++;
    return new Promise((_, reject) =>
      token.onCancellationRequested(() => {
        slow.cancelled++;
        reject(new rpc.ResponseError(REQUEST_CANCELLED, "cancelled in node"));
      }),
    );
  });
  connection.onNotification("note", ({ n }) => notes.push(n));
  connection.listen();
});

echoChecks(() => connection);

check("error with data", async () => {
  const err = await refused(connection.sendRequest("fail", { code: -32050, message: "nö", data: { why: [1, null] } }), -32050);
  assert.equal(err.message, "nö");
  assert.deepEqual(err.data, { why: [1, null] });
});
check("invalid params", async () => {
  await refused(connection.sendRequest("fail", { code: "seven" }), rpc.ErrorCodes.InvalidParams);
});
check("panic is contained", async () => {
  const err = await refused(connection.sendRequest("panic", {}), rpc.ErrorCodes.InternalError);
  assert.equal(err.message, "Internal error");
  assert.equal(err.data, undefined);
  assert.deepEqual(await connection.sendRequest("echo", { alive: true }), { alive: true });
});
check("notifications to the peer, in order", async () => {
  for (let n = 0; n < 500; n++) connection.sendNotification("note", { n });
  const got = await connection.sendRequest("noted");
  assert.deepEqual(got, Array.from({ length: 500 }, (_, n) => n));
});
check("notifications from the peer, before its answer", async () => {
  notes.length = 0;
  assert.equal(await connection.sendRequest("announce", { count: 500 }), 500);
  assert.deepEqual(notes, Array.from({ length: 500 }, (_, n) => n));
});
check("the peer calls back", async () => {
  assert.equal(await connection.sendRequest("relay", { method: "add", params: { a: 19, b: 23 } }), 42);
});
check("200 calls back at once", async () => {
  const all = Array.from({ length: 200 }, (_, n) =>
    connection.sendRequest("relay", { method: "add", params: { a: n, b: 1 } }),
  );
  assert.deepEqual(await Promise.all(all), Array.from({ length: 200 }, (_, n) => n + 1));
});
check("calls within calls, 50 deep", async () => {
  assert.equal(await connection.sendRequest("bounce", { n: 50 }), "bottom");
});
check("our error reaches the peer whole", async () => {
  const err = await refused(connection.sendRequest("relay", { method: "deny" }), -32099);
  assert.equal(err.message, "not today");
  assert.deepEqual(err.data, { until: ["tomorrow", "😀"] });
});
check("method we lack", async () => {
  await refused(connection.sendRequest("relay", { method: "lacking", params: {} }), rpc.ErrorCodes.MethodNotFound);
});
check("the peer gives up a call", async () => {
  const before = slow.cancelled;
  assert.equal(await connection.sendRequest("impatient", { method: "slow", ms: 20 }), "gave up");
  await until(before + 1, () => slow.cancelled);
});
check("our cancel travels through the peer and back", async () => {
  const source = new rpc.CancellationTokenSource();
  const before = { ...slow };
  const relayed = connection.sendRequest("relay", { method: "slow" }, source.token);
  relayed.catch(() => {});
  await until(before.started + 1, () => slow.started);
  source.cancel();
  await refused(relayed, REQUEST_CANCELLED);
  await until(before.cancelled + 1, () => slow.cancelled);
});
check("clean end", async () => {
  connection.end();
  assert.equal(await within(60_000, peer.ended, "the end of the peer"), 0);
  assert.deepEqual(complaints, []);
});
process.exit(await runChecks());
