// The VS Code window as a user sees it: what is asked of it, and what is read from the page.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findChromium } from "./chromium.mjs";
import { checkout, rig } from "./install.mjs";
import { retry } from "./retry.mjs";
import { installExtension, startServer } from "./server.mjs";

export { scenes } from "./scenes.mjs";

const VSIX = path.join(checkout, "extension", "fxdap.vsix");
export const PYTHON = process.env.FXDAP_PYTHON ?? path.join(checkout, ".venv", "bin", "python");
const SHOTS = process.env.FXDAP_SHOTS ?? path.join(rig.root, "shots");
/** For what nothing but time can bring: torch is imported, a graph captured, all on a busy machine. */
const WAIT_MS = Number(process.env.FXDAP_UI_TIMEOUT ?? 90_000);
const CHROMIUM_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-sync"];

/**
 * Opens VS Code on a copy of sample_models/.
 * @param {object} options
 *   launch: configurations of launch.json
 *   files: more files, text by path in the workspace
 *   prepare: called with the workspace's path before VS Code starts
 *   extensions: folders of more extensions, env: variables for the server and all it starts
 */
export async function openWorkbench({ launch, settings, files, prepare, extensions = [], env } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fxdap-ui-"));
  const workspace = path.join(folder, "samples");
  const plain = (from) => path.basename(from) === "sample_models" || from.endsWith(".py");
  fs.cpSync(path.join(checkout, "sample_models"), workspace, { recursive: true, filter: plain });
  const all = { ...files };
  if (launch !== undefined) {
    const configurations = launch.map((each) => ({ type: "fxdap", request: "launch", ...each }));
    all[".vscode/launch.json"] = JSON.stringify({ version: "0.2.0", configurations }, null, 2);
  }
  for (const [name, text] of Object.entries(all)) {
    fs.mkdirSync(path.dirname(path.join(workspace, name)), { recursive: true });
    fs.writeFileSync(path.join(workspace, name), text);
  }
  prepare?.(workspace);
  for (const extension of extensions) {
    const { publisher, name, version } = JSON.parse(fs.readFileSync(path.join(extension, "package.json"), "utf8"));
    fs.cpSync(extension, path.join(folder, "extensions", `${publisher}.${name}-${version}`), { recursive: true });
  }
  // Last: folders that are there already when VS Code writes its first list are in that list.
  installExtension(VSIX, folder);
  const server = await startServer({
    folder,
    env,
    settings: {
      "fxdap.interpreter": PYTHON,
      "editor.minimap.enabled": false,
      "editor.hover.delay": 100,
      "workbench.editor.useModal": "off",
      "workbench.reduceMotion": "on",
      "debug.internalConsoleOptions": "neverOpen",
      "terminal.integrated.gpuAcceleration": "off",
      ...settings,
    },
  });
  try {
    return await Workbench.show(server, folder, workspace);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

export class Workbench {
  static async show(server, folder, workspace) {
    const { chromium } = rig.require("playwright-core");
    const browser = await chromium.launch({ executablePath: findChromium(), args: CHROMIUM_FLAGS, timeout: WAIT_MS });
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const outside = [];
    await context.route(
      (url) => /^https?:$/.test(url.protocol) && url.hostname !== "127.0.0.1",
      (route) => {
        outside.push(route.request().url());
        return route.abort();
      },
    );
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const code = new Workbench({ server, folder, workspace, browser, page, outside });
    try {
      await page.goto(server.url(workspace), { waitUntil: "domcontentloaded" });
      await page.locator(".explorer-folders-view .monaco-list-row").first().waitFor();
    } catch (error) {
      await browser.close();
      throw error;
    }
    return code;
  }

  constructor(parts) {
    Object.assign(this, parts);
  }

  async close() {
    await this.browser.close();
    await this.server.stop();
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Saves what the page looks like, for people. */
  async shot(name) {
    fs.mkdirSync(SHOTS, { recursive: true });
    await this.page.screenshot({ path: path.join(SHOTS, `${name}.png`), animations: "disabled" });
  }

  /** Ends what earlier scenes left: sessions, menus, breakpoints, notifications, editors. */
  async reset() {
    if (!this.used) {
      this.used = true;
      return;
    }
    await this.press("Escape");
    await this.press("Escape");
    await this.stop();
    await this.debugView();
    const breakpoints = this.page.locator('.debug-breakpoints .monaco-list-row .codicon[class*="debug-breakpoint"]');
    if ((await breakpoints.count()) > 0) {
      await this.command("Remove All Breakpoints");
      await breakpoints.first().waitFor({ state: "detached" });
    }
    await this.command("Notifications: Clear All Notifications");
    await retry("closing the editors", async (timeout) => {
      for (const tabs = this.page.locator(".editor-group-container .tab"); (await tabs.count()) > 0; ) {
        const before = await tabs.count();
        await this.command("View: Revert and Close Editor");
        await tabs.nth(before - 1).waitFor({ state: "detached", timeout });
      }
    });
  }

  // -- asking ---------------------------------------------------------------------------------

  press(keys) {
    return this.page.keyboard.press(keys);
  }

  /** Opens the quick input with a text and waits until its chosen row is one with `row`. */
  async quick(key, text, row) {
    await retry(`${key} ${text}`, async (timeout) => {
      const input = this.quickInput();
      if (await input.isVisible()) {
        await this.press("Escape");
        await input.waitFor({ state: "hidden", timeout });
      }
      await this.press(key);
      await input.waitFor({ timeout });
      await input.fill(text);
      await this.focusPick(row, timeout);
    });
  }

  /** Runs a command of the palette by its title. */
  async command(title) {
    await this.quick("F1", `>${title}`, title);
    await this.press("Enter");
  }

  /** Accepts a choice of the quick pick that is open. */
  async choosePick(text) {
    await retry(`pick ${text}`, (timeout) => this.focusPick(text, timeout));
    await this.press("Enter");
  }

  async focusPick(text, timeout) {
    await this.pick(text).waitFor({ timeout });
    const chosen = this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: text });
    for (let row = 0; row < 30 && (await chosen.count()) === 0; row++) {
      await this.press("ArrowDown");
    }
    await chosen.waitFor({ timeout: 1000 });
  }

  /** Chooses an item of the context menu of what the locator, or what a function finds anew, is. */
  async menu(place, item) {
    const menu = this.page.locator(".monaco-menu");
    await retry(`menu ${item}`, async (timeout) => {
      if (await menu.first().isVisible()) {
        await this.press("Escape");
        await menu.waitFor({ state: "detached", timeout });
      }
      const locator = typeof place === "function" ? await place() : place;
      await locator.first().click({ button: "right", timeout });
      const entry = this.page.locator(".monaco-menu .action-item", { hasText: item }).first();
      await entry.hover({ timeout });
      // A menu takes no click in its first moments, and no key before the item is marked.
      await this.page.locator(".monaco-menu .action-item.focused", { hasText: item }).waitFor({ timeout });
      await this.press("Enter");
      await menu.waitFor({ state: "detached", timeout });
    });
  }

  /** Puts the cursor on a line of the editor. */
  async goTo(line) {
    await retry(`go to line ${line}`, async (timeout) => {
      await this.quick("Control+P", `:${line}`, new RegExp(`line ${line}\\b`, "i"));
      await this.press("Enter");
      await this.page.locator('.statusbar-item[id="status.editor.selection"]', { hasText: `Ln ${line},` }).waitFor({ timeout });
    });
  }

  /** Types into the quick pick that is open. */
  async type(text) {
    await this.quickInput().fill(text);
  }

  /** Loads the window anew, as "Developer: Reload Window" does. */
  async reload() {
    await this.page.reload({ waitUntil: "domcontentloaded" });
    await this.page.locator(".explorer-folders-view, .debug-breakpoints").first().waitFor();
  }

  /** Opens a file of the workspace and waits until VS Code knows its language. */
  async open(name, language) {
    const base = path.basename(name);
    await retry(`open ${name}`, async (timeout) => {
      await this.quick("Control+P", path.join(this.workspace, name), base);
      await this.press("Enter");
      await this.page.locator(`.tab.active[data-resource-name="${base}"]`).waitFor({ timeout });
    });
    await this.page.locator('.statusbar-item[id="status.editor.mode"]', { hasText: language }).waitFor();
    await this.page.locator(".editor-instance .view-line").first().waitFor();
  }

  /** Shows the Run and Debug view. */
  async debugView() {
    const pane = this.page.locator('[id="workbench.view.debug"]');
    await retry("the Run and Debug view", async (timeout) => {
      if (!(await pane.isVisible())) {
        await this.press("Control+Shift+D");
        await pane.waitFor({ timeout });
      }
    });
  }

  /**
   * Presses F5 until that shows something: before VS Code has read launch.json or knows of debuggers
   * for the editor, F5 does nothing, and later a busy editor may lose it. A second F5 that was not
   * needed asks whether to start another session.
   */
  async f5(expected) {
    await this.debugView();
    const ready = ".start-debug-action-item, .welcome-view-content .monaco-button:not(.disabled)";
    await this.page.locator(ready).first().waitFor();
    for (const [attempt, timeout] of [25_000, WAIT_MS].entries()) {
      await this.press("F5");
      if (await expected.waitFor({ timeout }).then(() => true, () => false)) {
        if (attempt > 0) {
          await this.declineAnother();
        }
        return;
      }
    }
    throw new Error(`F5 does not show ${expected}`);
  }

  async declineAnother() {
    const dialog = this.page.locator(".monaco-dialog-box", { hasText: "already running" });
    if (await dialog.waitFor({ timeout: 5000 }).then(() => true, () => false)) {
      await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    }
  }

  /** Starts a configuration of launch.json with F5. */
  async start(configuration, file = "mlp.py") {
    await this.open(file, "Python");
    await this.press("Control+Shift+D");
    await this.page.locator(".start-debug-action-item", { hasText: configuration }).waitFor();
    await this.f5(this.stopButton());
  }

  /** Starts a configuration from the palette. */
  async choose(configuration) {
    await this.debugView(); // the stop button is in it
    await this.command("Debug: Select and Start Debugging");
    await this.choosePick(configuration);
    await this.stopButton().waitFor();
  }

  /** Ends every session. */
  async stop() {
    await retry("stop", async (timeout) => {
      for (const deadline = Date.now() + timeout; (await this.stopButton().count()) > 0; ) {
        if (Date.now() > deadline) {
          throw new Error("a session goes on");
        }
        await this.press("Shift+F5");
        await this.stopButton().waitFor({ state: "detached", timeout: 3000 }).catch(() => undefined);
      }
    });
  }

  /** Sets a breakpoint with a click beside a line of the editor. */
  async clickGutter(line) {
    const row = this.lineNumber(line);
    if ((await row.count()) === 0) {
      await this.goTo(line);
    }
    await retry(`breakpoint on line ${line}`, async (timeout) => {
      const number = await row.boundingBox({ timeout });
      const margin = await this.page.locator(".editor-instance .glyph-margin").first().boundingBox({ timeout });
      const [x, y] = [margin.x + margin.width / 2, number.y + number.height / 2];
      if (!(await this.hasDot(y))) {
        await this.page.mouse.move(x, y);
        await this.page.mouse.click(x, y);
      }
      await this.until("a breakpoint in the gutter", () => this.hasDot(y), timeout);
    });
  }

  /** Whether a breakpoint's dot is at that height of the page. */
  async hasDot(y) {
    const boxes = await this.breakpointDots().evaluateAll((dots) => dots.map((dot) => dot.getBoundingClientRect().toJSON()));
    return boxes.some(({ top, bottom }) => top <= y && y <= bottom);
  }

  /** Polls until the function gives something true, and gives that. */
  async until(what, poll, timeout = WAIT_MS) {
    for (const deadline = Date.now() + timeout; ; await sleep(50)) {
      const found = await poll();
      if (found) {
        return found;
      }
      if (Date.now() > deadline) {
        throw new Error(`after ${timeout} ms there is not ${what}`);
      }
    }
  }

  // -- reading --------------------------------------------------------------------------------

  quickInput() {
    return this.page.locator(".quick-input-widget input[type=text]");
  }

  /** The line of a node in a listing that was written. */
  lineOf(node, listing = "MLP") {
    const text = fs.readFileSync(path.join(this.workspace, `.fxdap/graphs/${listing}.fxgraph`), "utf8");
    return text.split("\n").findIndex((line) => line.trimStart().startsWith(`${node}:`)) + 1;
  }

  lineNumber(line) {
    const text = new RegExp(`^${line}$`);
    return this.page.locator(".editor-instance .margin-view-overlays .line-numbers", { hasText: text });
  }

  /** A row of the Breakpoints view, by its file. */
  breakpoint(file) {
    return this.page.locator(".debug-breakpoints .monaco-list-row", { hasText: file });
  }

  breakpointDots() {
    return this.page.locator(".editor-instance .codicon-debug-breakpoint");
  }

  /** A choice of the quick pick that is open. */
  pick(text) {
    return this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
  }

  /** An entry of the status bar. */
  status(text) {
    return this.page.locator(".statusbar-item", { hasText: text });
  }

  notification(text) {
    return this.page.locator(".notifications-toasts .notification-toast", { hasText: text });
  }

  callStack() {
    return this.page.locator('[aria-label="Debug Call Stack"]');
  }

  /** Presses F5 at a stop; a busy editor loses the key, which the top of Call Stack shows. */
  async resume() {
    const frames = this.callStack().locator('[aria-label^="Stack Frame"]');
    const top = async () => (await frames.count()) && (await frames.first().getAttribute("aria-label", { timeout: 1000 }).catch(() => ""));
    await frames.first().waitFor();
    const before = await top();
    await retry("resume", async (timeout) => {
      await this.press("F5");
      for (const deadline = Date.now() + timeout; (await top()) === before; await sleep(50)) {
        if (Date.now() > deadline) {
          throw new Error(`still at ${before}`);
        }
      }
    });
  }

  /** Presses F5 at a stop of one of several sessions. */
  async resumeSession(name) {
    const paused = this.callStack().locator(".monaco-list-row", { hasText: new RegExp(`^${name}\\W*paused on`, "i") });
    await paused.first().waitFor();
    await retry(`resume ${name}`, async (timeout) => {
      await this.press("F5");
      await paused.first().waitFor({ state: "detached", timeout });
    });
  }

  /** Steps and waits for the place that the status bar then shows; a key that was lost is pressed again. */
  async step(keys, place) {
    await retry(`${keys} to ${place}`, async (timeout) => {
      await this.press(keys);
      await this.status(place).waitFor({ timeout: timeout * 2 });
    });
  }

  frame(name) {
    return this.callStack().locator(`[aria-label^="Stack Frame ${name}"]`);
  }

  /** Chooses a frame of Call Stack; what was listed there a moment ago is of the stop before. */
  async chooseFrame(name) {
    await retry(`choose frame ${name}`, async (timeout) => {
      await this.frame(name).click({ timeout });
      await this.page.locator('[aria-label="Debug Variables"] [aria-label^="Scope "]').first().waitFor({ timeout });
    });
  }

  /** A row of the Variables view, scrolled into sight. */
  variable(name) {
    return this.inVariables(`.monaco-list-row[aria-label^="${name}, value "]`);
  }

  scope(name) {
    return this.inVariables(`.monaco-list-row[aria-label^="Scope ${name}"]`);
  }

  inVariables(selector) {
    const list = this.page.locator('[aria-label="Debug Variables"]');
    return this.reveal(list, list.locator(selector).first());
  }

  /** The row of a debug session in Call Stack. */
  session(name) {
    const list = this.callStack();
    return this.reveal(list, list.locator(".monaco-list-row", { hasText: name }).first());
  }

  /** Chooses a session in Call Stack; the status bar then shows where it is. */
  async chooseSession(name, place) {
    await retry(`choose session ${name}`, async (timeout) => {
      const row = await this.session(name);
      await row.click({ position: { x: 40, y: 10 }, timeout }); // further right are buttons
      await this.status(place).waitFor({ timeout });
    });
  }

  /** A list has only the rows in sight, and rows come a little after the stop. */
  async reveal(list, row) {
    await retry(`${row}`, async (timeout) => {
      if (await row.waitFor({ timeout: 1500 }).then(() => true, () => false)) {
        return;
      }
      await list.hover({ timeout });
      await this.page.mouse.wheel(0, -100_000);
      for (const deadline = Date.now() + timeout; !(await row.isVisible()); await sleep(100)) {
        if (Date.now() > deadline) {
          throw new Error("no such row");
        }
        await this.page.mouse.wheel(0, 60);
      }
    });
    return row;
  }

  /** Expands a scope of the Variables view. */
  async expand(name) {
    await retry(`expand ${name}`, async (timeout) => {
      const row = await this.scope(name);
      if ((await row.getAttribute("aria-expanded", { timeout })) !== "true") {
        await row.locator(".monaco-tl-twistie").click({ timeout });
        await row.and(this.page.locator('[aria-expanded="true"]')).waitFor({ timeout });
      }
    });
  }

  async paused(reason) {
    await this.debugView();
    await this.pausedOn(reason).waitFor();
  }

  pausedOn(reason) {
    return this.page.locator(".pane-header", { hasText: "Call Stack" }).locator(`text=/Paused on ${reason}/i`);
  }

  /** The text of the highlighted line, once there is one that the pattern matches. */
  async stoppedLine(pattern) {
    const read = (source) => {
      const mark = document.querySelector(".editor-instance .view-overlays .debug-top-stack-frame-line");
      const y = mark?.getBoundingClientRect().y;
      for (const line of document.querySelectorAll(".editor-instance .view-lines .view-line")) {
        const text = line.textContent.replaceAll("\u00a0", " ");
        if (Math.abs(line.getBoundingClientRect().y - y) < 3 && new RegExp(source).test(text)) {
          return text;
        }
      }
      return undefined;
    };
    const handle = await this.page.waitForFunction(read, pattern.source, { polling: 50 });
    return handle.jsonValue();
  }

  /** A line of the editor with what VS Code shows after it. */
  line(pattern) {
    return this.page.locator(".editor-instance .view-line", { hasText: pattern });
  }

  /** Rests the mouse on a word of a line; gives the text of the debugger's hover. */
  hover(line, word) {
    return retry(`hover over ${word}`, async (timeout) => {
      const box = await this.line(line).first().evaluate(boxOf, word, { timeout });
      await this.page.mouse.move(5, 5);
      await this.page.mouse.move(box.x - 4, box.y);
      await this.page.mouse.move(box.x, box.y, { steps: 4 });
      const widget = this.page.locator(".debug-hover-widget");
      await widget.locator("text=/\\S/").first().waitFor({ timeout });
      return widget.textContent({ timeout });
    });
  }

  /** Adds an expression to the Watch view. */
  async watch(expression) {
    const box = this.page.locator(".debug-watch .monaco-inputbox input");
    await retry(`watch ${expression}`, async (timeout) => {
      if (!(await box.isVisible())) {
        await this.page.locator(".pane-header", { hasText: "Watch" }).hover({ timeout });
        await this.page.locator('[aria-label="Add Expression"]').click({ timeout });
      }
      await box.fill(expression, { timeout });
      await this.press("Enter");
      await this.watched(expression, "").waitFor({ timeout });
    });
  }

  /** The row of a watch that shows a value. */
  watched(expression, value) {
    return this.page.locator(".debug-watch .monaco-list-row", { hasText: expression }).filter({ hasText: value });
  }

  /** Makes a text all that the input of the Debug Console holds. */
  async typeInConsole(text) {
    const input = this.page.locator(".repl-input-wrapper .monaco-editor");
    await retry(`type ${text}`, async (timeout) => {
      if (!(await input.isVisible())) {
        await this.command("Debug Console: Focus on Debug Console View");
      }
      await input.click({ timeout });
      await this.press("Control+A");
      await this.press("Delete");
      await this.page.keyboard.insertText(text);
      const read = async () => (await input.locator(".view-lines").textContent()).replaceAll("\u00a0", " ").trim() === text;
      await this.until(`"${text}" in the console's input`, read, timeout);
    });
  }

  /** Asks for completions of a text in the Debug Console; gives the one that has another text. */
  async suggestion(typed, text) {
    const row = this.page.locator(".suggest-widget .monaco-list-row", { hasText: text }).first();
    await retry(`completions of ${typed}`, async (timeout) => {
      await this.typeInConsole(typed);
      await this.press("Control+Space");
      await row.waitFor({ timeout });
    });
    return row;
  }

  clipboard() {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** Enters a line into the Debug Console. */
  async evaluate(expression) {
    await this.typeInConsole(expression);
    await this.press("Escape"); // closes suggestions
    await this.press("Enter");
  }

  console(text) {
    return this.page.locator(".repl .monaco-list-row", { hasText: text });
  }

  /** Command lines of adapters and programs that this window's sessions started. */
  debugged() {
    const all = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return all.map((pid) => this.commandLine(pid)).filter((line) => /fxdap\.(adapter|server)\b/.test(line));
  }

  /** Of a process in this window's folders; "" for others and for what has ended. */
  commandLine(pid) {
    try {
      const inside = fs.readlinkSync(`/proc/${pid}/cwd`).startsWith(this.folder);
      return inside ? fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") : "";
    } catch {
      return "";
    }
  }

  /** There from the start of a session to its end. */
  stopButton() {
    return this.page.locator(".codicon-debug-stop").first();
  }

  async notDebugging() {
    await this.stopButton().waitFor({ state: "detached" });
  }

  /** Waits until the terminal shows a text. */
  async terminal(text) {
    await this.page.waitForFunction(
      (text) => {
        const rows = [...document.querySelectorAll(".xterm-rows > div")].map((row) => row.textContent);
        return rows.join("").replaceAll("\u00a0", " ").includes(text);
      },
      text,
      { polling: 100 },
    );
  }
}

/** Runs in the page: the middle of a word in what an element shows. */
function boxOf(element, word) {
  const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
    const at = node.textContent.indexOf(word);
    if (at >= 0) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + word.length);
      const { x, y, width, height } = range.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    }
  }
  throw new Error(`no "${word}" in "${element.textContent}"`);
}
