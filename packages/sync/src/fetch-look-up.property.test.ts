/** What is looked up for many at once is what is looked up for each by itself: on one server, and on a real cluster where this machine's Postgres has Citus. */
import type { Database, Transaction } from '@chainstead/db';
import { atDepth, createScratchDatabase, findCitus, type ScratchDatabase } from '@chainstead/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { columnsOf, defineLookUp } from './look-up.ts';
import { type Reading, runDerived } from './reading.ts';

const programs = await findCitus('looking rows up in shards');

interface Move {
  readonly owner: string;
  readonly kind: number;
  readonly at: number;
  readonly amount: bigint;
}

/** Keys are texts that a list, a statement or a pattern could stumble over. */
const owners = fc.oneof(
  fc.constantFrom("it's", '"', '\\', '{a,b}', 'NULL', '', "');--", '$1', '$&'),
  fc.string({ unit: 'grapheme-ascii', maxLength: 3 }),
);
const kinds = fc.nat(2);
const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({ owner: owners, kind: kinds, at: fc.nat(20), amount: fc.bigInt({ min: 0n, max: 2n ** 100n }) }),
  { maxLength: 30 },
);
const asked = fc.uniqueArray(fc.tuple(owners, kinds), { selector: String, maxLength: 30 });

/** Of each owner and kind that is asked about: the newest move; how many there are; and how many of the kind anybody made then. */
function statements(reading: Reading): readonly string[] {
  const wanted = 'SELECT owner, kind FROM asked_about';
  const by = { owner: 'text', kind: 'integer' };
  const place = {
    table: 'looked_up',
    type: 'bigint',
    key: (at: Readonly<Record<'owner', string>>) => `length(${at.owner})::bigint`,
  } as const;
  const newest = defineLookUp({
    name: 'newest',
    by,
    wanted,
    found: { at: 'integer', amount: 'numeric' },
    place,
    find: (at, isThere) => `SELECT move.at, move.amount FROM looked_up AS move
      WHERE ${isThere('move.place')} AND move.owner = ${at.owner} AND move.kind = ${at.kind} ORDER BY move.at DESC, move.amount DESC LIMIT 1`,
  });
  const counted = defineLookUp({
    name: 'counted',
    by,
    wanted,
    found: { moves: 'bigint' },
    place,
    find: (at, isThere) =>
      `SELECT (SELECT count(*) FROM looked_up AS move WHERE ${isThere('move.place')} AND move.owner = ${at.owner} AND move.kind = ${at.kind}) AS moves`,
  });
  const found = `(SELECT asked_about.kind, newest.at FROM asked_about CROSS JOIN LATERAL (${reading.lookUp(newest, columnsOf('asked_about', newest))}) AS newest)`;
  const beside = defineLookUp({
    name: 'beside',
    by: { kind: 'integer', at: 'integer' },
    wanted: `SELECT kind, at FROM ${found} AS found`,
    found: { moves: 'bigint' },
    find: (at) => `SELECT count(*) AS moves FROM looked_up AS move WHERE move.kind = ${at.kind} AND move.at = ${at.at}`,
    findAll: (every) => `SELECT ${every}.kind, ${every}.at, count(*) AS moves FROM ${every}
      JOIN looked_up AS move ON move.kind = ${every}.kind AND move.at = ${every}.at GROUP BY ${every}.kind, ${every}.at`,
  });
  const besides = reading.lookUp(beside, { kind: 'asked_about.kind', at: 'newest.at' });
  const any = defineLookUp({
    name: 'any_of_kind',
    by: { kind: 'integer' },
    wanted: 'SELECT kind FROM asked_about',
    found: { is_there: 'boolean' },
    find: (at) => `SELECT true AS is_there FROM looked_up AS move WHERE move.kind = ${at.kind} LIMIT 1`,
  });
  return [
    `INSERT INTO told SELECT asked_about.owner, asked_about.kind, newest.at, newest.amount, counted.moves,
       coalesce((${besides}), 0), EXISTS (${reading.lookUp(any, columnsOf('asked_about', any))})
     FROM asked_about LEFT JOIN LATERAL (${reading.lookUp(newest, columnsOf('asked_about', newest))}) AS newest ON true
       LEFT JOIN LATERAL (${reading.lookUp(counted, columnsOf('asked_about', counted))}) AS counted ON true`,
  ];
}

async function prepare({ database }: ScratchDatabase): Promise<void> {
  await database.query(
    'CREATE TABLE looked_up (place bigint, owner text, kind integer, at integer, amount numeric, number bigint)',
  );
  await database.query('CREATE INDEX ON looked_up (place, owner)');
}

async function store(database: Database, rows: readonly Move[]): Promise<void> {
  await database.query('DELETE FROM looked_up');
  await database.query(
    `INSERT INTO looked_up SELECT length(given.owner), given.* FROM unnest($1::text[], $2::int[], $3::int[], $4::numeric[]) WITH ORDINALITY AS given(owner, kind, at, amount, number)`,
    [
      rows.map(({ owner }) => owner),
      rows.map(({ kind }) => kind),
      rows.map(({ at }) => at),
      rows.map(({ amount }) => String(amount)),
    ],
  );
}

/** @returns what is told of those asked about, and how many statements that took */
function tell(
  database: Database,
  keys: readonly (readonly [string, number])[],
  spread: boolean,
): Promise<{ readonly told: object[]; readonly statements: number }> {
  return database.transaction(async (transaction) => {
    await transaction.query('CREATE TEMP TABLE asked_about (owner text, kind integer) ON COMMIT DROP');
    await transaction.query(
      'CREATE TEMP TABLE told (owner text, kind integer, at integer, amount text, moves bigint, beside bigint, is_there boolean) ON COMMIT DROP',
    );
    await transaction.query('INSERT INTO asked_about SELECT * FROM unnest($1::text[], $2::int[])', [
      keys.map(([owner]) => owner),
      keys.map(([, kind]) => kind),
    ]);
    let count = 0;
    const counting: Transaction = {
      ...transaction,
      query(text, values) {
        count += 1;
        return transaction.query(text, values);
      },
    };
    await runDerived(counting, spread, statements);
    const told = await transaction.query('SELECT * FROM told ORDER BY owner COLLATE "C", kind');
    return { told, statements: count };
  });
}

let single: ScratchDatabase;
beforeAll(async () => {
  single = await createScratchDatabase();
  await prepare(single);
});
afterAll(() => single.drop());

test('on one server it is the same', async () => {
  await fc.assert(
    fc.asyncProperty(moves, asked, async (rows, keys) => {
      await store(single.database, rows);
      const { told } = await tell(single.database, keys, false);
      expect((await tell(single.database, keys, true)).told).toEqual(told);
    }),
    { numRuns: atDepth(60) },
  );
});

describe.runIf(programs !== undefined)('on a cluster', () => {
  let spread: ScratchDatabase;
  const closing: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    if (programs === undefined) return;
    const cluster = await programs.createCluster();
    closing.push(() => cluster.remove());
    spread = await cluster.createDatabase();
    closing.push(() => spread.drop());
    await prepare(spread);
    await spread.database.query(`SELECT create_distributed_table('looked_up', 'place', shard_count => 8)`);
  });
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  test('it is the same', async () => {
    await fc.assert(
      fc.asyncProperty(moves, asked, async (rows, keys) => {
        await store(single.database, rows);
        await store(spread.database, rows);
        const { told } = await tell(single.database, keys, false);
        expect((await tell(spread.database, keys, true)).told).toEqual(told);
      }),
      { numRuns: atDepth(15) },
    );
  });

  test('so many as lie in a shard are asked for in one statement', async () => {
    const all = (count: number): [string, number][] =>
      Array.from({ length: count }, (_, number) => ['x'.repeat(number % 40), Math.floor(number / 40)]);
    const keys = all(4_000);
    const rows = keys.map(([owner, kind], number) => ({ owner, kind, at: number % 7, amount: BigInt(number) }));
    await store(single.database, rows);
    await store(spread.database, rows);
    const few = await tell(spread.database, all(400), true);
    const many = await tell(spread.database, keys, true);
    expect(many.told).toEqual((await tell(single.database, keys, false)).told);
    // Kinds are asked about one by one, as rows of any node may answer; a session that has no temporary tables yet makes them.
    expect(many.statements - few.statements).toBeLessThan(100 - 10 + 10);
    expect(few.statements).toBeLessThan(10 + 2 * 8 + 40);
  });
});
