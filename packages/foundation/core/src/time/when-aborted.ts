/**
 * For signals that outlive their listeners: Node's removed listeners keep later ones in memory until a full collection.
 * @returns removes the listener and releases the callback
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
