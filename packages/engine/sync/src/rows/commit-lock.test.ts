import { createChainRegistry } from '@chainstead/chains';
import { addressBytes, sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { lockChainCommits, underCommitLock } from './commit-retry.ts';

const eth = createChainRegistry().get('eth');
const scratch = scratchOfFile();
const ADD_TOKEN = sql`INSERT INTO tokens (address, chain_id) VALUES (${addressBytes(addressOf(1))}, ${eth.id}) ON CONFLICT DO NOTHING`;

test('a transaction that loses a deadlock against a range is repeated', async () => {
  const { database } = scratch;
  const [inserted, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const range = database.transaction(async (transaction) => {
    // The other transaction is the one that Postgres aborts.
    await transaction.query(sql`SET LOCAL deadlock_timeout = '1h'`);
    await transaction.query(ADD_TOKEN);
    inserted.resolve();
    await locked.promise;
    await lockChainCommits(transaction, eth);
  });
  let runs = 0;
  const result = underCommitLock(database, eth, async (transaction) => {
    runs += 1;
    await inserted.promise;
    if (runs === 1) {
      locked.resolve();
      await expect.poll(() => waiting()).toBe(1);
    }
    await transaction.query(ADD_TOKEN);
    return 'saved';
  });
  expect([await result, await range, runs]).toEqual(['saved', undefined, 2]);
});

test('another error is not repeated', async () => {
  let runs = 0;
  const result = underCommitLock(scratch.database, eth, async () => {
    runs += 1;
    throw new Error('no deadlock');
  });
  await expect(result).rejects.toThrow('no deadlock');
  expect(runs).toBe(1);
});

/** Returns the number of statements that wait for a lock. */
async function waiting(): Promise<number> {
  const rows = await scratch.database.query(
    sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length;
}
