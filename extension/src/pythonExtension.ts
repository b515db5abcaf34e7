import * as vscode from "vscode";
import { log } from "./log";

// The parts of two extensions' public APIs that are used here. Neither extension is required.

/** ms-python.python */
interface PythonApi {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<
      { executable: { uri?: vscode.Uri } } | undefined
    >;
  };
}

/** ms-python.vscode-python-envs */
interface EnvironmentsApi {
  getEnvironment?(scope?: vscode.Uri): Promise<
    { execInfo?: { run: { executable: string } } } | undefined
  >;
}

/** The interpreter selected in the Python extension, if that extension is there. */
export async function pythonExtensionInterpreter(
  resource: vscode.Uri | undefined,
): Promise<string | undefined> {
  try {
    return (await fromEnvironments(resource)) ?? (await fromPython(resource));
  } catch (error) {
    log.warn(`The Python extension did not name an interpreter: ${String(error)}`);
    return undefined;
  }
}

async function fromEnvironments(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const api = await activate<EnvironmentsApi>("ms-python.vscode-python-envs");
  const environment = await api?.getEnvironment?.(resource);
  return environment?.execInfo?.run.executable;
}

async function fromPython(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const environments = (await activate<PythonApi>("ms-python.python"))?.environments;
  if (environments === undefined) {
    return undefined;
  }
  const active = environments.getActiveEnvironmentPath(resource);
  return (await environments.resolveEnvironment(active))?.executable.uri?.fsPath;
}

async function activate<T>(id: string): Promise<T | undefined> {
  return vscode.extensions.getExtension<T>(id)?.activate();
}
