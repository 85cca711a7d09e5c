/** Contracts are changed while a commit has written rows to their tables and waits for the chain's commit lock. */

import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { lockChainCommits } from '@chainstead/sync/commit-lock';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { addContract } from './add-contract.ts';
import { removeContract } from './remove-contract.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const ADDRESS = parseAddress(`0x${'c0'.repeat(20)}`);
const event = (name: string) => ({ type: 'event', name, inputs: [{ name: 'value', type: 'uint256' }] });
const add = (abi: readonly object[], indexed: readonly string[]) =>
  addContract(scratch.database, {
    ...{ name: 'vault', chain, addresses: [ADDRESS], factory: null, firstBlock: 1, events: null },
    ...{ abi, indexed },
  });

/** Writes to the table of an event, then waits for the commit lock. @param until resolves when it shall */
function commit(until: () => Promise<unknown>): Promise<void> {
  return scratch.database.transaction(async (transaction) => {
    await transaction.query(sql`LOCK TABLE contracts.vault_moved IN ROW EXCLUSIVE MODE`);
    await until();
    await lockChainCommits(transaction, chain);
  });
}

test('another event does not wait for the commit', async () => {
  await add([event('Moved')], ['value']);
  await commit(async () => {
    const { tables } = await add([event('Moved'), event('Sent')], ['value']);
    expect(tables.map(({ name }) => name)).toEqual(['contracts.vault_moved', 'contracts.vault_sent']);
  });
});

test('a removal is repeated if Postgres ends it', async () => {
  await removeContract(scratch.database, 'vault', chain.id);
  await add([event('Moved'), event('Sent')], []);
  let removing: ReturnType<typeof removeContract> | null = null;
  // New partitions lock tables in another order.
  const locking = scratch.database.transaction(async (transaction) => {
    await transaction.query(sql`LOCK TABLE contracts.vault_sent IN SHARE UPDATE EXCLUSIVE MODE`);
    removing = removeContract(scratch.database, 'vault', chain.id);
    await expect.poll(() => scratch.database.query(sql`SELECT FROM pg_locks WHERE NOT granted`)).toHaveLength(1);
    await transaction.query(sql`LOCK TABLE contracts.vault_moved IN SHARE UPDATE EXCLUSIVE MODE`);
  });
  const [locked] = await Promise.allSettled([locking]);
  expect(await removing).toHaveLength(2);
  if (locked.status === 'rejected') expect(locked.reason).toMatchObject({ code: '40P01' });
  await add([event('Moved')], []);
});

test('another index waits, and is created whether or not Postgres ends the commit', async () => {
  await removeContract(scratch.database, 'vault', chain.id);
  await add([event('Moved')], []);
  let adding: ReturnType<typeof add> | null = null;
  const committing = commit(async () => {
    adding = add([event('Moved')], ['value']);
    await expect.poll(() => scratch.database.query(sql`SELECT FROM pg_locks WHERE NOT granted`)).toHaveLength(1);
  });
  const [committed] = await Promise.allSettled([committing]);
  await adding;
  if (committed.status === 'rejected') expect(committed.reason).toMatchObject({ code: '40P01' });
  const indexes = await scratch.database.query(sql`SELECT FROM pg_indexes WHERE indexname = 'vault_moved$value'`);
  expect(indexes).toHaveLength(1);
});
