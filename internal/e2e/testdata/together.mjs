// A person in Neovim and an agent with the client of the official TypeScript SDK at the same notes, which one process of demo-lsp serves.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { assert, check, runChecks, start, until } from "./checks.mjs";

const { E2E_NVIM: nvim, E2E_LUA: lua, E2E_FOLDER: folder, E2E_SCRATCH: scratch } = process.env;
const control = join(scratch, "nvim.sock");
const patience = 60_000;

let editor;
const remote = (...args) => execFileSync(nvim, ["--server", control, ...args], { encoding: "utf8", timeout: patience, stdio: ["ignore", "pipe", "pipe"] });
const state = () => {
  remote("--remote-expr", "luaeval('state()')"); // what it returns is printed to one place or another
  return JSON.parse(readFileSync(join(scratch, "state.json"), "utf8"));
};
const keys = (text) => remote("--remote-send", text);
const buffer = () => state().lines.join("\n");
const file = () => readFileSync(join(folder, "index.md"), "utf8");

const clients = { "2025-11-25": agent("legacy"), "2026-07-28": agent({ pin: "2026-07-28" }) };
const updated = { "2025-11-25": 0, "2026-07-28": 0 };
function agent(mode) {
  return new Client({ name: "agent", version: "1.0.0" }, { versionNegotiation: { mode } });
}
const [first, second] = Object.values(clients);
const tool = (client, name, args) => client.callTool({ name, arguments: args });
const text = (result) => result.content.map((c) => c.text ?? c.resource?.text ?? "").join("\n");

check("Neovim opens a note", async () => {
  editor = start([nvim, "--clean", "--headless", "-n", "--listen", control, "-c", `luafile ${lua}`], ["ignore", "ignore", "inherit"]);
  const ask = (f) => () => { try { return f(); } catch { return undefined; } };
  await until(true, ask(() => state().ready), patience);
  await until(1, ask(() => state().diagnostics.length), patience);
});
check("agents connect", async () => {
  const url = /serving (http:\S+)/.exec(readFileSync(join(scratch, "stderr"), "utf8"))[1];
  for (const [revision, client] of Object.entries(clients)) {
    client.setNotificationHandler("notifications/resources/updated", async (n) => {
      if (n.params.uri === "notes://index") updated[revision]++;
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    assert.equal(client.getNegotiatedProtocolVersion(), revision);
  }
  await first.subscribeResource({ uri: "notes://index" });
  await second.listen({ resourceSubscriptions: ["notes://index"] });
});
check("an agent reads what is not saved", async () => {
  const before = file();
  keys("Go𝄞 typed, not saved<Esc>");
  await until(true, async () => text(await tool(first, "read_note", { slug: "index" })).includes("𝄞 typed, not saved"));
  assert.equal(file(), before);
  const note = await tool(first, "read_note", { slug: "index" });
  assert.equal(note.structuredContent.unsaved, true);
  const { contents } = await second.readResource({ uri: "notes://index" });
  assert.equal(contents[0].text, text(note));
});
check("an agent sees the editor's diagnostics", async () => {
  const { problems } = (await tool(second, "check_links", { slug: "index" })).structuredContent;
  assert.deepEqual(problems.map((p) => p.message), state().diagnostics);
});
let version;
check("an agent's edit appears in the editor", async () => {
  const note = await tool(first, "read_note", { slug: "index" });
  version = note.structuredContent.version;
  const before = file();
  const result = await tool(first, "edit_note", {
    slug: "index", version, edits: [{ old: "missing.md", new: "other.md" }, { old: "typed, not", new: "edited by an agent, not" }],
  });
  assert.ok(!result.isError, text(result));
  assert.match(buffer(), /𝄞 edited by an agent, not saved/);
  await until(0, () => state().diagnostics.length);
  assert.equal(file(), before);
  assert.ok(state().modified);
});
check("who read before gets a conflict", async () => {
  const result = await tool(second, "edit_note", { slug: "index", version, text: "overwritten" });
  assert.equal(result.isError, true);
  assert.match(text(result), /edited by an agent/);
  assert.doesNotMatch(buffer(), /overwritten/);
});
check("agents are told when the person types", async () => {
  const before = { ...updated };
  keys("Goand typed again<Esc>");
  for (const revision of Object.keys(updated)) await until(true, () => updated[revision] > before[revision]);
  await until(true, async () => text(await tool(second, "read_note", { slug: "index" })).includes("and typed again"));
});
check("an agent's new note mends the person's link", async () => {
  keys("Go[new](new.md)<Esc>");
  await until(1, () => state().diagnostics.length);
  const result = await tool(second, "create_note", { slug: "new", text: "# New\n" });
  assert.ok(!result.isError, text(result));
  await until(0, () => state().diagnostics.length);
});
check("over the Unix socket, one message a line", async () => {
  const socket = connect(join(scratch, "mcp.sock"));
  const answer = await new Promise((resolve, reject) => {
    socket.on("data", (b) => resolve(String(b)));
    socket.on("error", reject);
    socket.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  });
  assert.equal(JSON.parse(answer).id, 1);
  socket.destroy();
});
check("the editor quits, and so does everything", async () => {
  let lost = 0;
  for (const client of Object.values(clients)) client.onerror = () => lost++;
  try {
    keys(":quitall!<CR>");
  } catch (err) {
    if (!/closed by the client/.test(String(err))) throw err; // it was gone before it said that it had got the keys
  }
  assert.equal(await editor.ended, 0);
  await assert.rejects(tool(first, "list_notes"), (err) => /fetch failed|terminated|ECONN/.test(String(err)));
  for (const client of Object.values(clients)) await client.close();
});

process.exit(await runChecks());
