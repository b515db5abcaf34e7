import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { chooseInterpreter } from "./interpreter";
import { log } from "./log";
import { complain, usable } from "./probe";

/** Runs `python -m fxdap ...` in the folder; gives the JSON lines it printed, or says why not. */
export async function fxdap(
  folder: vscode.WorkspaceFolder,
  words: string[],
  { needsTorch, token }: { needsTorch: boolean; token?: vscode.CancellationToken },
): Promise<unknown[] | undefined> {
  const interpreter = await chooseInterpreter(undefined, folder);
  if (interpreter === undefined || !(await usable(interpreter, needsTorch))) {
    return undefined;
  }
  const { code, stdout, stderr } = await output(interpreter.path, folder.uri.fsPath, words, token);
  log.debug(`fxdap ${words.join(" ")}: exit code ${code}\n${stderr}`);
  if (token?.isCancellationRequested) {
    return undefined;
  }
  if (code !== 0) {
    const said = stderr.split("\n").find((line) => line.startsWith("fxdap: ")) ?? stderr.trim().split("\n").at(-1);
    void complain(said ?? `fxdap ${words.join(" ")} failed.`);
    return undefined;
  }
  return stdout.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as unknown);
}

function output(
  python: string,
  cwd: string,
  words: string[],
  token?: vscode.CancellationToken,
): Promise<{ code: number; stdout: string; stderr: string }> {
  // The folder's files must not hide the command's own imports.
  const env = { ...process.env, PYTHONSAFEPATH: "1", PYTHONIOENCODING: "utf-8" };
  const options = { cwd, env, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    const child = execFile(python, ["-m", "fxdap", ...words], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ code, stdout, stderr: stderr || (error?.message ?? "") });
    });
    token?.onCancellationRequested(() => child.kill());
  });
}
