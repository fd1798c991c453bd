// The client of the official TypeScript SDK against the server "everything":
//   mcp.mjs legacy|modern stdio PROGRAM
//   mcp.mjs legacy|modern http URL
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { assert, check, runChecks, until, within } from "./checks.mjs";

const [era, way, where] = process.argv.slice(2);
const modern = era === "modern";

// wire is what has come from the server. The SDK drops a progress that comes in one piece with the result, and shows one error code for another, so
// these are looked at here.
const wire = [];
const heard = { messages: [], tools: 0, updated: [] };
const client = new Client({ name: "e2e", version: "1.0.0" }, {
  capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
  versionNegotiation: { mode: modern ? { pin: "2026-07-28" } : "legacy" },
});
client.setRequestHandler("sampling/createMessage", async (request) => ({
  role: "assistant", model: "e2e", content: { type: "text", text: `heard ${request.params.messages[0].content.text}` },
}));
client.setRequestHandler("elicitation/create", async (request) => {
  const content = {};
  for (const [name, schema] of Object.entries(request.params.requestedSchema.properties)) {
    content[name] = schema.default ?? (schema.type === "string" ? "ada@example.com" : 1);
  }
  return { action: "accept", content };
});
client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: "file:///e2e", name: "e2e" }, { uri: "file:///other" }] }));
client.setNotificationHandler("notifications/message", async (n) => void heard.messages.push(n.params));
client.setNotificationHandler("notifications/tools/list_changed", async () => void heard.tools++);
client.setNotificationHandler("notifications/resources/updated", async (n) => void heard.updated.push(n.params.uri));

const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
const text = (result) => result.content.filter((c) => c.type === "text").map((c) => c.text).join("\n");

check("connect", async () => {
  const transport = way === "stdio"
    ? new StdioClientTransport({ command: where, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(where));
  await client.connect(transport);
  const take = transport.onmessage;
  transport.onmessage = (message, extra) => {
    wire.push(message);
    take(message, extra);
  };
  assert.equal(client.getProtocolEra(), era);
  assert.equal(client.getNegotiatedProtocolVersion(), modern ? "2026-07-28" : "2025-11-25");
  assert.equal(client.getServerVersion().name, "everything");
  assert.ok(client.getInstructions());
});
check("tools/list", async () => {
  const { tools } = await client.listTools();
  assert.ok(tools.length > 30, `${tools.length} tools`);
  for (const tool of tools) assert.equal(tool.inputSchema.type, "object", tool.name);
});
check("tools/call", async () => {
  assert.match(text(await call("test_simple_text")), /simple text/);
  const mixed = await call("test_multiple_content_types");
  assert.deepEqual(mixed.content.map((c) => c.type), ["text", "image", "resource"]);
});
check("structured content", async () => {
  const result = await call("test_structured_content", { city: "Paris" }); // the SDK validates it
  assert.deepEqual(result.structuredContent, { city: "Paris", celsius: 21.5 });
});
check("tool that fails", async () => {
  const result = await call("test_error_handling");
  assert.equal(result.isError, true);
  assert.equal((await call("test_structured_content", { city: 5 })).isError, true);
});
check("unknown tool", async () => {
  await assert.rejects(call("nothing"), (err) => err.code === -32602);
});
check("progress", async () => {
  const steps = [];
  const from = wire.length;
  await call("test_tool_with_progress", {}, { onprogress: (p) => steps.push(p.progress) });
  assert.deepEqual(steps.slice(0, 2), [0, 50]);
  const came = wire.slice(from).map((m) => (m.method === "notifications/progress" ? m.params.progress : "result"));
  assert.deepEqual(came, [0, 50, 100, "result"]);
});
check("logging", async () => {
  if (modern) {
    await client.callTool({ name: "test_tool_with_logging", _meta: { "io.modelcontextprotocol/logLevel": "info" } });
  } else {
    await client.setLoggingLevel("info");
    await call("test_tool_with_logging");
  }
  await until(3, () => heard.messages.length);
  assert.deepEqual(heard.messages.map((m) => m.level), ["info", "info", "info"]);
});
check("sampling", async () => {
  assert.equal(text(await call("test_sampling", { prompt: "the prompt" })), "LLM response: heard the prompt");
});
check("elicitation", async () => {
  assert.match(text(await call("test_elicitation", { message: "who?" })), /accept.*ada@example\.com/);
  assert.match(text(await call("test_elicitation_sep1034_defaults")), /John Doe/);
});
check("roots", async () => {
  assert.match(text(await call("test_input_required_result_list_roots")), /2 roots/);
});
check("three questions at once", async () => {
  assert.match(text(await call("test_input_required_result_multiple_inputs")), /heard Write a greeting \(2 roots\)/);
});
check("two rounds", async () => {
  assert.match(text(await call("test_input_required_result_multi_round")), /likes/);
});
check("cancellation", async () => {
  const hanging = async () => text(await call("test_hanging"));
  const stop = new AbortController();
  const hang = call("test_hang", {}, { signal: stop.signal, timeout: 180_000 });
  hang.catch(() => {});
  await until("1", hanging);
  stop.abort("enough");
  await assert.rejects(within(60_000, hang, "the call that was cancelled"));
  await until("0", hanging);
});
check("resources", async () => {
  const { resources } = await client.listResources();
  assert.equal(resources.length, 3);
  const { contents } = await client.readResource({ uri: "test://static-text" });
  assert.match(contents[0].text, /static text/);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates[0].uriTemplate, "test://template/{id}/data");
  await assert.rejects(client.readResource({ uri: "test://nothing" }), /Resource not found/);
  assert.equal(wire.at(-1).error.code, modern ? -32602 : -32002);
  assert.deepEqual(wire.at(-1).error.data, { uri: "test://nothing" });
});
check("prompts", async () => {
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.length >= 5);
  const p = await client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "a", arg2: "b" } });
  assert.match(p.messages[0].content.text, /arg1='a', arg2='b'/);
  const asking = await client.getPrompt({ name: "test_input_required_result_prompt" });
  assert.match(asking.messages[0].content.text, /ada@example\.com/);
});
check("completion", async () => {
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "test_prompt_with_arguments" }, argument: { name: "arg1", value: "par" },
  });
  assert.deepEqual(completion.values, ["paris", "park", "party"]);
});
check("changes", async () => {
  let subscription;
  if (modern) {
    subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: ["test://watched-resource"] });
  } else {
    await client.subscribeResource({ uri: "test://watched-resource" });
  }
  await call("test_trigger_tool_change");
  await call("test_trigger_resource_update");
  await until(true, () => heard.tools > 0 && heard.updated.length > 0);
  assert.deepEqual([...new Set(heard.updated)], ["test://watched-resource"]);
  if (modern) await subscription.close();
  else await client.unsubscribeResource({ uri: "test://watched-resource" });
  await call("test_trigger_tool_change"); // as it was
});
check("a stream that is closed and taken up again", async () => {
  assert.match(text(await call("test_reconnection")), /completed/);
});
check("100 calls at once", async () => {
  const all = await Promise.all(Array.from({ length: 100 }, (_, i) => call("greet", { name: `${i}` })));
  assert.deepEqual(all.map(text), Array.from({ length: 100 }, (_, i) => `Hello, ${i}!`));
});
check("close", async () => {
  await within(60_000, client.close(), "close");
});

process.exitCode = await runChecks();
setTimeout(() => process.exit(), 2000).unref();
