import type { Clock } from '@chainstead/core';
import type { Command } from 'commander';

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Characters of a line, of a terminal. */
  readonly columns?: number;
}

export interface JsonOption {
  readonly json?: boolean;
}

/** The action of a command gets it, after its arguments. */
export interface Invocation<Options = object> {
  readonly options: Options;
  readonly command: Command;
  readonly context: CommandContext;
}

export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Its `.env` holds settings; absent: only the environment and a named file do. */
  readonly currentFolder?: string;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  readonly stopSignal: AbortSignal;
  /** Asks the operator at a terminal; absent: there is no terminal. @returns null if the input ended */
  ask?(question: string): Promise<string | null>;
  /** Calls the listener when the process must replace its child processes; absent: never. @returns a function that ends this */
  onReload?(listener: () => void): () => void;
}
