import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient } from "vscode-languageclient/node";
import { chooseInterpreter } from "./interpreter";
import { log } from "./log";

const SETTINGS = ["fxdap.interpreter"];

/** `python -m fxdap.lsp`, with the interpreter that debugs; where it lacks fxdap, the log says so. */
export class LanguageServer implements vscode.Disposable {
  private starting: Promise<LanguageClient | undefined> | undefined;
  private readonly events: vscode.Disposable[];

  constructor() {
    const { workspace } = vscode;
    this.events = [
      workspace.onDidGrantWorkspaceTrust(() => this.restart()),
      workspace.onDidChangeConfiguration((change) => {
        if (SETTINGS.some((name) => change.affectsConfiguration(name))) {
          void this.restart();
        }
      }),
    ];
    void this.client();
  }

  /** The running client, started if need be; undefined where it cannot be. */
  client(): Promise<LanguageClient | undefined> {
    this.starting ??= start();
    return this.starting;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.client();
  }

  dispose(): void {
    vscode.Disposable.from(...this.events).dispose();
    void this.stop();
  }

  private async stop(): Promise<void> {
    const running = this.starting;
    this.starting = undefined;
    await (await running)?.dispose();
  }
}

async function start(): Promise<LanguageClient | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  // An interpreter in the workspace is code of the workspace.
  const interpreter = vscode.workspace.isTrusted ? await chooseInterpreter(undefined, folder) : undefined;
  if (interpreter === undefined) {
    return undefined;
  }
  const client = new LanguageClient(
    "fxdap",
    "FX Graph",
    {
      command: interpreter.path,
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
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
    },
  );
  try {
    await client.start();
    return client;
  } catch (error) {
    log.warn(`${interpreter.path} (${interpreter.origin}) does not run the language server: ${String(error)}`);
    return undefined;
  }
}
