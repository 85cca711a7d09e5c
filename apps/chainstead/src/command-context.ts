import type { Clock } from '@chainstead/core';

/** Somewhere to write text; a terminal or not. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Characters of a line, of a terminal. */
  readonly columns?: number;
}

/** What every command gets from the process. */
export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  /** Aborted when the process is asked to stop. */
  readonly stopSignal: AbortSignal;
  /** Tells when the process is asked for fresh processes while it runs; absent: it never is. @returns what ends that */
  onReload?(listener: () => void): () => void;
}
