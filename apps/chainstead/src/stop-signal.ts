const EXIT_CODE_INTERRUPTED = 130;

/**
 * A signal that aborts when the process is asked to stop: by SIGINT, SIGTERM or SIGHUP, or because the process that
 * started it over an IPC channel is gone. A second SIGINT ends the process at once.
 */
export function listenForStop(process: NodeJS.Process): AbortSignal {
  const stop = new AbortController();
  let interrupts = 0;
  process.on('SIGINT', () => {
    interrupts += 1;
    if (interrupts > 1) process.exit(EXIT_CODE_INTERRUPTED);
    stop.abort();
  });
  process.on('SIGTERM', () => stop.abort());
  process.on('SIGHUP', () => stop.abort());
  if (process.channel !== undefined && process.channel !== null) {
    process.on('disconnect', () => stop.abort());
    // Waiting for a message that may never come must not keep a finished command alive.
    process.channel.unref();
  }
  return stop.signal;
}
