/** Where the command line begins: the process's own things become explicit dependencies here, and nowhere else. */
import { systemClock } from '@chainstead/core/clock';
import { runCommandLine } from './command-line.ts';
import { listenForSignals } from './process-signals.ts';
import { resolveDrizzleQuickly } from './resolve-drizzle.ts';

/** After a command has ended, what still keeps the process alive (a poll of a node that is gone) is cut off. Milliseconds. */
const LINGER_MS = 3_000;

// Before anything imports it: commands are imported as they run.
resolveDrizzleQuickly();

// The reader of a pipe may have seen enough (`chainstead gaps | head`): that is no failure.
for (const output of [process.stdout, process.stderr])
  output.on('error', (error) => {
    if (!('code' in error) || error.code !== 'EPIPE') throw error;
    process.exit();
  });

process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  currentFolder: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  clock: systemClock,
  ...(process.stdin.isTTY ? { ask } : {}),
  ...listenForSignals(process),
});

/** Asks on standard error, so that standard output holds only the result. */
async function ask(question: string): Promise<string | null> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
  try {
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

setTimeout(() => process.exit(), LINGER_MS).unref();
