/** Where the command line begins: the process's own things become explicit dependencies here, and nowhere else. */
import { systemClock } from '@chainstead/core';
import { runCommandLine } from './command-line.ts';
import { listenForStop } from './stop-signal.ts';

process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  clock: systemClock,
  stopSignal: listenForStop(process),
});
