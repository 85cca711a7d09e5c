import type { Clock } from '@chainstead/core';
import type { Command } from 'commander';

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface JsonOption {
  readonly json?: boolean;
}

export interface Invocation<Options = object> {
  readonly options: Options;
  readonly command: Command;
  readonly context: CommandContext;
}

export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder of `.env`; absent: no such file. */
  readonly currentFolder?: string;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  readonly stopSignal: AbortSignal;
  /** Absent: no terminal. @returns null if the input ended */
  ask?(question: string): Promise<string | null>;
  /** Asks to replace child processes; absent: never. @returns ends this */
  onReload?(listener: () => void): () => void;
  /** From now on, Ctrl-C is for a child process at the same terminal. */
  leaveInterrupts?(): void;
}
