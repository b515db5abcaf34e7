import { execFile } from "node:child_process";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { type Interpreter, interpreterSetting } from "./interpreter";
import { complain, log } from "./log";

/** What python/probe.py prints. */
interface Finding {
  usable: boolean;
  text?: string;
  /** A button's label, and what it has the interpreter run. */
  remedy?: { label: string; words: string[] };
}

const run = promisify(execFile);

/** True when the interpreter can be used; else says why it cannot and offers a way out. */
export async function usable(interpreter: Interpreter, needsTorch: boolean): Promise<boolean> {
  const { usable, text, remedy } = await examine(interpreter, needsTorch);
  if (text !== undefined) {
    void complain(text, {
      ...(remedy && { [remedy.label]: () => inTerminal(remedy.label, interpreter.path, remedy.words) }),
      "Choose Interpreter": chooseAnother,
    });
  }
  return usable;
}

async function examine({ path: python, origin }: Interpreter, needsTorch: boolean): Promise<Finding> {
  const extension = vscode.extensions.getExtension("fxdap.fxdap");
  const { version } = extension?.packageJSON as { version: string };
  const script = path.join(extension?.extensionPath ?? "", "python", "probe.py");
  try {
    // Not in the workspace: its folders must not pass for packages.
    const options = { cwd: path.dirname(script), timeout: 20_000 };
    const { stdout } = await run(python, [script, version, origin, ...(needsTorch ? ["--torch"] : [])], options);
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Finding;
  } catch (error) {
    log.error(String(error));
    return { usable: false, text: `The Python interpreter ${python} (${origin}) does not run.` };
  }
}

/** The Python extension's picker, unless the setting would win over what it picks. */
export async function chooseAnother(): Promise<void> {
  const commands = await vscode.commands.getCommands(true);
  if (interpreterSetting() === "" && commands.includes("python.setInterpreter")) {
    await vscode.commands.executeCommand("python.setInterpreter");
  } else {
    await vscode.commands.executeCommand("workbench.action.openSettings", "@id:fxdap.interpreter");
  }
}

/** A task shows its output in a terminal, and starts the process without a shell to quote for. */
function inTerminal(name: string, program: string, words: string[]): Thenable<vscode.TaskExecution> {
  const process = new vscode.ProcessExecution(program, words);
  const task = new vscode.Task({ type: "process" }, vscode.TaskScope.Workspace, name, "FX", process);
  task.presentationOptions = { focus: true, panel: vscode.TaskPanelKind.Dedicated };
  return vscode.tasks.executeTask(task);
}
