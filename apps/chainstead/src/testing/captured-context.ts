import { systemClock } from '@chainstead/core';
import { runCommandLine } from '../command-line.ts';
import type { CommandContext } from '../session/command-context.ts';

/** What a command line came to. */
export interface CommandOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process with a separate environment, and returns its output. For tests. */
export async function runCaptured(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  currentFolder?: string,
  ask?: CommandContext['ask'],
): Promise<CommandOutcome> {
  const written = { stdout: '', stderr: '' };
  const context: CommandContext = {
    environment,
    ...(currentFolder !== undefined && { currentFolder }),
    ...(ask !== undefined && { ask }),
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
    clock: systemClock,
    stopSignal: new AbortController().signal,
  };
  const exitCode = await runCommandLine(args, context);
  return { exitCode, ...written };
}
