// Two clients with the official TypeScript SDK at the same time, of a revision with sessions and of one without, at the notes that one process of demo-mcp serves:
//   agents.mjs URL
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { assert, check, runChecks } from "./checks.mjs";

const url = new URL(process.argv[2]);
const text = (result) => result.content.map((c) => c.text ?? c.resource?.text ?? "").join("\n");

// agent is a client that is asked before anything is overwritten, and agrees.
function agent(name, mode) {
  const client = new Client({ name, version: "1.0.0" }, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } });
  client.asked = 0;
  client.setRequestHandler("elicitation/create", async (request) => {
    client.asked++;
    return { action: "accept", content: Object.fromEntries(Object.keys(request.params.requestedSchema.properties).map((name) => [name, true])) };
  });
  return client;
}
const first = agent("first", "legacy"), second = agent("second", { pin: "2026-07-28" });
const transport = new StreamableHTTPClientTransport(url);

// work is what both do, each with a note of its own.
async function work(client, note) {
  const tool = (name, args) => client.callTool({ name, arguments: args });
  for (let i = 0; i < 10; i++) {
    const [tools, index, found, resources] = await Promise.all([
      client.listTools(), tool("read_note", { slug: "index" }), tool("search", { query: "text of the other note" }), client.listResourceTemplates(),
    ]);
    assert.ok(tools.tools.some((t) => t.name === "read_note"));
    assert.match(text(index), /# Index/);
    assert.match(text(found), /other/);
    assert.equal(resources.resourceTemplates.length, 1);
    await assert.rejects(client.getPrompt({ name: `none ${note}` }));
  }
  assert.ok(!(await tool("create_note", { slug: note, text: "# One\n" })).isError);
  const asked = client.asked;
  const again = await tool("create_note", { slug: note, text: "# Two\n" });
  assert.ok(!again.isError, text(again));
  assert.equal(client.asked, asked + 1);
  assert.match(text(await tool("read_note", { slug: note })), /# Two/);
}

check("two clients connect", async () => {
  await first.connect(transport);
  await second.connect(new StreamableHTTPClientTransport(url));
  assert.equal(first.getNegotiatedProtocolVersion(), "2025-11-25");
  assert.equal(second.getNegotiatedProtocolVersion(), "2026-07-28");
});
check("they work side by side", async () => {
  await Promise.all([work(first, "first"), work(second, "second")]);
}, 120_000);
check("they leave", async () => {
  await transport.terminateSession();
  await Promise.all([first.close(), second.close()]);
});
process.exit(await runChecks());
