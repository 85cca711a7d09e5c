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
