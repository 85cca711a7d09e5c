import { whenAborted } from '@chainstead/core';
import { GraphqlRefusalError } from '../refusal.ts';

/** Keys take turns: the key that was served least is next. */
export interface Turns {
  /** @throws GraphqlRefusalError GRAPHQL_BUSY, the signal's reason while it waits */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface TurnsOptions {
  readonly atOnce: number;
  /** Fewer than `atOnce` leave a place for other keys. */
  readonly atOncePerKey: number;
  /** Running and waiting ones of a key. */
  readonly placesPerKey: number;
  /** Milliseconds of any clock. */
  readonly now: () => number;
}

interface Line {
  readonly waiting: Set<() => void>;
  running: number;
  /** Milliseconds, those of other keys before its first turn included. */
  served: number;
}

export function createTurns({ atOnce, atOncePerKey, placesPerKey, now }: TurnsOptions): Turns {
  const lines = new Map<string, Line>();
  let running = 0;
  let served = 0;

  function begin(): void {
    while (running < atOnce) {
      const ready = Array.from(lines.values()).filter(
        (line) => line.waiting.size > 0 && line.running < atOncePerKey,
      );
      const next = ready.toSorted((one, other) => one.served - other.served)[0];
      const [start] = next?.waiting ?? [];
      if (next === undefined || start === undefined) return;
      next.waiting.delete(start);
      next.running++;
      running++;
      served = Math.max(served, next.served);
      start();
    }
  }

  function leave(key: string, line: Line): void {
    if (line.running === 0 && line.waiting.size === 0) lines.delete(key);
    begin();
  }

  async function waitForTurn(key: string, line: Line, signal: AbortSignal | undefined): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const giveUp = (): void => {
      if (!line.waiting.delete(turn.resolve)) return;
      turn.reject(signal?.reason);
      leave(key, line);
    };
    const forget = whenAborted(signal, giveUp);
    line.waiting.add(turn.resolve);
    begin();
    await turn.promise.finally(forget);
  }

  return {
    async run(key, work, signal) {
      signal?.throwIfAborted();
      const line = lines.get(key) ?? { waiting: new Set(), running: 0, served };
      const places = line.running + line.waiting.size;
      if (places >= placesPerKey) throw busy(places);
      lines.set(key, line);
      await waitForTurn(key, line, signal);
      const startedAt = now();
      try {
        return await work();
      } finally {
        line.served += now() - startedAt;
        line.running--;
        running--;
        leave(key, line);
      }
    },
  };
}

function busy(places: number): GraphqlRefusalError {
  const message = `${places} operations of this key are running or waiting`;
  return new GraphqlRefusalError('GRAPHQL_BUSY', message, 'Retry in a second.');
}
