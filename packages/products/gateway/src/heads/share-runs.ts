/** Each run begins after its caller's call; at most one runs and one waits. */
export function shareRuns<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function begin(): Promise<T> {
    next = null;
    const began = run().finally(() => {
      // The waiting run starts in the same turn: no call gets in between.
      if (current === began && next === null) current = null;
    });
    current = began;
    return began;
  }

  return () => {
    if (current === null) return begin();
    // The current run may have read before this call.
    next ??= current.then(begin, begin);
    return next;
  };
}
