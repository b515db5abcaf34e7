import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient } from "vscode-languageclient/node";
import { type Interpreter, chooseInterpreter } from "./interpreter";
import { log } from "./log";
import { usable } from "./probe";

interface Running {
  interpreter: string;
  client: Promise<LanguageClient | undefined>;
}

/** `python -m fxdap.lsp`, with the interpreter that debugs. */
export class LanguageServer implements vscode.Disposable {
  private running: Running | undefined;
  private readonly events = vscode.Disposable.from(
    vscode.workspace.onDidGrantWorkspaceTrust(() => this.client()),
    vscode.workspace.onDidChangeConfiguration(() => this.client()),
  );

  /** The running client; undefined where none can run, about which only the log says something. */
  async client(folder = vscode.workspace.workspaceFolders?.[0]): Promise<LanguageClient | undefined> {
    // An interpreter in the workspace is code of the workspace.
    return vscode.workspace.isTrusted ? this.start(await chooseInterpreter(folder), folder) : undefined;
  }

  /** The answer; undefined where there is no server, which the user is told along with the remedy. */
  async request<T>(
    method: string,
    parameters: object,
    folder: vscode.WorkspaceFolder | undefined,
    { needsTorch = false, token = new vscode.CancellationTokenSource().token } = {},
  ): Promise<T | undefined> {
    const interpreter = await chooseInterpreter(folder);
    if (!(await usable(interpreter, needsTorch))) {
      return undefined;
    }
    const client = await this.start(interpreter, folder);
    if (client === undefined) {
      throw new Error("The language server does not run.");
    }
    return client.sendRequest<T>(method, parameters, token);
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.client();
  }

  dispose(): void {
    this.events.dispose();
    void this.stop();
  }

  /** Once for each interpreter; what failed or ended is started anew when it is next needed. */
  private start(interpreter: Interpreter, folder?: vscode.WorkspaceFolder): Promise<LanguageClient | undefined> {
    const { path } = interpreter;
    if (this.running?.interpreter !== path) {
      const ended = () => {
        if (this.running?.client === client) {
          this.running = undefined;
        }
      };
      const client = this.stop().then(() => start(interpreter, folder, ended));
      this.running = { interpreter: path, client };
    }
    return this.running.client;
  }

  private async stop(): Promise<void> {
    const client = this.running?.client;
    this.running = undefined;
    await (await client)?.dispose();
  }
}

async function start(
  { path, origin }: Interpreter,
  folder: vscode.WorkspaceFolder | undefined,
  ended: () => void,
): Promise<LanguageClient | undefined> {
  const client = new LanguageClient(
    "fxdap",
    "FX Graph",
    {
      command: path,
      args: ["-m", "fxdap.lsp"],
      // The folder's files must not hide the server's own imports.
      options: { env: { ...process.env, PYTHONSAFEPATH: "1" }, ...(folder && { cwd: folder.uri.fsPath }) },
    },
    {
      documentSelector: ["fxgraph", "python"].map((language) => ({ scheme: "file", language })),
      initializationOptions: { commands: true },
      outputChannel: log,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          ended();
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    },
  );
  try {
    await client.start();
    return client;
  } catch (error) {
    ended();
    log.warn(`${path} (${origin}) does not run the language server: ${String(error)}`);
    return undefined;
  }
}
