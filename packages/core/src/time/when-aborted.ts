/**
 * Calls back once. For signals that outlive their listeners: in Node, a removed listener still points to those added
 * after it. So the first one in the old generation would keep all later ones in memory until a full garbage collection.
 * @returns removes the listener: nothing is called any more, and the callback's closure is released
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
