import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { pythonExtensionInterpreter } from "./pythonExtension";

export interface Interpreter {
  path: string;
  /** Interpreter options, such as -X dev. */
  options: string[];
  /** Where the choice came from, for messages: "setting fxdap.interpreter". */
  origin: string;
}

const WINDOWS = process.platform === "win32";

/** The first interpreter that somebody chose: what is found by luck comes last. */
export async function chooseInterpreter(
  configured: unknown,
  folder: vscode.WorkspaceFolder | undefined,
): Promise<Interpreter | undefined> {
  const [name, ...options] = words(configured);
  if (name !== undefined) {
    return { path: located(name, folder), options, origin: '"python" of the launch configuration' };
  }
  const setting = vscode.workspace.getConfiguration("fxdap", folder).get<string>("interpreter", "").trim();
  if (setting !== "") {
    const named = located(substitute(setting, folder), folder);
    return { path: named, options: [], origin: "setting fxdap.interpreter" };
  }
  const selected = await pythonExtensionInterpreter(folder?.uri);
  if (selected !== undefined) {
    return { path: selected, options: [], origin: "the Python extension" };
  }
  const local = folder && path.join(folder.uri.fsPath, ".venv", WINDOWS ? "Scripts/python.exe" : "bin/python");
  if (local !== undefined && executable(local)) {
    return { path: local, options: [], origin: ".venv of the workspace folder" };
  }
  const found = onPath("python3") ?? onPath("python");
  return found === undefined ? undefined : { path: found, options: [], origin: "PATH" };
}

/** `python` as an object: the interpreter is its `path`, the rest is for Python to read. */
export interface PythonOptions {
  path?: unknown;
}

export function isOptions(configured: unknown): configured is PythonOptions {
  return typeof configured === "object" && configured !== null && !Array.isArray(configured);
}

/** `python` is a path, or a list of one and its options; what is neither is for Python to refuse. */
function words(configured: unknown): string[] {
  if (isOptions(configured)) {
    return words(configured.path);
  }
  const list: unknown[] = Array.isArray(configured) ? configured : [configured];
  return list.filter((word): word is string => typeof word === "string" && word !== "");
}

/** VS Code replaces variables in launch configurations, but not in settings. */
export function substitute(text: string, folder: vscode.WorkspaceFolder | undefined): string {
  return text
    .replace(/\$\{workspaceFolder\}/g, folder?.uri.fsPath ?? "")
    .replace(/\$\{env:(\w+)\}/g, (_, name: string) => process.env[name] ?? "");
}

/** A bare name is looked up on PATH, a relative path in the workspace folder. */
function located(name: string, folder: vscode.WorkspaceFolder | undefined): string {
  if (!/[\\/]/.test(name)) {
    return onPath(name) ?? name;
  }
  const expanded = name.replace(/^~(?=[\\/])/, os.homedir());
  return folder === undefined ? expanded : path.resolve(folder.uri.fsPath, expanded);
}

function onPath(name: string): string | undefined {
  return (process.env.PATH ?? "")
    .split(path.delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => path.join(folder, WINDOWS && !name.endsWith(".exe") ? `${name}.exe` : name))
    .find(executable);
}

function executable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
