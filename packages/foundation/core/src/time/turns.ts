import { whenAborted } from './clock.ts';

/** Keys take turns: the key that was served least is next. */
export interface Turns {
  /** @throws the error of `busy`; the signal's reason while it waits */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface TurnsOptions {
  readonly atOnce: number;
  /** Fewer than `atOnce` leave a place for other keys. */
  readonly atOncePerKey: number;
  /** While another key has work, or had some in the last second. @default atOncePerKey */
  readonly atOnceAmongKeys?: number;
  /** Running and waiting ones of a key. @default no limit */
  readonly placesPerKey?: number;
  /** Refuses work beyond `placesPerKey`. */
  readonly busy?: (places: number) => Error;
  /** Milliseconds of any clock. */
  readonly now: () => number;
}

interface Line {
  readonly waiting: Set<() => void>;
  running: number;
  /** Milliseconds, those of other keys before its first turn included. */
  served: number;
  /** When its last work ended. */
  endedAt: number;
}

/** A client that sends one request after the other counts as present between two of them. */
const PRESENT_MS = 1_000;

export function createTurns(options: TurnsOptions): Turns {
  const { atOnce, atOncePerKey, atOnceAmongKeys = atOncePerKey, now } = options;
  const { placesPerKey = Number.POSITIVE_INFINITY, busy = () => new Error('No place is left') } = options;
  const lines = new Map<string, Line>();
  let running = 0;
  let served = 0;

  function forgetAbsent(): void {
    const since = now() - PRESENT_MS;
    for (const [key, line] of lines)
      if (line.running === 0 && line.waiting.size === 0 && line.endedAt <= since) lines.delete(key);
  }

  function hasRoom(line: Line): boolean {
    return running < atOnce && line.running < (lines.size > 1 ? atOnceAmongKeys : atOncePerKey);
  }

  function enter(line: Line): void {
    line.running++;
    running++;
    served = Math.max(served, line.served);
  }

  function begin(): void {
    for (;;) {
      let next: Line | undefined;
      for (const line of lines.values())
        if (line.waiting.size > 0 && hasRoom(line) && (next === undefined || line.served < next.served))
          next = line;
      const [start] = next?.waiting ?? [];
      if (next === undefined || start === undefined) return;
      next.waiting.delete(start);
      enter(next);
      start();
    }
  }

  function leave(line: Line): void {
    line.endedAt = now();
    forgetAbsent();
    begin();
  }

  async function waitForTurn(line: Line, signal: AbortSignal | undefined): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const giveUp = (): void => {
      if (!line.waiting.delete(turn.resolve)) return;
      turn.reject(signal?.reason);
      leave(line);
    };
    const forget = whenAborted(signal, giveUp);
    line.waiting.add(turn.resolve);
    begin();
    await turn.promise.finally(forget);
  }

  return {
    async run(key, work, signal) {
      signal?.throwIfAborted();
      forgetAbsent();
      const line = lines.get(key) ?? { waiting: new Set(), running: 0, served, endedAt: 0 };
      const places = line.running + line.waiting.size;
      if (places >= placesPerKey) throw busy(places);
      lines.set(key, line);
      if (line.waiting.size === 0 && hasRoom(line)) enter(line);
      else await waitForTurn(line, signal);
      const startedAt = now();
      try {
        return await work();
      } finally {
        line.served += now() - startedAt;
        line.running--;
        running--;
        leave(line);
      }
    },
  };
}
