// Ends a child of the VS Code server when the server is gone; the original is a native module.
exports.start = (pid) => {
  const check = () => {
    try {
      process.kill(pid, 0);
    } catch {
      process.exit(87);
    }
  };
  setInterval(check, 3000).unref();
};
exports.exit = (code) => process.exit(code ?? 0);
