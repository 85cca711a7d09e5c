import { silentLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { addressOf, exampleChain } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { readMissingFacts } from './read-missing-facts.ts';

const [UNREAD, OLD, KNOWN] = [addressOf(1), addressOf(2), addressOf(3)];

test('decimals that are not known are waited for, and a supply that is old is not', async () => {
  const asked: [items: unknown, waitMs: number][] = [];
  const context = {
    database: {} as Database,
    logger: silentLogger(),
    waitMs: 500,
    questions: {
      async ask(_chain: unknown, _kind: unknown, question: unknown, options: { readonly waitMs: number }) {
        asked.push([Object.values(Object(question))[0], options.waitMs]);
        return null;
      },
    },
  };
  const shown = [
    { token: UNREAD, facts: { decimals: null, isSupplyOld: true } },
    { token: OLD, facts: { decimals: 6, isSupplyOld: true } },
    { token: KNOWN, facts: { decimals: 6, isSupplyOld: false } },
  ];
  const read = (some: typeof shown) => readMissingFacts(context as never, exampleChain(), some as never);
  expect(await read(shown)).toBe(false);
  expect(asked).toEqual([
    [[OLD], 0],
    [[UNREAD], 500],
  ]);
  asked.length = 0;
  expect(await read(shown.slice(2))).toBe(false);
  expect(asked).toEqual([]);
});
