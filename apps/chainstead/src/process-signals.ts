import { isatty } from 'node:tty';

const EXIT_CODE_INTERRUPTED = 130;
const STANDARD_STREAMS = [0, 1, 2];

/** What the process is asked for from outside. */
export interface ProcessSignals {
  /**
   * Aborts when the process is asked to stop: by SIGINT or SIGTERM, or because the process that started it over an IPC channel
   * is gone. A second SIGINT ends the process at once. By SIGHUP too, where it means that the terminal is closed, or nobody listens for it.
   */
  readonly stopSignal: AbortSignal;
  /** Has SIGHUP ask for fresh processes instead of a stop, where there is no terminal. @returns what ends that */
  onReload(listener: () => void): () => void;
}

/** @param isAtTerminal whether a person started it and sees what it writes */
export function listenForSignals(
  process: NodeJS.Process,
  isAtTerminal: boolean = STANDARD_STREAMS.some((stream) => isatty(stream)),
): ProcessSignals {
  const stop = new AbortController();
  const listeners = new Set<() => void>();
  let interrupts = 0;
  process.on('SIGINT', () => {
    interrupts += 1;
    if (interrupts > 1) process.exit(EXIT_CODE_INTERRUPTED);
    stop.abort();
  });
  process.on('SIGTERM', () => stop.abort());
  process.on('SIGHUP', () => {
    if (isAtTerminal || listeners.size === 0) stop.abort();
    else for (const listener of listeners) listener();
  });
  if (process.channel !== undefined && process.channel !== null) {
    process.on('disconnect', () => stop.abort());
    // Waiting for a message that may never come must not keep a finished command alive.
    process.channel.unref();
  }
  return {
    stopSignal: stop.signal,
    onReload(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
