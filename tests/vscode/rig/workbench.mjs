// The VS Code window as a user sees it: what is asked of it, and what is read from the page.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { findChromium } from "./chromium.mjs";
import { checkout, rig } from "./install.mjs";
import { installExtension, startServer } from "./server.mjs";

const VSIX = path.join(checkout, "extension", "fxdap.vsix");
export const PYTHON = process.env.FXDAP_PYTHON ?? path.join(checkout, ".venv", "bin", "python");
const SHOTS = process.env.FXDAP_SHOTS ?? path.join(rig.root, "shots");
const CHROMIUM_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-sync"];

/** node:test's `test`, with a picture of the window when it fails. */
export function scenes(current) {
  return (name, run) =>
    test(name, async () => {
      try {
        await run(current());
      } catch (error) {
        await current()?.shot(`failed ${name.replace(/[^\w]+/g, " ")}`);
        throw error;
      }
    });
}

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
    const browser = await chromium.launch({ executablePath: findChromium(), args: CHROMIUM_FLAGS });
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
    page.setDefaultTimeout(Number(process.env.FXDAP_UI_TIMEOUT ?? 20_000));
    await page.goto(server.url(workspace), { waitUntil: "domcontentloaded" });
    await page.locator(".explorer-folders-view .monaco-list-row").first().waitFor({ timeout: 60_000 });
    return new Workbench({ server, folder, workspace, browser, page, outside });
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
    await this.page.screenshot({ path: path.join(SHOTS, `${name}.png`) });
  }

  // -- asking ---------------------------------------------------------------------------------

  press(keys) {
    return this.page.keyboard.press(keys);
  }

  /** Runs a command of the palette by its title. */
  async command(title) {
    await this.press("F1");
    const input = this.page.locator(".quick-input-widget input[type=text]");
    await input.waitFor();
    await input.fill(`>${title}`);
    await this.pick(title).click();
  }

  /** Chooses an item of the context menu of what the locator finds. */
  async menu(locator, item) {
    await locator.first().click({ button: "right" });
    // A menu takes no click in its first moments.
    await this.page.locator(".monaco-menu .action-item", { hasText: item }).first().hover();
    await this.press("Enter");
    await this.page.locator(".monaco-menu").waitFor({ state: "detached" });
  }

  /** Puts the cursor on a line of the editor. */
  async goTo(line) {
    await this.command("View: Focus Active Editor Group");
    await this.press("Control+G");
    await this.type(`:${line}`);
    await this.press("Enter");
    await this.page.locator('.statusbar-item[id="status.editor.selection"]', { hasText: `Ln ${line},` }).waitFor();
  }

  /** Types into the quick pick that is open. */
  async type(text) {
    await this.page.locator(".quick-input-widget input[type=text]").fill(text);
  }

  /** Loads the window anew, as "Developer: Reload Window" does. */
  async reload() {
    await this.page.reload({ waitUntil: "domcontentloaded" });
    await this.page.locator(".explorer-folders-view, .debug-breakpoints").first().waitFor({ timeout: 60_000 });
  }

  /** Opens a file of the workspace and waits until VS Code knows its language. */
  async open(name, language) {
    await this.press("Control+P");
    const input = this.page.locator(".quick-input-widget input[type=text]");
    await input.waitFor();
    await input.fill(path.join(this.workspace, name));
    await this.pick(path.basename(name)).click();
    await this.page.locator(`.tab.active[data-resource-name="${path.basename(name)}"]`).waitFor();
    await this.page.locator('.statusbar-item[id="status.editor.mode"]', { hasText: language }).waitFor();
    await this.page.locator(".editor-instance .view-line").first().waitFor();
  }

  /**
   * Presses F5 until that shows something: before VS Code has read launch.json and asked the
   * extension host for debuggers, F5 does nothing, and the page does not tell.
   */
  async f5(expected) {
    for (let attempt = 0; attempt < 5; attempt++) {
      await this.press("F5");
      try {
        return await expected.waitFor({ timeout: 4000 });
      } catch {
        continue;
      }
    }
    throw new Error(`F5 does not show ${expected}`);
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
    await this.command("Debug: Select and Start Debugging");
    await this.pick(configuration).click();
    await this.stopButton().waitFor();
  }

  async clickGutter(line) {
    const number = await this.lineNumber(line).boundingBox();
    const margin = await this.page.locator(".editor-instance .glyph-margin").first().boundingBox();
    await this.page.mouse.move(margin.x + margin.width / 2, number.y + number.height / 2);
    await this.page.mouse.click(margin.x + margin.width / 2, number.y + number.height / 2);
  }

  // -- reading --------------------------------------------------------------------------------

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

  frame(name) {
    return this.page.locator(`[aria-label="Debug Call Stack"] [aria-label^="Stack Frame ${name}"]`);
  }

  /** A row of the Variables view; rows come a little after the stop, so wait for it. */
  variable(name) {
    return this.page.locator(`[aria-label="Debug Variables"] .monaco-list-row[aria-label^="${name}, value "]`);
  }

  scope(name) {
    return this.page.locator(`[aria-label="Debug Variables"] .monaco-list-row[aria-label^="Scope ${name}"]`);
  }

  async expand(row) {
    await row.locator(".monaco-tl-twistie").click();
  }

  async paused(reason) {
    const header = this.page.locator(".pane-header", { hasText: "Call Stack" });
    await header.locator(`text=/Paused on ${reason}/i`).waitFor();
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
  async hover(line, word) {
    const text = this.line(line).first();
    const box = await text.evaluate((element, word) => {
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
      return undefined;
    }, word);
    await this.page.mouse.move(box.x - 4, box.y);
    await this.page.mouse.move(box.x, box.y, { steps: 4 });
    const widget = this.page.locator(".debug-hover-widget");
    await widget.locator("text=/\\S/").first().waitFor();
    return widget.textContent();
  }

  async typeInConsole(text) {
    await this.command("Debug Console: Focus on Debug Console View");
    await this.page.locator(".repl-input-wrapper .monaco-editor").click();
    await this.page.keyboard.type(text);
  }

  /** An entry of the list of completions. */
  suggestion(text) {
    return this.page.locator(".suggest-widget .monaco-list-row", { hasText: text }).first();
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
