import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { createPartitions, explain, PLANS, rowsRead } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { addContract } from '../definitions/add-contract.ts';
import { upgradesStatement } from './form-rows.ts';

const UPGRADES = 20_000;
const IMPLEMENTATIONS = 200;
const eth = createChainRegistry().get('eth');
const ROWS = { table: 'contracts.vault_upgraded', column: 'implementation' };
const scratch = scratchOfFile({ autovacuum: false });
const addressOf = (number: number) => parseAddress(`0x${number.toString(16).padStart(40, '0')}`);

/** The proxies 0 to 99, one after the other, take the implementations 0 to 199. */
const seed = (from: number, to: number) =>
  scratch.database.query(
    sql`INSERT INTO ${rawSql(ROWS.table)} (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract, implementation)
     SELECT ${eth.id}, number, 3, 7, now(), sha256(int4send(number)), decode(lpad(to_hex(number % 100), 40, '0'), 'hex'),
       decode(lpad(to_hex(number / 100), 40, '0'), 'hex') FROM generate_series(${from}::int, ${to}::int) AS number`,
  );

beforeAll(async () => {
  const { database } = scratch;
  const event = (indexed: 'from' | 'to') => ({
    ...{ type: 'event', name: 'Sent' },
    inputs: ['from', 'to'].map((name) => ({ name, type: 'address', indexed: name === indexed })),
  });
  for (const [indexed, implementation] of [['from', null] as const, ['to', addressOf(1)] as const])
    await addContract(database, {
      ...{ name: 'vault', chain: eth, addresses: [addressOf(0xfa)], firstBlock: 1, events: null, indexed: [] },
      ...{ factory: null, abi: [event(indexed)], implementation },
    });
  await createPartitions(database, ROWS.table, eth.id);
  await seed(0, UPGRADES / 20 - 1);
  await database.query(sql`ANALYZE`);
  await seed(UPGRADES / 20, UPGRADES - 1);
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test('reads the upgrades to the implementations alone', async () => {
    const implementations = [1, 77, IMPLEMENTATIONS + 1].map(addressOf);
    const statement = upgradesStatement(eth, ROWS, { implementations, emitters: [addressOf(5)], to: UPGRADES });
    const { nodes } = await explain(scratch.database, statement, plan);
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    // Directly, or by a bitmap.
    expect(nodes.flatMap((node) => node['Index Name'] ?? [])).toEqual([
      expect.stringMatching(/^vault_upgraded_1_minvalue_implementation_/),
    ]);
    // Each implementation has those of 100 proxies. Averages of loops are rounded.
    expect(Math.round(rowsRead(nodes, 'vault_upgraded'))).toBeLessThanOrEqual(200);
    expect(await scratch.database.query(statement)).toEqual([
      { proxy: addressOf(5), implementation: addressOf(1), block: 105, log: 7 },
      { proxy: addressOf(5), implementation: addressOf(77), block: 7_705, log: 7 },
    ]);
  });
});
