// inspector-page.mjs CHROMIUM INSPECTOR CONFIG: somebody clicks through the page
// of the MCP Inspector: connects to each server of a configuration, looks at
// its tools, calls one and reads the result, then a resource.
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { assert, check, runChecks, within } from "./checks.mjs";
import { freePorts, open, patience, story } from "./browser.mjs";

const [chromium, inspector, config] = process.argv.slice(2);
const servers = Object.entries(JSON.parse(readFileSync(config, "utf8")).mcpServers);
let page, backend;

check("the page opens", async () => {
  const [client, sandbox, apps] = await freePorts(3);
  backend = spawn(process.execPath, [inspector, "--web", "--config", config], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      CLIENT_PORT: client,
      MCP_SANDBOX_PORT: sandbox,
      MCP_APP_ORIGIN_PORT: apps,
      MCP_AUTO_OPEN_ENABLED: "false",
      MCP_INSPECTOR_SECRET_STORE: "memory",
    },
  });
  process.on("exit", () => backend.kill());
  const address = new Promise((resolve, reject) => {
    backend.once("exit", (code) => reject(new Error(`the Inspector ended with ${code}`)));
    createInterface(backend.stdout).on("line", (line) => {
      const at = line.match(/http:\S+TOKEN=\S+/);
      if (at) resolve(at[0]);
    });
  });
  const where = await within(patience, address, "the address of the page");
  page = await open(chromium);
  await page.goto(where);
  await story(page, () => page.getByRole("heading", { name: "Servers" }).waitFor());
}, 2 * patience);

for (const [name, { type, protocolEra }] of servers) {
  const via = `${name}: `;
  const step = (title, run) => check(via + title, () => story(page, run), patience);
  step("connect", async () => {
    await page.getByRole("switch", { name: `Connect or disconnect "${name}"` }).click({ force: true });
    await page.getByRole("button", { name: "Disconnect from server" }).waitFor();
    await page.getByText("Connected", { exact: true }).waitFor();
    if (type !== "stdio") {
      const revision = protocolEra === "modern" ? "MCP 2026-07-28" : "MCP 2025-11-25";
      await page.getByText(revision).first().waitFor();
    }
  });
  step("list the tools", async () => {
    await page.getByRole("banner").getByText("Tools", { exact: true }).click();
    for (const tool of ["list_notes", "read_note", "search", "index"]) {
      await page.getByRole("button", { name: new RegExp(`\\b${tool}\\b`) }).waitFor();
    }
  });
  step("call a tool and see the result", async () => {
    await page.getByRole("button", { name: /\bsearch\b/ }).click();
    await page.getByRole("textbox", { name: "query" }).fill("text of the");
    assert.equal(await page.getByRole("heading", { name: "Results" }).count(), 0, "results of an earlier call");
    await page.getByRole("button", { name: "Execute Tool" }).click();
    await page.getByRole("heading", { name: "Results" }).waitFor();
    await page.getByText("Text of the other note.").first().waitFor();
    await page.getByRole("heading", { name: "Structured Output" }).waitFor();
  });
  step("call a tool that fails", async () => {
    await page.getByRole("button", { name: /\bread_note\b/ }).click();
    await page.getByRole("textbox", { name: "slug" }).fill("nowhere");
    await page.getByRole("button", { name: "Execute Tool" }).click();
    await page.getByText(/no note has the slug "nowhere"/).first().waitFor();
  });
  step("read a resource", async () => {
    await page.getByRole("banner").getByText("Resources", { exact: true }).click();
    await page.getByText("Other note").first().click();
    await page.getByText("Text of the other note.").first().waitFor();
  });
  step("disconnect", async () => {
    await page.getByRole("button", { name: "Disconnect from server" }).click();
    await page.getByRole("button", { name: "Disconnect from server" }).waitFor({ state: "detached" });
  });
}

check("close", async () => {
  assert.deepEqual(page.said.filter((s) => s.startsWith("error: ") && !/Failed to load resource/.test(s)), []);
  await page.context().browser().close();
  backend.removeAllListeners("exit").kill();
});
process.exit(await runChecks());
