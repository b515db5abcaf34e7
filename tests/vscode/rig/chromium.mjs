import { execFileSync } from "node:child_process";

/** The Chromium to drive: what FXDAP_CHROMIUM names, or one on PATH; undefined without. */
export function findChromium() {
  const names = [process.env.FXDAP_CHROMIUM, "chromium", "chromium-browser", "google-chrome"];
  for (const name of names.filter(Boolean)) {
    try {
      return execFileSync("sh", ["-c", 'command -v "$1"', "sh", name], { encoding: "utf8" }).trim();
    } catch {
      continue;
    }
  }
  return undefined;
}
