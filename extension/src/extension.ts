import * as path from "node:path";
import * as vscode from "vscode";
import { adapterOf, trackerOf } from "./adapter";
import { ConfigurationProvider } from "./configuration";
import { LanguageServer } from "./languageServer";
import { Listings } from "./listings";
import { DEBUG_TYPE, complain, log, messageOf } from "./log";
import { chooseAnother } from "./probe";
import { attachGraphs, attachWhenAsked } from "./pythonDebug";
import { Pt2Editor } from "./pt2";
import { type Place, addFunctionBreakpoint, breakOnEvery, breakOnSelector, runToNode } from "./selectors";
import { positionItem } from "./status";
import { Targets, folderOf, launchOf } from "./targets";

export function activate(context: vscode.ExtensionContext): void {
  const { debug } = vscode;
  const server = new LanguageServer();
  const targets = new Targets(server);
  const listings = new Listings(context.workspaceState, server, targets);
  const dynamic = vscode.DebugConfigurationProviderTriggerKind.Dynamic;
  context.subscriptions.push(
    log,
    server,
    positionItem(),
    attachWhenAsked(),
    debug.registerDebugConfigurationProvider(DEBUG_TYPE, new ConfigurationProvider(context, listings)),
    debug.registerDebugConfigurationProvider(DEBUG_TYPE, targets, dynamic),
    debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, {
      // Not in the workspace: its files must not hide the adapter's own imports.
      createDebugAdapterDescriptor: ({ configuration }) => adapterOf(configuration, context.extensionPath),
    }),
    debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, {
      createDebugAdapterTracker: (session) => trackerOf(session, listings),
    }),
    vscode.window.registerCustomEditorProvider("fxdap.pt2", new Pt2Editor(listings)),
    command("debugFile", debugFile),
    command("debugTarget", debugTarget),
    command("openListing", (resource?: vscode.Uri) => listings.open(resource)),
    command("breakOn", addFunctionBreakpoint),
    command("breakOnSelector", () => {
      breakOnSelector(server);
    }),
    command("breakOnEvery", (place?: Place) => breakOnEvery(server, place)),
    command("runToNode", (place?: Place) => runToNode(server, listings, place)),
    command("saveNode", saveNode),
    command("attachGraphs", attachGraphs),
    command("restartServer", () => server.restart()),
    command("chooseInterpreter", chooseAnother),
    command("gettingStarted", () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#start`),
    ),
    command("showLog", () => {
      log.info(`Log folder: ${context.logUri.fsPath}`);
      log.show();
    }),
  );
  void server.client();
}

/** What a command throws is told in a notification, not in VS Code's dialog. */
function command(name: string, run: (...given: never[]) => unknown): vscode.Disposable {
  return vscode.commands.registerCommand(`fxdap.${name}`, async (...given: never[]) => {
    try {
      await run(...given);
    } catch (error) {
      void complain(messageOf(error));
    }
  });
}

async function debugFile(resource?: vscode.Uri): Promise<void> {
  const uri = resource ?? vscode.window.activeTextEditor?.document.uri;
  if (uri !== undefined) {
    const file = uri.fsPath;
    const what = file.endsWith(".pt2") ? { graph: file } : { program: file };
    await vscode.debug.startDebugging(folderOf(uri), launchOf(path.basename(file), what));
  }
}

/** The lens above a model in a Python file. */
async function debugTarget(uri: string, target: string): Promise<void> {
  const file = vscode.Uri.parse(uri);
  await vscode.debug.startDebugging(folderOf(file), launchOf(target, { graph: `${file.fsPath}:${target}` }));
}

/** Opens the node where a thread is stopped as a Python file that runs without fxdap. */
async function saveNode(): Promise<void> {
  const item = vscode.debug.activeStackItem;
  if (item?.session.type !== DEBUG_TYPE) {
    throw new Error("Stop a graph first: the node it is stopped at becomes the script.");
  }
  const answer: unknown = await item.session.customRequest("fxdapRepro", { threadId: item.threadId });
  const { content } = answer as { content: string };
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language: "python" }));
}
