import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createPartitions, explain, PLANS } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { addContract } from './add-contract.ts';
import { sizesStatement } from './suspend-contracts.ts';

const CONTRACTS = 20;
const ROWS = 5_000;
const eth = createChainRegistry().get('eth');
const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  const { database } = scratch;
  for (let number = 0; number < CONTRACTS; number++)
    await addContract(database, {
      ...{ name: `c${number}`, chain: eth, firstBlock: null, events: null, indexed: [], factory: null },
      addresses: [parseAddress(`0x${'11'.repeat(20)}`)],
      abi: [
        { type: 'event', name: 'Used', inputs: [] },
        { type: 'event', name: 'Gone', inputs: [] },
      ],
    });
  await createPartitions(database, 'contracts.c7_used', eth.id);
  await database.query(sql`ANALYZE`);
  await database.transaction(async (transaction) => {
    await transaction.query(
      sql`INSERT INTO contracts.c7_used (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract)
       SELECT ${eth.id}, number, 0, 0, now(), '\\xab', '\\xcd' FROM generate_series(1, ${ROWS}::int) AS number`,
    );
  });
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test('sizes read the definitions alone, and no row of a contract', async () => {
    const { nodes } = await explain(scratch.database, sizesStatement(eth), plan);
    const read = nodes.flatMap((node) => node['Relation Name'] ?? []);
    expect(new Set(read)).toEqual(new Set(['contract_definitions', 'pg_inherits']));
  });
});

test('sizes are the sums of the tables of a contract', async () => {
  const locked = sql`SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'contracts.c7_used_1_minvalue'::regclass`;
  const rows = await scratch.database.transaction(async (transaction) => {
    const sizes = await transaction.query<{ name: string; bytes: number }>(sizesStatement(eth));
    expect(await transaction.query(locked)).toEqual([]);
    return sizes;
  });
  expect(rows).toHaveLength(CONTRACTS);
  const [row] = await scratch.database.query<{ bytes: number }>(
    sql`SELECT pg_total_relation_size('contracts.c7_used_1_minvalue')::bigint AS bytes`,
  );
  expect(rows.find(({ name }) => name === 'c7')).toEqual({ name: 'c7', isSuspended: false, bytes: row?.bytes });
});
