import { isatty } from 'node:tty';

const EXIT_CODE_INTERRUPTED = 130;
const STANDARD_STREAMS = [0, 1, 2];

/** Requests to the process from signals. */
export interface ProcessSignals {
  /**
   * Aborts at SIGINT or SIGTERM, or when the parent process on the IPC channel is gone. A second SIGINT ends the process
   * immediately. SIGHUP also aborts it, if it means a closed terminal or if there is no listener for it.
   */
  readonly stopSignal: AbortSignal;
  /** Calls the listener at SIGHUP instead of a stop, if there is no terminal. @returns a function that ends this */
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
