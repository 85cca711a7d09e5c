/**
 * Shares the runs of an operation among all who ask for it: each gets a run that began after its ask, and yet at most one
 * runs while one more waits, however many ask.
 */
export function shareRuns<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function begin(): Promise<T> {
    next = null;
    const began = run().finally(() => {
      // Whoever waits begins in the same turn, so that nobody slips in between.
      if (current === began && next === null) current = null;
    });
    current = began;
    return began;
  }

  return () => {
    if (current === null) return begin();
    // One that runs already may have read before this ask.
    next ??= current.then(begin, begin);
    return next;
  };
}
