/** Contracts are changed while a commit has written rows to their tables and waits for the chain's commit lock. */

import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { rawSql, sql, type Transaction } from '@chainstead/db';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import { ensurePartitions } from '@chainstead/sync/ingest';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { addContract } from './add-contract.ts';
import { readDefinitions } from './contract-definition.ts';
import { removeContract } from './remove-contract.ts';
import { dropRemovedTables } from './removed-tables.ts';

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
function commitRow(until: () => Promise<unknown>): Promise<void> {
  return scratch.database.transaction(async (transaction) => {
    await transaction.query(sql`LOCK TABLE contracts.vault_moved IN ROW EXCLUSIVE MODE`);
    await until();
    await lockChainCommits(transaction, chain);
  });
}

/** A block without rows of the contract. */
function commitBlock(): Promise<void> {
  return scratch.database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
  });
}

/** As an analyst whose transaction stays open. */
function reading(work: (reader: Transaction) => Promise<void>): Promise<void> {
  return scratch.database.transaction(async (reader) => {
    for (const table of ['contracts.vault_moved', 'analytics.contract_vault_moved'])
      await reader.query(sql`SELECT count(*) FROM ${rawSql(table)}`);
    if ((await readDefinitions(reader))[0]?.tables.length === 2)
      await reader.query(sql`SELECT count(*) FROM contracts.vault_sent`);
    await work(reader);
  });
}

test('another event does not wait for the commit', async () => {
  await add([event('Moved')], ['value']);
  await commitRow(async () => {
    const { tables } = await add([event('Moved'), event('Sent')], ['value']);
    expect(tables.map(({ name }) => name)).toEqual(['contracts.vault_moved', 'contracts.vault_sent']);
  });
  await removeContract(scratch.database, 'vault', chain.id);
});

// Invariant: DB-SHORT-LOCKS
test('commits go on while a reader holds the tables of a contract that is removed', async () => {
  await add([event('Moved'), event('Sent')], ['value']);
  await reading(async () => {
    let isOver = false;
    const removal = removeContract(scratch.database, 'vault', chain.id).finally(() => {
      isOver = true;
    });
    let commits = 0;
    while (!isOver) {
      await commitBlock();
      commits += 1;
    }
    expect(commits).toBeGreaterThan(10);
    expect(await removal).toEqual({ dropped: [], held: ['contracts.vault_moved', 'contracts.vault_sent'] });
    expect(await readDefinitions(scratch.database)).toEqual([]);
    // Its rows would meet those of another contract of this name.
    await expect(add([event('Moved')], [])).rejects.toMatchObject({ code: 'CONTRACT_TABLE_HELD' });
    await commitBlock();
  });
  // As the running program does, also for a command that was killed.
  expect(await dropRemovedTables(scratch.database, null, 1)).toEqual([]);
  const left = await scratch.database.query(
    sql`SELECT relname FROM pg_class WHERE relname ~ '^(contract_)?vault_'`,
  );
  expect(left).toEqual([]);
});

test('a table whose rows an operator’s view reads is dropped with the contract once the view is gone', async () => {
  await add([event('Moved')], []);
  await scratch.database.query(sql`CREATE VIEW moves AS SELECT count(*) FROM contracts.vault_moved`);
  expect(await removeContract(scratch.database, 'vault', chain.id)).toMatchObject({
    held: ['contracts.vault_moved'],
  });
  await scratch.database.query(sql`DROP VIEW moves`);
  await add([event('Moved')], []);
  const views = await scratch.database.query(sql`SELECT FROM pg_views WHERE viewname = 'contract_vault_moved'`);
  expect(views).toHaveLength(1);
});

test('commits go on while a reader and a writer hold the tables of a contract that grows', async () => {
  const blocks = [{ from: 5, to: 5 }];
  const table = { name: 'contracts.vault_moved', rowsPerPartition: 1_000 };
  await ensurePartitions(scratch.database, chain.id, blocks, [{ table, density: null }]);
  let adding: ReturnType<typeof add> | null = null;
  await reading(async (reader) => {
    await scratch.database.transaction(async (writer) => {
      await writer.query(sql`LOCK TABLE contracts.vault_moved IN ROW EXCLUSIVE MODE`);
      adding = add([event('Moved'), event('Sent')], ['value']);
      await expect.poll(() => readDefinitions(scratch.database)).toMatchObject([{ tables: [{}, {}] }]);
      for (let made = 0; made < 10; made++) await commitBlock();
    });
    for (let made = 0; made < 10; made++) await commitBlock();
    await reader.query(sql`SELECT count(*) FROM analytics.contract_vault_moved`);
  });
  await adding;
  const indexes = await scratch.database.query(
    sql`SELECT indisvalid AS valid, indrelid::regclass::text AS table FROM pg_index
      WHERE pg_get_indexdef(indexrelid) LIKE '%(value, chain_id%' ORDER BY indrelid::regclass::text COLLATE "C"`,
  );
  expect(indexes).toEqual([
    { valid: true, table: 'contracts."vault_moved$1_0"' },
    { valid: true, table: 'contracts.vault_moved' },
    { valid: true, table: 'contracts.vault_sent' },
  ]);
});
