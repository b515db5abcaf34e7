import * as path from "node:path";
import * as vscode from "vscode";
import type { LanguageServer } from "./languageServer";
import { type Targets, folderOf, launchConfigurations } from "./targets";

/** Not kept: what may be secret, and what each launch finds out anew. */
const FORGOTTEN = ["env", "python", "logToFile", "noDebug", "debugServer"];

/** The keys of a launch configuration that a listing depends on. */
interface Graph {
  graph: string;
  inputs?: string;
  capture?: string;
}

/** Where the listing is, or why there is none. */
interface Written {
  listing?: string;
  error?: string;
}

/** Listings, written before anything runs, and which configuration each is of: its text does not tell. */
export class Listings {
  constructor(
    private readonly state: vscode.Memento,
    private readonly server: LanguageServer,
    private readonly targets: Targets,
  ) {}

  remember(listing: string, configuration: vscode.DebugConfiguration): void {
    const kept = Object.entries(configuration).filter(([key]) => !FORGOTTEN.includes(key) && !key.startsWith("__"));
    void this.state.update(`listing:${listing}`, Object.fromEntries(kept));
  }

  /** What F5 in a listing starts: launch.json's own version where it is from there, since that may have changed. */
  async configurationFor(listing: vscode.Uri): Promise<vscode.DebugConfiguration | undefined> {
    const folder = folderOf(listing);
    const kept = this.state.get<vscode.DebugConfiguration>(`listing:${listing.fsPath}`);
    const known = launchConfigurations(folder).find(({ name }) => name === kept?.name) ?? kept;
    if (known !== undefined || folder === undefined) {
      return known;
    }
    return this.targets.choose(folder, { listing: path.basename(listing.fsPath, ".fxgraph") });
  }

  /** "FX: Open Graph Listing": breakpoints can then be set before the first run. */
  async open(resource?: vscode.Uri): Promise<void> {
    const folder = folderOf(resource);
    if (folder === undefined) {
      throw new Error("Open the folder that holds your model first.");
    }
    const file = resource ?? vscode.window.activeTextEditor?.document.uri;
    const configuration = await this.targets.choose(folder, { file }, resource !== undefined);
    if (configuration !== undefined) {
      await this.show(configuration, folder);
    }
  }

  /** Writes the listing as a session would and opens it; true once it is open. */
  async show(
    configuration: vscode.DebugConfiguration,
    folder: vscode.WorkspaceFolder | undefined,
    viewColumn = vscode.ViewColumn.Active,
  ): Promise<boolean> {
    const { graph, inputs, capture } = configuration as unknown as Graph;
    const uri = (folder?.uri ?? vscode.Uri.file(path.dirname(graph))).toString();
    const title = `Capturing ${path.basename(graph)}`;
    const progress = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    const answer = await vscode.window.withProgress(progress, (_, token) =>
      this.server.request<Written>("fxdap/writeListing", { uri, graph, inputs, capture }, folder, {
        needsTorch: true,
        token,
      }),
    );
    if (answer?.error !== undefined) {
      throw new Error(answer.error);
    }
    if (answer?.listing === undefined) {
      return false;
    }
    this.remember(answer.listing, configuration);
    await showAnew(answer.listing);
    await vscode.window.showTextDocument(vscode.Uri.file(answer.listing), { preview: false, viewColumn });
    return true;
  }
}

/**
 * Has a listing that is open show what its file holds now. VS Code's own watcher misses files in
 * folders that came into being together, as `.fxdap/graphs` does; creating the file that is there
 * already makes it look again.
 */
export async function showAnew(listing: string): Promise<void> {
  const uri = vscode.Uri.file(listing);
  const open = vscode.workspace.textDocuments.find((document) => document.uri.fsPath === uri.fsPath);
  if (open === undefined || open.isDirty) {
    return;
  }
  const contents = await vscode.workspace.fs.readFile(uri);
  if (new TextDecoder().decode(contents) !== open.getText()) {
    const edit = new vscode.WorkspaceEdit();
    edit.createFile(uri, { overwrite: true, contents });
    await vscode.workspace.applyEdit(edit);
  }
}
