import { after, before } from "node:test";
import { openWorkbench, scenes } from "./rig/workbench.mjs";

let code;
before(async () => {
  code = await openWorkbench({
    launch: [
      {
        name: "Debug FX Graph",
        graph: "${workspaceFolder}/mlp.py:MLP",
        stopOnEntry: false,
        nodeBreakpoints: ["relu"],
      },
    ],
  });
});
after(() => code?.close());
const scene = scenes(() => code);

scene("the node a thread is stopped at opens as a script", async () => {
  await code.start("Debug FX Graph");
  await code.stoppedLine(/%relu:/);
  await code.command("FX: Save This Node as a Script");
  await code.line(/torch\.ops\.aten\.relu\.default|aten\.relu/).first().waitFor();
  await code.line(/import\storch/).first().waitFor();
});
