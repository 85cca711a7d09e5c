import type { Clock } from './clock.ts';

/** Waiting callers share a failure; the next one tries again. */
export function knownFor<Value>(
  milliseconds: number,
  clock: Pick<Clock, 'now'>,
  read: () => Promise<Value>,
): () => Promise<Value> {
  let known: { readonly value: Promise<Value>; readonly until: number } | null = null;
  return () => {
    if (known !== null && clock.now() < known.until) return known.value;
    const requested = { value: read(), until: clock.now() + milliseconds };
    known = requested;
    requested.value.catch(() => {
      if (known === requested) known = null;
    });
    return requested.value;
  };
}
