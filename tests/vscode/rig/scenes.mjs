// Scenes in one window. A story is scenes that build on each other: it begins with a clean window, and
// when one of its scenes fails the rest is skipped, so that one fault is one failure.
import { before, describe, test } from "node:test";

/** node:test's `test` for the window that `current()` gives; its `story` is `describe`. */
export function scenes(current) {
  let failed = false;

  function story(name, define) {
    describe(name, () => {
      before(() => {
        failed = false;
        return pictured(`before ${name}`, () => current().reset());
      });
      define();
    });
  }

  function scene(name, run) {
    test(name, async (t) => {
      if (failed) {
        t.skip("a scene that it builds on failed");
        return;
      }
      await pictured(name, () => run(current()));
    });
  }

  async function pictured(name, run) {
    try {
      await run();
    } catch (error) {
      failed = true;
      await current().shot(`failed ${name.replace(/[^\w]+/g, " ")}`);
      throw error;
    }
  }

  return Object.assign(scene, { story, scene });
}
