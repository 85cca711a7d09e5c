import { silentLogger, waitingAtMost, waitLeft } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { addressOf, exampleChain } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { readMissingFacts } from './resolve-wallet-balances.ts';

const [UNREAD, OLD, KNOWN] = [addressOf(1), addressOf(2), addressOf(3)];

test('decimals that are not known are waited for, and a supply that is old is not', async () => {
  const requested: [items: unknown, isAwaited: boolean][] = [];
  const context = {
    database: {} as Database,
    logger: silentLogger(),
    nodeReads: {
      async request(_chain: unknown, _kind: unknown, question: unknown) {
        requested.push([Object.values(Object(question))[0], waitLeft() > 0]);
        return null;
      },
    },
  };
  const shown = [
    { token: UNREAD, facts: { decimals: null, isSupplyOld: true } },
    { token: OLD, facts: { decimals: 6, isSupplyOld: true } },
    { token: KNOWN, facts: { decimals: 6, isSupplyOld: false } },
  ];
  const read = (some: typeof shown) =>
    waitingAtMost(60_000, () => readMissingFacts(context as never, exampleChain(), some as never));
  expect(await read(shown)).toBe(false);
  expect(requested).toEqual([
    [[OLD], false],
    [[UNREAD], true],
  ]);
  requested.length = 0;
  expect(await read(shown.slice(2))).toBe(false);
  expect(requested).toEqual([]);
});
