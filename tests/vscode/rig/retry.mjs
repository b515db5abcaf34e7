// The editor loses clicks and keys while it is busy, as a person notices and does them again.
const PATIENCE_MS = [4_000, 8_000, 16_000, 32_000, 60_000];

/**
 * Runs an action that is harmless to repeat until it succeeds, each time with more patience:
 * `run(patience)` bounds its own waits by that many milliseconds.
 */
export async function retry(what, run) {
  let last;
  for (const patience of PATIENCE_MS) {
    try {
      return await run(patience);
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`${what}: ${last.message}`, { cause: last });
}
