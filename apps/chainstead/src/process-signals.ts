import { isatty } from 'node:tty';

const EXIT_CODE_INTERRUPTED = 130;
/** npx and npm pass on one Ctrl-C a second time. */
const SAME_KEYPRESS_MS = 500;
const STANDARD_STREAMS = [0, 1, 2];

export interface ProcessSignals {
  /** SIGINT, SIGTERM, or a lost parent on the IPC channel. A second Ctrl-C ends the process. */
  readonly stopSignal: AbortSignal;
  onReload(listener: () => void): () => void;
  /** From now on, Ctrl-C is for a child process at the same terminal. */
  leaveInterrupts(): void;
}

/** @param isAtTerminal a person sees the output @param now monotonic milliseconds */
export function listenForSignals(
  process: NodeJS.Process,
  isAtTerminal: boolean = STANDARD_STREAMS.some((stream) => isatty(stream)),
  now: () => number = () => performance.now(),
): ProcessSignals {
  const stop = new AbortController();
  const listeners = new Set<() => void>();
  let interruptedAt: number | undefined;
  let isLeft = false;
  process.on('SIGINT', () => {
    if (isLeft) return;
    const isSecond = interruptedAt !== undefined && now() - interruptedAt > SAME_KEYPRESS_MS;
    if (isSecond) process.exit(EXIT_CODE_INTERRUPTED);
    interruptedAt ??= now();
    stop.abort();
  });
  process.on('SIGTERM', () => stop.abort());
  process.on('SIGHUP', () => {
    if (isAtTerminal || listeners.size === 0) stop.abort();
    else for (const listener of listeners) listener();
  });
  if (process.channel !== undefined && process.channel !== null) {
    process.on('disconnect', () => stop.abort());
    // The channel must not keep a finished command alive.
    process.channel.unref();
  }
  return {
    stopSignal: stop.signal,
    onReload(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    leaveInterrupts() {
      isLeft = true;
    },
  };
}
