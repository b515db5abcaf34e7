// The Python extension's command that says which interpreter is selected; it quotes a path with spaces.
const vscode = require("vscode");

exports.activate = () => {
  const selected = process.env.FXDAP_SELECTED_PYTHON;
  vscode.commands.registerCommand("python.interpreterPath", ({ workspaceFolder }) =>
    workspaceFolder === undefined ? "python" : selected.includes(" ") ? `"${selected}"` : selected,
  );
};
