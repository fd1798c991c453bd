// What the scripts that drive Debian's Chromium share.
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

const { chromium } = createRequire(import.meta.url)("playwright-core");

/** patience is for what takes a second on a quiet machine, in milliseconds. */
export const patience = 120_000;

/** open starts the browser and returns a page of it. What the page says on its
 * console is kept, to be shown when a check fails. */
export async function open(executablePath, options = {}) {
  // Its sandbox needs rights that root in a container does not have. The pages
  // here are served by this machine.
  const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
  const browser = await chromium.launch({ executablePath, args, timeout: patience });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  page.setDefaultTimeout(patience);
  page.said = [];
  page.on("console", (m) => page.said.push(`${m.type()}: ${m.text()}`.slice(0, 500)));
  page.on("pageerror", (err) => page.said.push(`error: ${err.stack ?? err}`.slice(0, 2000)));
  return page;
}

/** story makes what a page shows and said part of a failure. */
export async function story(page, run) {
  try {
    return await run();
  } catch (err) {
    const shown = await page.locator("body").innerText({ timeout: 5_000 }).catch(String);
    throw new Error(`${err?.stack ?? err}\nthe page shows: ${shown.slice(0, 1500)}\nand said:\n${page.said.slice(-20).join("\n")}`);
  }
}

/** shot takes a picture of the upper part of the page, if there is a file to put it in. */
export async function shot(page, path, height) {
  if (!path) return;
  mkdirSync(dirname(path), { recursive: true });
  const { width } = page.viewportSize();
  await page.screenshot({ path, clip: { x: 0, y: 0, width, height } });
}

/** freePorts returns ports of this machine that nobody uses, from below those
 * that systems give to whoever wants just any: nobody gets one in between. */
export async function freePorts(n) {
  const ports = [];
  while (ports.length < n) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const probe = createServer();
    const free = await new Promise((resolve) => probe.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true)));
    if (free) await new Promise((resolve) => probe.close(resolve));
    if (free && !ports.includes(port)) ports.push(port);
  }
  return ports;
}
