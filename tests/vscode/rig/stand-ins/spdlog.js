// VS Code's file logger, in plain JavaScript instead of a native module that needs a compiler.
// The names are imported from an ES module, which finds only plain `exports.x = ...` statements.
const fs = require("fs");
const path = require("path");

const LEVELS = ["trace", "debug", "info", "warning", "error", "critical"];

class Logger {
  constructor(file) {
    this.file = file;
    this.level = 2;
  }
  write(level, message) {
    if (level >= this.level) {
      fs.appendFile(this.file, `${new Date().toISOString()} [${LEVELS[level]}] ${message}\n`, () => {});
    }
  }
  trace(message) { this.write(0, message); }
  debug(message) { this.write(1, message); }
  info(message) { this.write(2, message); }
  warn(message) { this.write(3, message); }
  error(message) { this.write(4, message); }
  critical(message) { this.write(5, message); }
  getLevel() { return this.level; }
  setLevel(level) { this.level = level; }
  setPattern() {}
  clearFormatters() {}
  flush() {}
  drop() {}
}

async function createLogger(_name, file) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  return new Logger(file);
}

exports.version = 1;
exports.Logger = Logger;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.shutdown = () => {};
exports.createRotatingLogger = createLogger;
exports.createAsyncRotatingLogger = createLogger;
