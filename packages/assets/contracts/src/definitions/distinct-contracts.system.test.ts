/** Pairs of contracts whose names meet: nothing of the one is used by the other, or the second one is refused. */

import { createChainRegistry } from '@chainstead/chains';
import { parseAddress, parseChainId } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { createPartitions } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventTable } from '../tables/event-table.ts';
import { rowTableOf } from '../tables/row-table.ts';
import { addContract } from './add-contract.ts';
import { ContractRefusedError } from './contract-definition.ts';
import { removeContract } from './remove-contract.ts';
import { meetingContract } from './testing/meeting-contracts.ts';
import type { WantedContract } from './wanted-contract.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const ADDRESS = parseAddress(`0x${'c0'.repeat(20)}`);

const add = async ({ name, abi }: { readonly name: string; readonly abi: WantedContract['abi'] }) => {
  const wanted = { name, abi, chain, addresses: [ADDRESS], factory: null, firstBlock: null, events: null };
  const { tables } = await addContract(scratch.database, { ...wanted, indexed: [] });
  const indexed = [...new Set(tables.flatMap(({ parameters }) => parameters.map((column) => column.name)))];
  await addContract(scratch.database, { ...wanted, indexed });
  return tables;
};

/** Stores a row in each table, and returns the number of rows that each table and view then has. */
async function countOwnRows(tables: readonly EventTable[]): Promise<readonly (readonly [string, number])[]> {
  for (const table of tables) {
    const { name, columns, copyLine } = rowTableOf(table);
    const place = {
      chainId: 1,
      blockNumber: 1,
      transactionIndex: 0,
      logIndex: 0,
      blockTime: '2024-01-01T00:00:00Z',
    };
    const row = { ...place, transactionHash: `0x${'1f'.repeat(32)}`, contract: ADDRESS };
    const values = table.parameters.map(() => null);
    const line = copyLine({ ...row, values, undecoded: null });
    await createPartitions(scratch.database, name, parseChainId(1));
    await scratch.database.transaction((transaction) => transaction.copy(name, columns, [line]));
  }
  const counts = tables
    .flatMap(({ name, view }) => [name, view])
    .map((name) => `SELECT '${name}' AS name, count(*) AS rows FROM ${name}`);
  const rows = await scratch.database.query<{ name: string; rows: number }>(rawSql(counts.join(' UNION ALL ')));
  return rows.map((row) => [row.name, row.rows]);
}

/** Names of all relations of a table: the table, the key, the index on undecoded logs, and one for each parameter. */
async function relationsOf(tables: readonly EventTable[]): Promise<readonly string[]> {
  const rows = await scratch.database.query<{ name: string }>(
    sql`SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = ANY (${tables.map(({ name }) => name)}::regclass[])`,
  );
  return rows.map(({ name }) => name);
}

test('two contracts never share a table, view, index or column', async () => {
  const refusals: string[] = [];
  await fc.assert(
    fc.asyncProperty(meetingContract, meetingContract, async (first, second) => {
      fc.pre(first.name !== second.name);
      const own = await add(first);
      const others = await add(second).catch((error: unknown) => {
        if (!(error instanceof ContractRefusedError)) throw error;
        refusals.push(error.code);
        return [];
      });
      const all = [...own, ...others];
      const rows = await countOwnRows(all);
      expect(rows.filter(([, count]) => count !== 1)).toEqual([]);
      expect(new Set(rows.map(([name]) => name)).size).toBe(2 * all.length);
      const wanted = all.reduce((sum, { parameters }) => sum + parameters.length + 2, 0);
      expect(await relationsOf(all)).toHaveLength(wanted);
      await removeContract(scratch.database, first.name, chain.id);
      if (others.length === 0) return;
      await scratch.database.query(rawSql(others.map(({ name }) => `TABLE ${name}`).join('; ')));
      await removeContract(scratch.database, second.name, chain.id);
    }),
    { numRuns: 40 },
  );
  expect(refusals.filter((code) => code !== 'CONTRACT_TABLE_TAKEN')).toEqual([]);
});
