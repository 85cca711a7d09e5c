import { parseChainId } from '@chainstead/core';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { createPartitions, explain, PLANS, rowsRead, rowsScanned } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { readDefinitions } from '../definitions/contract-definition.ts';
import type { EventTable } from '../tables/event-table.ts';
import type { ColumnFilter, EventFilters } from './event-filters.ts';
import { type EventsQuery, eventsPage } from './events-page.ts';
import { depositRow, ETH, OWNER, seedContract, seedRows } from './testing/seeded-contract.ts';

// The first half of the rows is of one account, the others of 300.
const ROWS = 20_000;
const LIMIT = 50;
const OTHER = `0x${'00'.repeat(19)}07`;
const CUT = 2_000;
const PARTITION = /^vault_deposit_1_(minvalue|2000)/;
const PART = /^vault_\w+_1_(minvalue|2000)$/;
const OTHER_CHAIN = 8453;
const scratch = scratchOfFile({ autovacuum: false });
let table: EventTable;
let tables: readonly EventTable[];

beforeAll(async () => {
  table = await seedContract(scratch.database);
  await createPartitions(scratch.database, table.name, ETH.id, [CUT]);
  await createPartitions(scratch.database, table.name, parseChainId(OTHER_CHAIN));
  await seedRows(scratch.database, table, [depositRow({ block: 6 })]);
  await scratch.database.query(sql`ANALYZE`);
  await scratch.database.query(
    sql`INSERT INTO contracts.vault_deposit (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract,
       owner, from_, label, assets, delta, is_first, id, payload, note, kind, parts, position)
     SELECT 1, 7 + n / 4, 2, n % 4, now(), transaction_hash, contract,
       CASE WHEN n < ${ROWS} / 2 THEN owner ELSE decode(lpad(to_hex(n % 300), 40, '0'), 'hex') END,
       from_, label, n % 100, n, n % 2 = 0, id, payload, note, kind, parts, position
     FROM contracts.vault_deposit CROSS JOIN generate_series(0, ${ROWS}::int - 1) AS n`,
  );
  await scratch.database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) SELECT 1, n, sha256(int4send(n)), to_timestamp(1600000000 + 12 * n)
     FROM generate_series(7, 6 + ${ROWS}::int / 4) AS n`,
  );
  tables = (await readDefinitions(scratch.database, 'vault')).flatMap((definition) => definition.tables);
  await createPartitions(scratch.database, 'contracts.vault_price', ETH.id, [CUT]);
  await scratch.database.query(
    sql`INSERT INTO contracts.vault_price (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract)
     SELECT chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract FROM contracts.vault_deposit`,
  );
});

const QUERY: EventsQuery = {
  ...{ leading: null, filters: [] },
  ...{ order: 'DESC', limit: LIMIT, after: null },
  ...{ fromBlock: null, toBlock: null, fromDate: null, toDate: null, pinnedBlock: null },
};

function columnOf(name: string): ColumnFilter['column'] {
  const column = table.parameters.find((one) => one.name === name);
  if (column === undefined) throw new RangeError(`No column ${name}`);
  return column;
}

function withValue(name: string, value: ColumnFilter['value']): EventFilters {
  const filter = { column: columnOf(name), operator: '=', value } as const;
  return { leading: filter, filters: [filter] };
}

function withRange(
  name: string,
  ...bounds: readonly (readonly [ColumnFilter['operator'], string])[]
): EventFilters {
  const column = columnOf(name);
  return {
    leading: { column, value: null },
    filters: bounds.map(([operator, value]) => ({ column, operator, value })),
  };
}

const place = { transaction_index: 2, log_index: 1, value: null };
const ofOwner = () => withValue('owner', hexBytes(OWNER));
const ofOther = () => withValue('owner', hexBytes(OTHER));

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test.each<[string, string, () => Partial<EventsQuery>]>([
    ['the first page of all', 'pkey', () => ({})],
    ['the oldest page of all', 'pkey', () => ({ order: 'ASC' })],
    [
      'a page in the middle of all',
      'pkey',
      () => ({ after: { block_number: 2_000, ...place }, pinnedBlock: 4_000 }),
    ],
    ['blocks', 'pkey', () => ({ fromBlock: 1_000, toBlock: 3_000 })],
    // Newer rows are of others.
    ['an account with many rows', 'owner', () => ofOwner()],
    ['its oldest rows', 'owner', () => ({ ...ofOwner(), order: 'ASC' })],
    [
      'its rows in the middle',
      'owner',
      () => ({ ...ofOwner(), after: { block_number: 1_000, ...place }, pinnedBlock: 4_000 }),
    ],
    ['its rows within blocks', 'owner', () => ({ ...ofOwner(), fromBlock: 500, toBlock: 1_000 })],
    ['an account with few rows', 'owner', () => ofOther()],
    ['an account without rows', 'owner', () => withValue('owner', Buffer.alloc(20, 0xee))],
    ['a number', 'assets', () => withValue('assets', '77')],
    ['a boolean', 'is_first', () => withValue('is_first', true)],
    ['a lower bound', 'assets', () => withRange('assets', ['>=', '50'])],
    ['a lower bound, smallest first', 'assets', () => ({ ...withRange('assets', ['>=', '50']), order: 'ASC' })],
    ['an upper bound', 'assets', () => withRange('assets', ['<', '50'])],
    ['both bounds', 'assets', () => withRange('assets', ['>', '40'], ['<=', '50'])],
    [
      'a page among rows with the same value',
      'assets',
      () => ({
        ...withRange('assets', ['>=', '50']),
        after: { block_number: 2_500, ...place, value: '60' },
        pinnedBlock: 4_000,
      }),
    ],
  ])('%s is an index range that stops after a page', async (_name, index, query) => {
    const requested = { ...QUERY, ...query() };
    const statement = eventsPage(ETH, table, requested, LIMIT + 1).statement();
    const { nodes } = await explain(scratch.database, statement, plan);
    const scans = nodes.filter((node) => PARTITION.test(node['Relation Name'] ?? '') && node['Actual Loops'] > 0);
    expect(scans.length).toBeGreaterThan(0);
    // The newest block is read from the primary key, for the first page.
    const names = scans.map((scan) =>
      scan['Index Name']
        ?.replace(PARTITION, '')
        .replace(/^_/, '')
        .replace(/_chain_id.*/, ''),
    );
    expect(new Set(names)).toEqual(new Set(requested.pinnedBlock === null ? ['pkey', index] : [index]));
    // A page with fewer rows reads its range twice: once more for its end.
    expect(rowsRead(nodes, 'vault_deposit')).toBeLessThanOrEqual(2 * (LIMIT + 2));
  });

  const [old, young] = ['vault_deposit_1_minvalue', `vault_deposit_1_${CUT}`];
  test.each<[string, readonly string[], () => Partial<EventsQuery>]>([
    ['all', [old, young], () => ({})],
    ['blocks below a cut', [old], () => ({ toBlock: CUT - 1 })],
    ['blocks from a cut', [young], () => ({ fromBlock: CUT })],
    ['a value', [old, young], () => ofOwner()],
    ['a range of values', [old, young], () => withRange('assets', ['>=', '50'])],
  ])('%s: partitions of other chains and blocks are not in the plan', async (_name, partitions, query) => {
    // Without a pinned block, the newest one is read too.
    const requested = { ...QUERY, pinnedBlock: 5_000, ...query() };
    const statement = eventsPage(ETH, table, requested, LIMIT + 1).statement();
    const { nodes } = await explain(scratch.database, statement, plan);
    const planned = nodes.flatMap((node) => node['Relation Name'] ?? []);
    expect(new Set(planned.filter((name) => name.startsWith('vault_deposit')))).toEqual(new Set(partitions));
  });
});

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));
  const scansOf = async (of: EventTable, query: Partial<EventsQuery>) => {
    const statement = eventsPage(ETH, of, { ...QUERY, pinnedBlock: 5_000, ...query }, LIMIT + 1).statement();
    const { nodes } = await explain(scratch.database, statement, plan);
    return nodes.filter((node) => node['Actual Loops'] > 0 && PART.test(node['Relation Name'] ?? ''));
  };

  test.each(['deposit', 'price'])(
    'the newest rows of %s, with and without indexes, begin no older partition',
    async (event) => {
      const of = tables.find((one) => one.event === event);
      if (of === undefined) throw new RangeError(`No table of ${event}`);
      const scans = await scansOf(of, {});
      expect(new Set(scans.map((scan) => scan['Relation Name']))).toEqual(new Set([`vault_${event}_1_${CUT}`]));
      expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * (LIMIT + 2));
    },
  );

  test.each<[string, string, () => Partial<EventsQuery>]>([
    ['below', `vault_deposit_1_${CUT}`, () => ({ ...ofOwner(), toBlock: CUT - 1 })],
    ['from', 'vault_deposit_1_minvalue', () => ({ ...ofOwner(), fromBlock: CUT })],
  ])(
    'a value in blocks %s a cut: the partition of other blocks is an empty index range',
    async (_name, other, query) => {
      const scans = await scansOf(table, query());
      const others = scans.filter((scan) => scan['Relation Name'] === other);
      expect(rowsScanned(others)).toBe(0);
      expect(others.every((scan) => scan['Index Name']?.includes('_owner_') === true)).toBe(true);
      expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * (LIMIT + 2));
    },
  );
});

test('a condition on the bytes of a parameter in the view is an index range', async () => {
  await scratch.database.query(sql`ANALYZE contracts.vault_deposit`);
  const lines = await scratch.database.query<{ 'QUERY PLAN': string }>(
    sql`EXPLAIN SELECT assets FROM ${rawSql(table.view)} WHERE chain_id = 1 AND owner_bytes = analytics.bytes('${rawSql(OTHER)}')`,
  );
  expect(lines.map((line) => line['QUERY PLAN']).join('\n')).toContain('vault_deposit_1_minvalue_owner_');
});
