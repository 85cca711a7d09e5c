import type { BlockRange } from '@chainstead/core';

/**
 * Reads the blocks of a range with up to `depth` reads in flight, and gives them in order. A failed read surfaces when
 * its turn comes; reads behind it are let go.
 */
export async function* readAhead<T>(
  range: BlockRange,
  depth: number,
  read: (number: number) => Promise<T>,
): AsyncGenerator<T> {
  const inFlight: Promise<T>[] = [];
  let next = range.from;
  const fill = (): void => {
    while (inFlight.length < depth && next <= range.to) {
      const reading = read(next++);
      // Without a handler of its own, a read that fails before its turn would count as an unhandled rejection.
      reading.catch(() => undefined);
      inFlight.push(reading);
    }
  };
  fill();
  for (;;) {
    const first = inFlight.shift();
    if (first === undefined) return;
    const value = await first;
    fill();
    yield value;
  }
}
