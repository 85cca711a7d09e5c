/** The command line begins here: globals of the process become explicit dependencies. */
import { systemClock } from '@chainstead/core/clock';
import { runCommandLine } from './command-line.ts';
import { listenForSignals } from './process-signals.ts';
import { resolveDrizzleQuickly } from './resolve-drizzle.ts';

const LINGER_MS = 3_000;

// Must run before a command imports it.
resolveDrizzleQuickly();

// The reader of a pipe may have seen enough (`chainstead gaps | head`).
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

/** Standard output holds only the result. */
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
