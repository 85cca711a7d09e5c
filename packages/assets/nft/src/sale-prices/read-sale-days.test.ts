import { createChainRegistry } from '@chainstead/chains';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { COLLECTION, seedTrades } from '../trades/testing/seeded-trades.ts';
import { readSaleDays } from './sale-prices-statement.ts';

const eth = createChainRegistry().get('eth');
const DAY_SECONDS = 86_400;
const now = Math.floor(Date.now() / 1_000);
const dayOf = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10);

const scratch = scratchOfFile();
beforeAll(async () => {
  const before = now - 2 * DAY_SECONDS;
  await seedTrades(scratch.database, eth, [
    { blockNumber: 1, timestamp: now - 40 * DAY_SECONDS, price: '9' },
    { blockNumber: 5, timestamp: before, price: '10' },
    { blockNumber: 6, timestamp: before, price: '31', paymentToken: eth.wrappedNative },
    { blockNumber: 7, timestamp: before, price: '5', paymentToken: addressOf(7) },
    { blockNumber: 9, timestamp: now, price: '100', tokenIds: ['2'] },
  ]);
});

test('a day tells its lowest, average and highest sale for ether, of a collection or of one token', async () => {
  const query = { token: COLLECTION, tokenId: null, days: 30 };
  const earlier = { day: dayOf(now - 2 * DAY_SECONDS), sales: 2, lowest: '10', average: '20', highest: '31' };
  const today = { day: dayOf(now), sales: 1, lowest: '100', average: '100', highest: '100' };
  expect(await readSaleDays(scratch.database, eth, query)).toEqual([earlier, today]);
  expect(await readSaleDays(scratch.database, eth, { ...query, tokenId: '1' })).toEqual([earlier]);
  expect(await readSaleDays(scratch.database, eth, { ...query, days: 60 })).toHaveLength(3);
  expect(await readSaleDays(scratch.database, eth, { ...query, token: addressOf(8) })).toEqual([]);
});
