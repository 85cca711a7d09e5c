import { type Hash, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { address } from '@chainstead/db/column-types';
import { type Dataset, defineTable } from '@chainstead/sync/datasets';
import { addressOf, createScratchDatabase, exampleChain, hashOf } from '@chainstead/testkit';
import { bigint, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import { expect, onTestFinished, test } from 'vitest';
import { createOnDemandBackfill } from './on-demand-backfill.ts';

const chain = exampleChain();
const moves: Dataset = {
  name: 'moves',
  topics: () => [hashOf(1, 1) as Hash],
  table: defineTable(
    pgTable(
      'moves',
      {
        account: address('account').notNull(),
        chainId: bigint('chain_id', { mode: 'number' }).notNull(),
        blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
      },
      (columns) => [primaryKey({ columns: [columns.account, columns.chainId, columns.blockNumber] })],
    ),
  ),
  decode: () => [],
  histories: { ofWallet: () => [], ofContract: () => [], ofEmitter: () => [{ topics: [] }] },
};

/** Histories that no worker reads. */
async function openHistories(maxCalls: number) {
  const scratch = await createScratchDatabase();
  const logger = silentLogger();
  onTestFinished(() => scratch.drop());
  const histories = createOnDemandBackfill({ datasets: [moves], perKey: 2, chains: [chain], maxCalls });
  return { histories, context: { database: scratch.database, logger } };
}

test('starts the history of a contract and of a wallet at the first request, and at most so many of a key', async () => {
  const { histories, context } = await openHistories(1);
  const ask = (place: number) => histories.requestContract(context, chain, addressOf(place), 'ann');
  expect([await ask(1), await ask(1)]).toEqual(['requested', 'known']);
  expect(await histories.requestWallet(context, chain, addressOf(2), 'ann')).toBe('requested');
  expect([await ask(3), await ask(3)]).toEqual(['full', 'full']);
  expect(await histories.requestContract(context, chain, addressOf(3), 'bob')).toBe('requested');
});

test('starts nothing where node calls on demand are turned off', async () => {
  const { histories, context } = await openHistories(0);
  const outcomes = [
    await histories.requestWallet(context, chain, addressOf(1), null),
    await histories.requestContract(context, chain, addressOf(1), null),
    await histories.requestSender(context, chain, addressOf(1), null),
    await histories.requestReceiver(context, chain, addressOf(1), null),
    await histories.requestEmitter(context, chain, addressOf(1), null),
    await histories.requestTrader(context, chain, addressOf(1), null),
  ];
  expect(new Set(outcomes)).toEqual(new Set(['off']));
});

test('starts no history of a trader where no dataset is decoded from transactions', async () => {
  const { histories, context } = await openHistories(1);
  expect(await histories.requestTrader(context, chain, addressOf(1), null)).toBe('unserved');
});

test('retains all blocks, or those of the retention of the chain', async () => {
  const { histories, context } = await openHistories(1);
  await context.database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (${chain.id}, 0, 10000)`,
  );
  expect(await histories.retainedFrom(context, chain)).toBe(0);
  const retention = { blocks: 1_000, since: null };
  const options = { datasets: [moves], perKey: 2, chains: [chain], maxCalls: 1 };
  const shorter = createOnDemandBackfill({
    ...options,
    retentionOf: ({ id }) => (id === chain.id ? retention : undefined),
  });
  expect(await shorter.retainedFrom(context, chain)).toBe(9_000);
});
