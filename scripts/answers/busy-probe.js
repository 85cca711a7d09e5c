/** Loaded by `--import`: writes a line for each time that a process keeps its event loop busy for too long, to the file of BUSY_PROBE. */
import { appendFileSync } from 'node:fs';

/** Maximum time of the processor between two turns. Unlike the clock, it doesn't count the work of other programs. Milliseconds. */
const BUSY_MAX_MS = 500;
const LOOK_EVERY_MS = 20;
/** A program that starts compiles its modules. Milliseconds. */
const STARTED_AFTER_MS = 20_000;

const file = process.env.BUSY_PROBE;
if (file !== undefined && file !== '') {
  let before = process.threadCpuUsage();
  setInterval(() => {
    const used = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    const busy = (used.user + used.system) / 1_000;
    if (busy > BUSY_MAX_MS && performance.now() > STARTED_AFTER_MS)
      appendFileSync(
        file,
        `process ${process.pid} was busy for ${Math.round(busy)} ms at ${new Date().toISOString()}\n`,
      );
  }, LOOK_EVERY_MS).unref();
}
