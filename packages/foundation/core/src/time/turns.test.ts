import { describe, expect, test } from 'vitest';
import { createTurns, type TurnsOptions } from './turns.ts';

/** Turns on a clock that only the test moves, and the order in which they begin. */
function startTurns(options: Partial<TurnsOptions> = {}) {
  let time = 0;
  const busy = (places: number): Error => new Error(`${places} are running or waiting`);
  const turns = createTurns({ atOnce: 1, atOncePerKey: 1, placesPerKey: 3, busy, now: () => time, ...options });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    run(name: string, signal?: AbortSignal): Promise<string> {
      const [key = ''] = name;
      const work = async (): Promise<string> => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      };
      return turns.run(key, work, signal);
    },
    async end(name: string, afterMs = 1): Promise<void> {
      await settled();
      time += afterMs;
      ends.get(name)?.();
      await settled();
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('operations of several keys', () => {
  test('begin in turns, and a key that was served longer waits for the others', async () => {
    const { begun, run, end } = startTurns();
    const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => run(name));
    for (const name of ['a1', 'b1', 'c1']) await end(name, name === 'a1' ? 50 : 1);
    // Key b was served for 1 ms, key a for 50.
    for (const name of ['b2', 'a2', 'a3']) await end(name);
    expect(begun).toEqual(['a1', 'b1', 'c1', 'b2', 'a2', 'a3']);
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
  });

  test('leave a place for other keys', async () => {
    const { begun, run } = startTurns({ atOnce: 3, atOncePerKey: 2 });
    for (const name of ['a1', 'a2', 'a3', 'b1']) void run(name);
    await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1']);
  });

  test('have fewer places while another key is present', async () => {
    const { begun, run, end } = startTurns({ atOnce: 4, atOncePerKey: 3, atOnceAmongKeys: 1, placesPerKey: 9 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) void run(name);
    await expect.poll(() => begun).toEqual(['a1', 'a2', 'a3', 'b1']);
    for (const name of ['a1', 'a2', 'b1', 'b2', 'a3']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'a4']);
    // Key b has been away for more than a second.
    void run('a5');
    await end('a4', 2_000);
    for (const name of ['a6', 'a7']) void run(name);
    await expect.poll(() => begun.slice(6)).toEqual(['a5', 'a6', 'a7']);
  });

  test('are refused only for the key whose places are taken', async () => {
    const { begun, run, end } = startTurns();
    for (const name of ['a1', 'a2', 'a3']) void run(name);
    await expect(run('a4')).rejects.toThrow('3 are running or waiting');
    void run('b1');
    await end('a1');
    expect(begun).toEqual(['a1', 'b1']);
    void run('a4');
  });

  test('give up their place when their request ends', async () => {
    const { begun, run, end } = startTurns();
    const leaving = new AbortController();
    void run('a1');
    const left = ['a2', 'a3'].map((name) => run(name, leaving.signal));
    leaving.abort(new Error('left'));
    for (const one of left) await expect(one).rejects.toThrow('left');
    for (const name of ['a4', 'a5']) void run(name);
    for (const name of ['a1', 'a4', 'a5']) await end(name);
    expect(begun).toEqual(['a1', 'a4', 'a5']);
  });
});
