import * as path from "node:path";
import * as vscode from "vscode";
import { configurationFor } from "./configuration";
import type { LanguageServer } from "./languageServer";
import type { Listings } from "./listings";

/** What the server answers: where the listing is, or why there is none. */
interface Answer {
  listing?: string;
  error?: string;
}

/** Opening a `.pt2` file opens its listing, once the server has written that; until then, a page. */
export class Pt2Editor implements vscode.CustomReadonlyEditorProvider {
  constructor(
    private readonly server: LanguageServer,
    private readonly listings: Listings,
  ) {}

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor(
    { uri }: vscode.CustomDocument,
    panel: vscode.WebviewPanel,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const name = path.basename(uri.fsPath);
    panel.webview.html = page(`Reading ${name}: PyTorch is loading it, which takes some seconds.`);
    const progress = { location: vscode.ProgressLocation.Window, title: `FX: reading ${name}` };
    const { listing, error } = await vscode.window.withProgress(progress, () => this.ask(uri, token));
    if (listing === undefined) {
      panel.webview.html = page(`${name} cannot be shown. ${error ?? ""}`);
      return;
    }
    this.listings.remember(listing, { ...configurationFor(uri.fsPath), name: `Debug FX Graph: ${name}` });
    const viewColumn = panel.viewColumn ?? vscode.ViewColumn.Active;
    await vscode.window.showTextDocument(vscode.Uri.file(listing), { preview: false, viewColumn });
    panel.dispose();
  }

  private async ask(uri: vscode.Uri, token: vscode.CancellationToken): Promise<Answer> {
    const client = await this.server.client();
    if (client === undefined) {
      return { error: "The language server does not run: see “FX: Show Log”, and choose a Python that has fxdap." };
    }
    try {
      return await client.sendRequest<Answer>("fxdap/pt2Listing", { uri: uri.toString() }, token);
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }
}

function page(text: string): string {
  const escaped = text.replace(/[&<>"]/g, (found) => `&#${String(found.charCodeAt(0))};`);
  return `<!DOCTYPE html><html><body><p>${escaped}</p></body></html>`;
}
