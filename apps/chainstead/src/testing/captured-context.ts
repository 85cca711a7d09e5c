import { systemClock } from '@chainstead/core';
import type { CommandContext } from '../command-context.ts';
import { runCommandLine } from '../command-line.ts';

/** What a command line came to. */
export interface CommandOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process with an environment of its own, catching what it writes. For tests. */
export async function runCaptured(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandOutcome> {
  const written = { stdout: '', stderr: '' };
  const context: CommandContext = {
    environment,
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    clock: systemClock,
    stopSignal: new AbortController().signal,
  };
  const exitCode = await runCommandLine(args, context);
  return { exitCode, ...written };
}
