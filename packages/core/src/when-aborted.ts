/**
 * Calls back once, when the signal aborts. For signals that outlive what waits for them: an ended listener of Node's points on to those that were added after
 * it, so that the first one to grow old would hold all that came later, with what they close over, until everything old is collected.
 * @returns ends it: nothing is called any more, and what the callback closes over is let go
 */
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
