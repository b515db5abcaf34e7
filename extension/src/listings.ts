import * as path from "node:path";
import * as vscode from "vscode";
import { fxdap } from "./command";
import { substitute } from "./interpreter";
import { LISTING } from "./log";
import { chooseTarget, folderOf, launchConfigurations } from "./targets";

/** Not kept: what may be secret, and what each launch finds out anew. */
const FORGOTTEN = ["env", "python", "logToFile", "noDebug", "debugServer"];

/** Which configuration wrote which listing, over sessions: a listing does not name its source. */
export class Listings {
  constructor(private readonly state: vscode.Memento) {}

  remember(listing: string, configuration: vscode.DebugConfiguration): void {
    const kept = Object.entries(configuration).filter(([key]) => !FORGOTTEN.includes(key) && !key.startsWith("__"));
    void this.state.update(`listing:${listing}`, Object.fromEntries(kept));
  }

  /** launch.json's own version of it where it is from there, since that may have changed. */
  configurationOf(listing: vscode.Uri): vscode.DebugConfiguration | undefined {
    const kept = this.state.get<vscode.DebugConfiguration>(`listing:${listing.fsPath}`);
    return launchConfigurations(folderOf(listing)).find(({ name }) => name === kept?.name) ?? kept;
  }

  /** What F5 in a listing starts. */
  async configurationFor(listing: vscode.Uri): Promise<vscode.DebugConfiguration | undefined> {
    const folder = folderOf(listing);
    const known = this.configurationOf(listing);
    if (known !== undefined || folder === undefined) {
      return known;
    }
    return chooseTarget(folder, { listing: path.basename(listing.fsPath, LISTING) });
  }

  /** Writes a graph's listing as a session would and opens it, so that breakpoints can be set first. */
  async open(resource?: vscode.Uri): Promise<void> {
    const folder = folderOf(resource);
    if (folder === undefined) {
      void vscode.window.showInformationMessage("Open the folder that holds your model first.");
      return;
    }
    const file = resource ?? vscode.window.activeTextEditor?.document.uri;
    const configuration = await chooseTarget(folder, { file, only: resource !== undefined });
    if (configuration === undefined) {
      return;
    }
    const { graph, inputs, capture } = configuration as Record<string, string | undefined>;
    const words = ["list", substitute(graph ?? "", folder), "--json"];
    words.push(...(inputs === undefined ? [] : ["--inputs", substitute(inputs, folder)]));
    words.push(...(capture === undefined ? [] : ["--capture", capture]));
    const progress = { location: vscode.ProgressLocation.Notification, title: `Capturing ${graph ?? ""}`, cancellable: true };
    const answers = await vscode.window.withProgress(progress, (_, token) =>
      fxdap(folder, words, { needsTorch: true, token }),
    );
    const written = answers?.at(-1) as { listing: string } | undefined;
    if (written !== undefined) {
      this.remember(written.listing, configuration);
      await showAnew(written.listing);
      await vscode.window.showTextDocument(vscode.Uri.file(written.listing), { preview: false });
    }
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
