// The part of the Python extension's API that says which interpreter is selected.
const vscode = require("vscode");

exports.activate = () => ({
  environments: {
    getActiveEnvironmentPath: () => ({ id: "selected", path: process.env.FXDAP_SELECTED_PYTHON }),
    resolveEnvironment: async ({ path }) => ({ executable: { uri: vscode.Uri.file(path) } }),
  },
});
