import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { createPartitions, explain, PLANS, rowsRead } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { addContract } from '../definitions/add-contract.ts';
import { creationsStatement } from './child-rows.ts';

const CHILDREN = 20_000;
/** The first child is created again so often. */
const AGAIN = 5_000;
const eth = createChainRegistry().get('eth');
const base = createChainRegistry().get('base');
const CREATIONS = { table: 'contracts.pools_created', column: 'child' };
const scratch = scratchOfFile({ autovacuum: false });

/** The first child has the number 1. */
const childOf = (number: number) => parseAddress(`0x${number.toString(16).padStart(40, '0')}`);

const seed = (from: number, to: number) =>
  scratch.database.query(
    sql`INSERT INTO ${rawSql(CREATIONS.table)} (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract, child)
     SELECT chain, number, 3, 7, now(), sha256(int4send(number)), '\\xfa', decode(lpad(to_hex(number), 40, '0'), 'hex')
     FROM generate_series(${from}::int, ${to}::int) AS number, unnest(${[eth.id, base.id]}::bigint[]) AS chain`,
  );

beforeAll(async () => {
  const { database } = scratch;
  for (const chain of [eth, base])
    await addContract(database, {
      ...{ name: 'pools', chain, addresses: [childOf(0xfa)], firstBlock: 1, events: null, indexed: [] },
      factory: { of: null, event: 'Created(address child)', child: 'child' },
      abi: [{ type: 'event', name: 'Used', inputs: [] }],
    });
  for (const { id } of [eth, base]) await createPartitions(database, CREATIONS.table, id);
  await seed(1, CHILDREN / 20);
  await database.query(sql`ANALYZE`);
  await seed(CHILDREN / 20 + 1, CHILDREN);
  await database.query(
    sql`INSERT INTO ${rawSql(CREATIONS.table)} (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract, child)
     SELECT ${eth.id}, ${CHILDREN} + number, 0, 0, now(), '\\xab', '\\xfa', decode(lpad('1', 40, '0'), 'hex') FROM generate_series(1, ${AGAIN}::int) AS number`,
  );
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each<[string, readonly number[], number]>([
    ['one child', [1_234], 1],
    ['a child that was created many times', [1], 1],
    ['an address that is no child', [CHILDREN + 1], 0],
    [
      'many addresses, some of them children',
      Array.from({ length: 500 }, (_, index) => CHILDREN - 199 + index),
      200,
    ],
  ])('%s takes an entry of the index each', async (_name, numbers, found) => {
    const statement = creationsStatement(eth, CREATIONS, numbers.map(childOf));
    const { nodes } = await explain(scratch.database, statement, plan);
    const scans = nodes.filter((node) => node['Relation Name'] === 'pools_created_1_minvalue');
    expect(scans.map((scan) => scan['Index Name'])).toEqual([
      expect.stringMatching(/^pools_created_1_minvalue_child_/),
    ]);
    expect(scans[0]?.['Index Cond']).toContain('child');
    expect(rowsRead(nodes, 'pools_created')).toBe(found);
  });

  test('the creations are the first ones of the chain', async () => {
    const rows = await scratch.database.query(
      creationsStatement(eth, CREATIONS, [1, 77, CHILDREN + 1].map(childOf)),
    );
    expect(rows).toEqual([
      { child: childOf(1), blockNumber: 1, transactionIndex: 3, logIndex: 7 },
      { child: childOf(77), blockNumber: 77, transactionIndex: 3, logIndex: 7 },
    ]);
  });
});
