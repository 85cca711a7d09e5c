import { createChainRegistry } from '@chainstead/chains';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { seedTransactions } from '../testing/seeded-transactions.ts';
import { hasTransactions } from './has-transactions.ts';

const registry = createChainRegistry();
const [eth, base] = [registry.get('eth'), registry.get('base')];
const [ALICE, BOB] = [addressOf(0xa11ce), addressOf(0xb0b)];

const scratch = scratchOfFile();
beforeAll(async () => {
  await seedTransactions(scratch.database, eth, [{ blockNumber: 5, transactionIndex: 0, from: ALICE, to: BOB }]);
});

test('who sent or received a transaction has some, on that chain alone', async () => {
  const { database } = scratch;
  expect(await hasTransactions(database, eth, ALICE)).toBe(true);
  expect(await hasTransactions(database, eth, BOB)).toBe(true);
  expect(await hasTransactions(database, eth, addressOf(9))).toBe(false);
  expect(await hasTransactions(database, base, ALICE)).toBe(false);
});
