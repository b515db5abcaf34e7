import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as vscode from "vscode";
import type { Interpreter } from "./interpreter";
import { log } from "./log";

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
export async function usable(interpreter: Interpreter, needsTorch: boolean, cwd: string): Promise<boolean> {
  const key = `${interpreter.path} ${needsTorch}`;
  if (passed.has(key)) {
    return true;
  }
  let report: Report;
  try {
    report = await probe(interpreter.path, cwd);
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
  passed.add(key);
  return true;
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

async function probe(python: string, cwd: string): Promise<Report> {
  const { stdout } = await run(python, ["-c", SCRIPT], { cwd, timeout: 20_000 });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Report;
}

/** A task shows its output in a terminal, and starts the process without a shell to quote for. */
function install(python: string, packages: readonly string[]): Thenable<vscode.TaskExecution> {
  const task = new vscode.Task(
    { type: "process" },
    vscode.TaskScope.Workspace,
    `Install ${packages.join(" and ")}`,
    "FX",
    new vscode.ProcessExecution(python, ["-m", "pip", "install", ...packages]),
  );
  task.presentationOptions = { focus: true, panel: vscode.TaskPanelKind.Dedicated };
  return vscode.tasks.executeTask(task);
}
