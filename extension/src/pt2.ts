import * as path from "node:path";
import * as vscode from "vscode";
import type { Listings } from "./listings";
import { messageOf } from "./log";
import { folderOf, launchOf } from "./targets";

/** Opening a `.pt2` file opens its listing, once that is written; until then, a page. */
export class Pt2Editor implements vscode.CustomReadonlyEditorProvider {
  constructor(private readonly listings: Listings) {}

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    const name = path.basename(uri.fsPath);
    panel.webview.html = page(`Reading ${name}: PyTorch is loading it, which takes some seconds.`);
    const launch = launchOf(name, { graph: uri.fsPath });
    try {
      if (await this.listings.show(launch, folderOf(uri), panel.viewColumn)) {
        panel.dispose();
      } else {
        panel.webview.html = page(`${name} was not read.`);
      }
    } catch (error) {
      panel.webview.html = page(`${name} cannot be shown. ${messageOf(error)}`);
    }
  }
}

function page(text: string): string {
  const escaped = text.replace(/[&<>"]/g, (found) => `&#${String(found.charCodeAt(0))};`);
  return `<!DOCTYPE html><html><body><p>${escaped}</p></body></html>`;
}
