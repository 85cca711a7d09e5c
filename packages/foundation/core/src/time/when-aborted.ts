/** Node keeps removed listeners of long-lived signals in memory. @returns removes the listener */
export function whenAborted(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined) return () => undefined;
  const held: { callback: (() => void) | null } = { callback };
  const listener = (): void => held.callback?.();
  signal.addEventListener('abort', listener, { once: true });
  return () => {
    held.callback = null;
    signal.removeEventListener('abort', listener);
  };
}

/** The work continues after the abort. @throws the signal's reason */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // The caller gets the reason of the signal, not a later failure of the work.
    work.catch(() => undefined);
    throw signal.reason;
  }
  const aborted = Promise.withResolvers<never>();
  const end = whenAborted(signal, () => aborted.reject(signal.reason));
  return Promise.race([work, aborted.promise]).finally(end);
}
