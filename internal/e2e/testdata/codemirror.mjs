// codemirror.mjs CHROMIUM SERVER FOLDER: somebody edits a note in CodeMirror,
// in a page of this script, with a language server at the WebSocket SERVER.
import { createRequire } from "node:module";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { assert, check, runChecks, until } from "./checks.mjs";
import { open, patience, story } from "./browser.mjs";

const [chromium, server, folder] = process.argv.slice(2);
const here = createRequire(import.meta.url);
let page, web;

const step = (name, run) => check(name, () => story(page, run), 2 * patience);
const text = () => page.evaluate(() => window.view.state.doc.toString());
/** marked is what stands under the marks of problems, one after the other. */
const marked = () => page.locator(".cm-lintRange").evaluateAll((all) => all.map((mark) => mark.textContent).join(" "));

/** at is the middle of a text in the editor, as a point of the page. */
async function at(holds) {
  return await page.evaluate((holds) => {
    const { view } = window;
    const from = view.state.doc.toString().indexOf(holds);
    const a = view.coordsAtPos(from), b = view.coordsAtPos(from + holds.length);
    return { x: (a.left + b.left) / 2, y: (a.top + a.bottom) / 2 };
  }, holds);
}
async function hover(holds) {
  const { x, y } = await at(holds);
  await page.mouse.move(x, y, { steps: 3 });
}

check("the page opens", async () => {
  const bundle = await here("esbuild").build({
    entryPoints: [join(import.meta.dirname, "codemirror", "page.js")], bundle: true, write: false, format: "esm", logLevel: "silent",
  });
  const files = {
    "/": ["text/html", '<!doctype html><meta charset="utf-8"><title>note</title><body><script type="module" src="/page.js"></script>'],
    "/page.js": ["text/javascript", bundle.outputFiles[0].text],
    "/index.md": ["text/markdown; charset=utf-8", readFileSync(join(folder, "index.md"))],
  };
  web = createServer((request, response) => {
    const [type, body] = files[new URL(request.url, "http://page").pathname] ?? [];
    response.writeHead(body ? 200 : 404, { "Content-Type": type ?? "text/plain" }).end(body);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => web.once("listening", resolve));
  page = await open(chromium);
  const query = new URLSearchParams({ server, folder: pathToFileURL(folder).href, note: "index.md" });
  await page.goto(`http://127.0.0.1:${web.address().port}/?${query}`);
  await story(page, () => page.locator(".cm-line").first().waitFor());
}, 2 * patience);
step("a broken link is marked", async () => {
  await until("missing.md", marked, patience);
});
step("hover shows the note behind a link", async () => {
  await hover("other.md");
  await page.locator(".cm-tooltip", { hasText: "Text of the other note." }).waitFor();
});
step("hover shows what is wrong with a link", async () => {
  await page.mouse.move(700, 700);
  await page.locator(".cm-tooltip").waitFor({ state: "detached" });
  await hover("missing.md");
  await page.locator(".cm-tooltip", { hasText: 'no such note: "missing.md"' }).first().waitFor();
});
step("an edit with characters outside the BMP", async () => {
  await page.mouse.move(700, 700);
  await page.locator(".cm-content").focus();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.insertText("🙂🙂 [new](nowhere.md)");
  await until("missing.md nowhere.md", marked, patience);
});
step("an edit behind such characters mends a link", async () => {
  const { x, y } = await at("missing");
  await page.mouse.dblclick(x, y); // selects the word
  await page.keyboard.insertText("other");
  await until("nowhere.md", marked, patience);
});
step("completion offers notes by their titles", async () => {
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.type(" [more](ot");
  await page.keyboard.press("Control+Space");
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "Other note" }).click();
  await until("# Index\n😀 see [other](other.md) é\n😀😀 but [gone](other.md)\n🙂🙂 [new](nowhere.md) [more](other.md)", text, patience);
  await until("nowhere.md", marked, patience);
});
step("rename a tag", async () => {
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.insertText("\n😀 a #draft, still a #draft");
  await page.evaluate(() => {
    const { view } = window;
    view.dispatch({ selection: { anchor: view.state.doc.toString().lastIndexOf("#draft") + 2 } });
  });
  await page.keyboard.press("F2");
  const box = page.locator(".cm-panel input, .cm-dialog input").first();
  await box.fill("final");
  await box.press("Enter");
  await until("😀 a #final, still a #final", async () => (await text()).split("\n").at(-1), patience);
});
check("close", async () => {
  assert.deepEqual(page.said.filter((s) => s.startsWith("error: ") && !/favicon/.test(s) && !/404/.test(s)), []);
  assert.equal(await page.locator("#closed").count(), 0, "the socket was closed");
  await page.context().browser().close();
  web.close();
  web.closeAllConnections();
});
process.exit(await runChecks());
