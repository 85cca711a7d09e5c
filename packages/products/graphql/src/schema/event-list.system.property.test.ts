/** Pages of events with random conditions, orders and sizes, compared with the same rows filtered and sorted in memory. */

import { createChainRegistry } from '@chainstead/chains';
import { parseChainId, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createPartitions } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { checkOperation, parseOperation } from '../operations/operation.ts';
import { runQuery } from '../operations/run-query.ts';
import { inSnapshot } from '../reading/reader.ts';
import { addEvents, VAULT } from '../testing/seeded-vault.ts';
import { type BuiltSchema, buildSchema } from './schemas.ts';

const scratch = scratchOfFile();
const LIMITS = { timeoutMs: 60_000, bytesMax: 1_000_000_000, logger: silentLogger() };
/** Columns with the names of arguments and operators. */
const EVENT = {
  type: 'event',
  name: 'Moved',
  inputs: [
    { name: 'owner', type: 'address', indexed: true },
    { name: 'assets', type: 'uint256' },
    { name: 'assets_gte', type: 'int256' },
    { name: 'range', type: 'uint256' },
    { name: 'isFirst', type: 'bool' },
    { name: 'note', type: 'string' },
  ],
};
const LARGE = 2n ** 255n;

interface Row {
  readonly chain_id: bigint;
  readonly block_number: bigint;
  readonly transaction_index: bigint;
  readonly log_index: bigint;
  readonly block_time: string;
  readonly owner: string | null;
  readonly assets: bigint | null;
  readonly assets_gte: bigint | null;
  readonly range: bigint | null;
  readonly is_first: boolean | null;
  readonly note: string | null;
}
type Column = Exclude<keyof Row, 'chain_id'>;

/** Few values, so that many rows are equal. */
const VALUES: { readonly [Name in Column]: readonly NonNullable<Row[Name]>[] } = {
  block_number: [5n, 6n, 7n, 8n, 9n, 12n, 20n],
  transaction_index: [0n, 1n],
  log_index: [0n, 1n, 2n],
  block_time: [5, 6, 7, 8, 9, 12, 20].map(timeOf),
  owner: ['01', '02', '03', 'ff'].map((byte) => `0x${byte.repeat(20)}`),
  assets: [0n, 1n, 9n, 10n, LARGE, LARGE + 1n],
  assets_gte: [-LARGE, -10n, -9n, 0n, 3n],
  range: [0n, 1n, 2n, 100n],
  is_first: [false, true],
  note: ['a', 'ab', 'b', 'zz'],
};
/** Several blocks have one time. */
function timeOf(block: number): string {
  return new Date(1_600_000_000_000 + Math.floor(block / 2) * 12_000).toISOString();
}

const someOf = <Name extends Column>(name: Name) => fc.constantFrom(...VALUES[name]) as fc.Arbitrary<never>;
const decoded = fc.record({
  ...{ owner: someOf('owner'), assets: someOf('assets'), assets_gte: someOf('assets_gte') },
  ...{ range: someOf('range'), is_first: someOf('is_first'), note: someOf('note') },
});
const undecoded = fc.constant({
  owner: null,
  assets: null,
  assets_gte: null,
  range: null,
  is_first: null,
  note: null,
});
const row: fc.Arbitrary<Row> = fc
  .tuple(
    fc.record({
      chain_id: fc.constantFrom(1n, 1n, 10n),
      block_number: someOf('block_number') as fc.Arbitrary<bigint>,
      transaction_index: someOf('transaction_index') as fc.Arbitrary<bigint>,
      log_index: someOf('log_index') as fc.Arbitrary<bigint>,
    }),
    fc.oneof({ weight: 4, arbitrary: decoded }, { weight: 1, arbitrary: undecoded }),
  )
  .map(([place, values]) => ({ ...place, ...values, block_time: timeOf(Number(place.block_number)) }));

const COLUMNS = Object.keys(VALUES) as Column[];
const RANGED = [
  'block_number',
  'transaction_index',
  'log_index',
  'block_time',
  'assets',
  'assets_gte',
  'range',
] as const;
const OPERATORS = ['gte', 'gt', 'lte', 'lt'] as const;

const few = <T>(arbitrary: fc.Arbitrary<T>, maxLength = 2) => fc.array(arbitrary, { maxLength });
const columnValue = fc.constantFrom(...COLUMNS).chain((column) => fc.tuple(fc.constant(column), someOf(column)));
const columnValues = fc
  .constantFrom(...COLUMNS)
  .chain((column) => fc.tuple(fc.constant(column), fc.array(someOf(column), { maxLength: 4 })));
const bound = fc
  .constantFrom(...RANGED)
  .chain((column) => fc.tuple(fc.constant(column), fc.constantFrom(...OPERATORS), someOf(column)));
const block = fc.option(fc.constantFrom(0n, 6n, 9n, 20n), { nil: null });

const request = fc.record({
  where: few(columnValue, 1),
  lists: few(columnValues, 1),
  range: few(bound),
  fromBlock: block,
  toBlock: block,
  orderBy: fc.option(fc.constantFrom(...COLUMNS), { nil: null }),
  order: fc.constantFrom('ASC' as const, 'DESC' as const),
  first: fc.constantFrom(1, 2, 3, 7, 50),
  /** Rows that a list may read. */
  rowsMax: fc.constantFrom(3, 10, 1_000),
});
type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

const schemas = new Map<number, BuiltSchema>();

beforeAll(async () => {
  await addEvents(scratch.database, 'vault', [EVENT], ['owner', 'assets', 'assets_gte']);
  for (const chainId of [1, 10])
    await createPartitions(scratch.database, 'contracts.vault_moved', parseChainId(chainId));
  const [table] = await scratch.database.query<{ oid: string }>(
    sql`SELECT 'contracts.vault_moved'::regclass::oid::text AS oid`,
  );
  for (const rowsMax of [3, 10, 1_000])
    schemas.set(
      rowsMax,
      await inSnapshot(await scratch.database.pool.connect(), LIMITS, (withClient) =>
        buildSchema(withClient, [table?.oid ?? ''], createChainRegistry(), rowsMax),
      ),
    );
});

async function write(rows: readonly Row[]): Promise<void> {
  await scratch.database.query(sql`TRUNCATE contracts.vault_moved`);
  await scratch.database.query(
    sql`INSERT INTO contracts.vault_moved (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract,
       owner, assets, assets_gte, range, is_first, note, undecoded)
     SELECT chain_id, block_number, transaction_index, log_index, block_time, '\\x01', ${bytes(VAULT)}, decode(substr(owner, 3), 'hex'), assets, assets_gte,
       range, is_first, note, CASE WHEN owner IS NULL THEN '\\x01'::bytea END
     FROM jsonb_to_recordset(${JSON.stringify(rows, (_name, value) => (typeof value === 'bigint' ? String(value) : value))}) AS row (chain_id bigint, block_number bigint, transaction_index int, log_index int, block_time timestamptz,
       owner text, assets numeric, assets_gte numeric, range numeric, is_first boolean, note text)`,
  );
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

/** Numbers of 32 bits are no texts. */
function literal(column: Column, value: unknown): string {
  return column === 'transaction_index' || column === 'log_index' || typeof value === 'boolean'
    ? String(value)
    : JSON.stringify(String(value));
}

function argumentsOf({ where, lists, range, fromBlock, toBlock, orderBy, order, first }: Request): string {
  const bounds = Map.groupBy(range, ([column]) => column);
  const members = [...bounds].map(([column, all]) => {
    const operators = new Map(all.map(([, operator, value]) => [operator, value]));
    return `${column}: { ${[...operators].map(([operator, value]) => `${operator}: ${literal(column, value)}`).join(', ')} }`;
  });
  return [
    'chain: "eth"',
    ...where.map(([column, value]) => `where: { ${column}: ${literal(column, value)} }`),
    ...lists.map(
      ([column, values]) => `in: { ${column}: [${values.map((value) => literal(column, value)).join(', ')}] }`,
    ),
    ...(members.length === 0 ? [] : [`range: { ${members.join(', ')} }`]),
    ...(fromBlock === null ? [] : [`from_block: "${fromBlock}"`]),
    ...(toBlock === null ? [] : [`to_block: "${toBlock}"`]),
    ...(orderBy === null ? [] : [`orderBy: ${orderBy}`]),
    `order: ${order}, first: ${first}`,
  ].join(', ');
}

function compare(one: unknown, other: unknown): number {
  if (one === other) return 0;
  return (one as bigint) < (other as bigint) ? -1 : 1;
}

function matches(found: Row, { where, lists, range, fromBlock, toBlock }: Request): boolean {
  // The last of two equal bounds is sent.
  const bounds = new Map(range.map((one) => [`${one[0]} ${one[1]}`, one]));
  return (
    found.chain_id === 1n &&
    (fromBlock === null || found.block_number >= fromBlock) &&
    (toBlock === null || found.block_number <= toBlock) &&
    where.every(([column, value]) => found[column] === value) &&
    lists.every(([column, values]) => (values as readonly unknown[]).includes(found[column])) &&
    [...bounds.values()].every(([column, operator, value]) => {
      if (found[column] === null) return false;
      const order = compare(found[column], value);
      return { gte: order >= 0, gt: order > 0, lte: order <= 0, lt: order < 0 }[operator];
    })
  );
}

const PLACE = ['block_number', 'transaction_index', 'log_index'] as const;

function expectedRows(rows: readonly Row[], wanted: Request): readonly string[] {
  const { orderBy, order } = wanted;
  const sign = order === 'ASC' ? 1 : -1;
  return rows
    .filter((one) => matches(one, wanted))
    .toSorted((one, other) => {
      if (orderBy !== null && (one[orderBy] === null) !== (other[orderBy] === null))
        return one[orderBy] === null ? 1 : -1;
      for (const column of [...(orderBy === null ? [] : [orderBy]), ...PLACE]) {
        const difference = compare(one[column], other[column]);
        if (difference !== 0) return sign * difference;
      }
      return 0;
    })
    .map(placeOf);
}

function placeOf(found: Readonly<Record<(typeof PLACE)[number], unknown>>): string {
  return PLACE.map((column) => String(found[column])).join('/');
}

interface Page {
  readonly nodes: readonly Readonly<Record<(typeof PLACE)[number], unknown>>[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly totalCount: { readonly count: number; readonly isExact: boolean };
}

/** Returns a page; or the code of its error. */
async function readPage(wanted: Request, after: string | null): Promise<Page | string> {
  const built = schemas.get(wanted.rowsMax);
  if (built === undefined) throw new RangeError('There is no schema');
  const query = `query ($after: Cursor) { page: contracts_vault_moved(after: $after, ${argumentsOf(wanted)}) {
    nodes { block_number transaction_index log_index } pageInfo { hasNextPage endCursor } totalCount { count isExact } } }`;
  const { document } = checkOperation(built.schema, parseOperation({ query, variables: { after } }));
  const { data, errors } = await inSnapshot(await scratch.database.pool.connect(), LIMITS, (withClient) =>
    runQuery(built, { document, operationName: null, variables: { after } }, withClient, silentLogger()),
  );
  return errors?.[0]?.extensions.code ?? (data?.page as Page);
}

test('pages have each row that matches once and in order, or are refused because more rows are read than allowed', async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(row, { maxLength: 40, size: 'max', selector: (one) => `${one.chain_id}/${placeOf(one)}` }),
      fc.array(request, { minLength: 12, maxLength: 12 }),
      async (rows, requests) => {
        await write(rows);
        for (const wanted of requests) {
          const expected = expectedRows(rows, wanted);
          const seen: string[] = [];
          for (let after: string | null = null; ; ) {
            const page = await readPage(wanted, after);
            if (typeof page === 'string') {
              expect([page, rows.length > wanted.rowsMax]).toEqual(['GRAPHQL_TOO_COMPLEX', true]);
              refused++;
              break;
            }
            seen.push(...page.nodes.map(placeOf));
            expect(seen).toEqual(expected.slice(0, seen.length));
            if (page.totalCount.isExact) expect(page.totalCount.count).toBe(expected.length);
            else
              expect([page.totalCount.count <= expected.length, rows.length > wanted.rowsMax]).toEqual([
                true,
                true,
              ]);
            expect(page.pageInfo.hasNextPage).toBe(seen.length < expected.length);
            if (!page.pageInfo.hasNextPage) break;
            expect(page.nodes.length).toBe(wanted.first);
            after = page.pageInfo.endCursor;
          }
        }
      },
    ),
    { numRuns: 30 },
  );
  expect(refused).toBeGreaterThan(0);
});
