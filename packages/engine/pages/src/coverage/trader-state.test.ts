import { silentLogger } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { addressOf, exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { requestTraderState } from './trader-state.ts';

const scratch = scratchOfFile();
const chain = exampleChain();
const onDemandBackfill = { requestTrader: async () => 'known' as const, retainedFrom: async () => 0 };

async function stateOf(number: number, columns: { status: string; code: string | null }) {
  const { database } = scratch;
  const account = addressOf(number);
  await database.query(
    sql`INSERT INTO backfill_requests (chain_id, kind, subject, status, error_code, error_message)
     VALUES (${chain.id}, 'trader', ${addressBytes(account)}, ${columns.status}, ${columns.code}, 'No node has the old state')`,
  );
  const indexed = { fromBlock: 50, toBlock: 100 };
  const context = { database, logger: silentLogger() };
  return requestTraderState(onDemandBackfill, context, chain, { account, requester: null, indexed });
}

test('a search for sent transactions that was refused names its reason', async () => {
  expect(await stateOf(1, { status: 'refused', code: 'SENT_UNKNOWN' })).toEqual({
    status: 'SYNCING',
    message: 'No node has the old state',
  });
});

test('a search that was refused before, and runs again, shows that the history is read', async () => {
  const { message } = await stateOf(2, { status: 'running', code: 'SENT_UNKNOWN' });
  expect(message).toBe('The history of this wallet is being read');
});
