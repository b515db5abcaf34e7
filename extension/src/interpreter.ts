import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { log } from "./log";

export interface Interpreter {
  path: string;
  /** Interpreter options, such as -X dev. */
  options: string[];
  /** Where the choice came from, for messages: "setting fxdap.interpreter". */
  origin: string;
}

const WINDOWS = process.platform === "win32";

/**
 * The first interpreter that somebody chose: what is found by luck comes last. `configured` is the
 * key `python` of a launch configuration: a path, a list of one and its options, or an object.
 */
export async function chooseInterpreter(
  folder: vscode.WorkspaceFolder | undefined,
  configured?: unknown,
): Promise<Interpreter> {
  const given: unknown = isOptions(configured) ? configured.path : configured;
  const [name, ...options] = [given].flat().map(String);
  if (given !== undefined && name !== undefined) {
    return { path: located(name, folder), options, origin: '"python" of the launch configuration' };
  }
  const setting = interpreterSetting(folder);
  if (setting !== "") {
    // VS Code replaces variables in launch configurations, but not in settings.
    const substituted = setting
      .replace(/\$\{workspaceFolder\}/g, folder?.uri.fsPath ?? "")
      .replace(/\$\{env:(\w+)\}/g, (_, variable: string) => process.env[variable] ?? "");
    return { path: located(substituted, folder), options, origin: "setting fxdap.interpreter" };
  }
  const selected = await selectedInPythonExtension(folder);
  if (selected !== undefined) {
    return { path: selected, options, origin: "the Python extension" };
  }
  const local = folder && path.join(folder.uri.fsPath, ".venv", WINDOWS ? "Scripts/python.exe" : "bin/python");
  if (local !== undefined && fs.existsSync(local)) {
    return { path: local, options, origin: ".venv of the workspace folder" };
  }
  return { path: WINDOWS ? "python" : "python3", options, origin: "PATH" };
}

export function interpreterSetting(folder?: vscode.WorkspaceFolder): string {
  return vscode.workspace.getConfiguration("fxdap", folder).get<string>("interpreter", "").trim();
}

/** `python` as an object: the interpreter is its `path`, the rest is for Python to read. */
export function isOptions(configured: unknown): configured is { path?: unknown } {
  return typeof configured === "object" && configured !== null && !Array.isArray(configured);
}

/** What the Python extension gives for `${command:python.interpreterPath}`, if it is there. */
async function selectedInPythonExtension(folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
  try {
    await vscode.extensions.getExtension("ms-python.python")?.activate();
    const selected = await vscode.commands.executeCommand<string>("python.interpreterPath", {
      workspaceFolder: folder?.uri.fsPath,
    });
    const unquoted = selected.replace(/^"(.*)"$/, "$1");
    return path.isAbsolute(unquoted) ? unquoted : undefined; // "python" is said where none is selected
  } catch (error) {
    log.debug(`The Python extension names no interpreter: ${String(error)}`);
    return undefined;
  }
}

/** A bare name is for PATH, a relative path for the workspace folder. */
function located(name: string, folder: vscode.WorkspaceFolder | undefined): string {
  const expanded = name.replace(/^~(?=[\\/])/, os.homedir());
  return folder === undefined || !/[\\/]/.test(name) ? expanded : path.resolve(folder.uri.fsPath, expanded);
}
