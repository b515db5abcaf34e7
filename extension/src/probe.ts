import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import type { Interpreter } from "./interpreter";
import { log } from "./log";

const OLDEST_TORCH = "2.9";

/** What a Python interpreter has; undefined where a package is missing. */
interface Report {
  python: string;
  fxdap?: string;
  torch?: string;
}

// Runs on any Python 3; importing torch would take seconds, its metadata does not.
const SCRIPT = `
import importlib.util, json, sys
try:
    from importlib.metadata import version
except ImportError:
    version = lambda name: "unknown"
found = {"python": "%d.%d.%d" % sys.version_info[:3]}
for name in ("fxdap", "torch"):
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.origin is not None:
        try:
            found[name] = version(name)
        except Exception:
            found[name] = "unknown"
sys.stdout.write("\\n" + json.dumps(found) + "\\n")
`;

const run = promisify(execFile);
const passed = new Set<string>();

/** True when the interpreter can be used; else says why it cannot and offers a way out. */
export async function usable(interpreter: Interpreter, needsTorch: boolean): Promise<boolean> {
  const key = `${interpreter.path} ${needsTorch}`;
  if (passed.has(key)) {
    return true;
  }
  let report: Report;
  try {
    report = await probe(interpreter.path);
  } catch (error) {
    log.error(`${interpreter.path} (${interpreter.origin}) does not run: ${String(error)}`);
    void complain(`The Python interpreter ${interpreter.path} (${interpreter.origin}) does not run.`);
    return false;
  }
  log.info(`${interpreter.path} (${interpreter.origin}): ${JSON.stringify(report)}`);
  const missing = (needsTorch ? (["fxdap", "torch"] as const) : (["fxdap"] as const)).filter(
    (name) => report[name] === undefined,
  );
  if (missing.length > 0) {
    const names = missing.join(" and ");
    const text = `${names} ${missing.length > 1 ? "are" : "is"} not installed in ${interpreter.path} (${interpreter.origin}).`;
    void complain(text, { label: `Install ${names}`, action: () => install(interpreter.path, missing) });
    return false;
  }
  const where = `in ${interpreter.path} (${interpreter.origin})`;
  if (needsTorch && older(report.torch, OLDEST_TORCH)) {
    const text = `torch ${report.torch ?? ""} ${where} is too old: fxdap needs ${OLDEST_TORCH} or newer.`;
    void complain(text, { label: "Update torch", action: () => install(interpreter.path, ["--upgrade", "torch"]) });
    return false;
  }
  compareVersions(interpreter.path, report.fxdap, where);
  passed.add(key);
  return true;
}

/** Extension and package are released together; what differs in its first two numbers may not fit. */
function compareVersions(python: string, found: string | undefined, where: string): void {
  const { version: own } = vscode.extensions.getExtension("fxdap.fxdap")?.packageJSON as { version: string };
  if (older(found, own)) {
    const text = `fxdap ${found ?? ""} ${where} is older than this extension, ${own}.`;
    void complain(text, { label: "Update fxdap", action: () => install(python, ["--upgrade", "fxdap"]) });
  } else if (older(own, found)) {
    const text = `This extension, ${own}, is older than fxdap ${found ?? ""} ${where}.`;
    const update = () => inTerminal("Update the extension", python, ["-m", "fxdap", "vscode"]);
    void complain(text, { label: "Update Extension", action: update });
  }
}

/** By the first two numbers; what is no version is neither older nor newer. */
function older(version: string | undefined, than: string | undefined): boolean {
  const [one = NaN, other = NaN] = [version, than].map((text) => {
    const [, major, minor] = /^(\d+)\.(\d+)/.exec(text ?? "") ?? [];
    return Number(major) * 1e6 + Number(minor);
  });
  return one < other;
}

/** After an adapter failed to start, what was found before may no longer be true. */
export function forgetProbes(): void {
  passed.clear();
}

export async function complain(
  text: string,
  remedy?: { label: string; action: () => Thenable<unknown> },
): Promise<void> {
  log.error(text);
  const choose = "Choose Interpreter";
  const labels = [...(remedy === undefined ? [] : [remedy.label]), choose, "Show Log"];
  const answer = await vscode.window.showErrorMessage(text, ...labels);
  if (answer === choose) {
    await openInterpreterChoice();
  } else if (answer === "Show Log") {
    log.show();
  } else if (answer !== undefined) {
    await remedy?.action();
  }
}

/** The Python extension's picker, unless the setting would win over what it picks. */
export async function openInterpreterChoice(): Promise<void> {
  const setting = vscode.workspace.getConfiguration("fxdap").get<string>("interpreter", "");
  const commands = await vscode.commands.getCommands(true);
  if (setting === "" && commands.includes("python.setInterpreter")) {
    await vscode.commands.executeCommand("python.setInterpreter");
  } else {
    await vscode.commands.executeCommand("workbench.action.openSettings", "@id:fxdap.interpreter");
  }
}

async function probe(python: string): Promise<Report> {
  // Not in the workspace: its folders must not pass for packages.
  const { stdout } = await run(python, ["-c", SCRIPT], { cwd: __dirname, timeout: 20_000 });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Report;
}

function install(python: string, packages: readonly string[]): Thenable<vscode.TaskExecution> {
  const names = packages.filter((word) => !word.startsWith("--")).join(" and ");
  return inTerminal(`Install ${names}`, python, ["-m", "pip", "install", ...packages]);
}

/** A task shows its output in a terminal, and starts the process without a shell to quote for. */
function inTerminal(name: string, program: string, words: string[]): Thenable<vscode.TaskExecution> {
  const process = new vscode.ProcessExecution(program, words);
  const task = new vscode.Task({ type: "process" }, vscode.TaskScope.Workspace, name, "FX", process);
  task.presentationOptions = { focus: true, panel: vscode.TaskPanelKind.Dedicated };
  return vscode.tasks.executeTask(task);
}
