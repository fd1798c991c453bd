// language.mjs stdio|pipe|socket FOLDER SERVER: a session with the Markdown
// language server the way VS Code's client opens one. With a pipe or a socket
// the client listens and the server connects.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { assert, check, refused, rpc, runChecks, start, until, within } from "./checks.mjs";

const [mode, folder, program] = process.argv.slice(2);
const uri = pathToFileURL(join(folder, "index.md")).href;
const text = readFileSync(join(folder, "index.md"), "utf8");
const published = []; // diagnostics for the document, oldest first
let server, connection;

const transports = {
  async stdio() {
    server = start([program, "--stdio"], ["pipe", "pipe", "inherit"]);
    return [new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin)];
  },
  async pipe() {
    const name = rpc.generateRandomPipeName();
    return connected(await rpc.createClientPipeTransport(name), `--pipe=${name}`);
  },
  async socket() {
    const port = await freePort();
    return connected(await rpc.createClientSocketTransport(port), `--socket=${port}`);
  },
};

async function connected(transport, flag) {
  server = start([program, flag, `--clientProcessId=${process.pid}`], ["ignore", "inherit", "inherit"]);
  return await within(60_000, transport.onConnected(), `the server's connection with ${flag}`);
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

const latest = () => published.at(-1);

check("open", async () => {
  const [reader, writer] = await transports[mode]();
  connection = rpc.createMessageConnection(reader, writer);
  connection.onNotification("textDocument/publishDiagnostics", (p) => p.uri === uri && published.push(p));
  connection.onRequest((method) => {
    // What an editor without further features answers.
    if (method === "workspace/configuration") return [null];
    return null;
  });
  connection.listen();
});
check("refused before initialize", async () => {
  await refused(connection.sendRequest("textDocument/hover", { textDocument: { uri }, position: { line: 0, character: 0 } }), -32002);
});
check("initialize", async () => {
  const result = await connection.sendRequest("initialize", {
    processId: process.pid,
    clientInfo: { name: "e2e", version: "1" },
    rootUri: pathToFileURL(folder).href,
    workspaceFolders: [{ uri: pathToFileURL(folder).href, name: "notes" }],
    capabilities: { general: { positionEncodings: ["utf-16"] }, textDocument: { publishDiagnostics: { versionSupport: true } } },
  });
  assert.ok(result.capabilities.hoverProvider, JSON.stringify(result.capabilities));
  assert.equal(result.capabilities.positionEncoding ?? "utf-16", "utf-16");
  await connection.sendNotification("initialized", {});
});
check("diagnostic appears", async () => {
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "markdown", version: 1, text },
  });
  await until(1, () => latest()?.diagnostics.length);
  const { range, message } = latest().diagnostics[0];
  const line = text.split("\n")[range.start.line];
  const at = line.slice(range.start.character, range.end.character);
  assert.ok(at.length > 0 && "[gone](missing.md)".includes(at), `the diagnostic marks ${JSON.stringify(at)}`);
  return message;
});
check("2000 edits and a hover among them", async () => {
  // Each edit types one character at the end of the first line; the hover asks
  // in the middle of the burst, and what comes after it must not confuse it.
  const column = text.split("\n")[0].length;
  let hover;
  for (let n = 0; n < 2000; n++) {
    connection.sendNotification("textDocument/didChange", {
      textDocument: { uri, version: 2 + n },
      contentChanges: [{ range: { start: { line: 0, character: column + n }, end: { line: 0, character: column + n } }, text: "x" }],
    });
    if (n === 1000) {
      hover = connection.sendRequest("textDocument/hover", {
        textDocument: { uri },
        position: { line: 1, character: text.split("\n")[1].indexOf("other.md") },
      });
    }
  }
  assert.match(JSON.stringify(await hover), /Other note/);
});
check("edit clears the diagnostic", async () => {
  const line = text.split("\n")[2];
  const from = line.indexOf("missing.md");
  await connection.sendNotification("textDocument/didChange", {
    textDocument: { uri, version: 3000 },
    contentChanges: [
      { range: { start: { line: 2, character: from }, end: { line: 2, character: from + "missing".length } }, text: "other" },
    ],
  });
  await until("version 3000: 0", () => `version ${latest()?.version}: ${latest()?.diagnostics.length}`);
});
check("unknown requests and notifications", async () => {
  await refused(connection.sendRequest("e2e/unknown", {}), rpc.ErrorCodes.MethodNotFound);
  await refused(connection.sendRequest("$/e2e", {}), rpc.ErrorCodes.MethodNotFound);
  await connection.sendNotification("$/e2e", {});
});
check("shutdown and exit", async () => {
  assert.equal(await within(2_000, connection.sendRequest("shutdown"), "the answer to shutdown"), null);
  await refused(connection.sendRequest("textDocument/hover", { textDocument: { uri }, position: { line: 0, character: 0 } }), -32600);
  await connection.sendNotification("exit");
  assert.equal(await within(60_000, server.ended, "the end of the server"), 0);
});
process.exit(await runChecks());
