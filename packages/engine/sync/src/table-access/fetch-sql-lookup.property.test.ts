/**
 * One lookup of many keys returns the same as single lookups: on one server, and on a real cluster if this machine's
 * Postgres has Citus.
 */

import { type Database, type Sql, sql, type Transaction } from '@chainstead/db';
import { atDepth, findCitus, type ScratchDatabase } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { bigint, pgTable } from 'drizzle-orm/pg-core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineSqlLookup, keyOfLookup } from './sql-lookup.ts';
import { runProjection, type TableAccess } from './table-access.ts';

const programs = await findCitus('looking rows up in shards');

interface Move {
  readonly owner: string;
  readonly kind: number;
  readonly at: number;
  readonly amount: bigint;
}

/** Keys that could break a list, a statement or a pattern. */
const owners = fc.oneof(
  fc.constantFrom("it's", '"', '\\', '{a,b}', 'NULL', '', "');--", '$1', '$&'),
  fc.string({ unit: 'grapheme-ascii', maxLength: 3 }),
);
const kinds = fc.nat(2);
const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({ owner: owners, kind: kinds, at: fc.nat(20), amount: fc.bigInt({ min: 0n, max: 2n ** 100n }) }),
  { maxLength: 30 },
);
const requested = fc.uniqueArray(fc.tuple(owners, kinds), { selector: String, maxLength: 30 });

const lookedUp = pgTable('looked_up', { shardKey: bigint('shard_key', { mode: 'bigint' }) });

/**
 * Returns, for each requested owner and kind: the newest move, the number of moves, and the number of moves of the kind
 * at that time by any owner.
 */
function statements(access: TableAccess): readonly Sql[] {
  const wanted = sql`SELECT owner, kind FROM requested_keys`;
  const by = { owner: 'text', kind: 'integer' };
  const shard = {
    column: lookedUp.shardKey,
    key: (at: Readonly<Record<'owner', Sql>>) => sql`length(${at.owner})::bigint`,
  };
  const newest = defineSqlLookup({
    name: 'newest',
    by,
    wanted,
    found: { at: 'integer', amount: 'numeric' },
    shard,
    find: (at, isInShard) => sql`SELECT move.at, move.amount FROM looked_up AS move
      WHERE ${isInShard('move')} AND move.owner = ${at.owner} AND move.kind = ${at.kind} ORDER BY move.at DESC, move.amount DESC LIMIT 1`,
  });
  const counted = defineSqlLookup({
    name: 'counted',
    by,
    wanted,
    found: { moves: 'bigint' },
    shard,
    find: (at, isInShard) =>
      sql`SELECT (SELECT count(*) FROM looked_up AS move WHERE ${isInShard('move')} AND move.owner = ${at.owner} AND move.kind = ${at.kind}) AS moves`,
  });
  const found = sql`(SELECT requested_keys.kind, newest.at FROM requested_keys CROSS JOIN LATERAL (${access.lookup(newest, keyOfLookup('requested_keys', newest))}) AS newest)`;
  const related = defineSqlLookup({
    name: 'related',
    by: { kind: 'integer', at: 'integer' },
    wanted: sql`SELECT kind, at FROM ${found} AS found`,
    found: { moves: 'bigint' },
    find: (at) =>
      sql`SELECT count(*) AS moves FROM looked_up AS move WHERE move.kind = ${at.kind} AND move.at = ${at.at}`,
    findAll: ({ kind, at }) => sql`SELECT ${kind}, ${at}, count(*) AS moves FROM requested
      JOIN looked_up AS move ON move.kind = ${kind} AND move.at = ${at} GROUP BY ${kind}, ${at}`,
  });
  const besides = access.lookup(related, { kind: sql`requested_keys.kind`, at: sql`newest.at` });
  const anyOfKind = defineSqlLookup({
    name: 'any_of_kind',
    by: { kind: 'integer' },
    wanted: sql`SELECT kind FROM requested_keys`,
    found: { is_there: 'boolean' },
    find: (at) => sql`SELECT true AS is_there FROM looked_up AS move WHERE move.kind = ${at.kind} LIMIT 1`,
  });
  return [
    sql`INSERT INTO reported SELECT requested_keys.owner, requested_keys.kind, newest.at, newest.amount, counted.moves,
       coalesce((${besides}), 0), EXISTS (${access.lookup(anyOfKind, keyOfLookup('requested_keys', anyOfKind))})
     FROM requested_keys LEFT JOIN LATERAL (${access.lookup(newest, keyOfLookup('requested_keys', newest))}) AS newest ON true
       LEFT JOIN LATERAL (${access.lookup(counted, keyOfLookup('requested_keys', counted))}) AS counted ON true`,
  ];
}

async function prepare({ database }: ScratchDatabase): Promise<void> {
  await database.query(
    sql`CREATE TABLE looked_up (shard_key bigint, owner text, kind integer, at integer, amount numeric, number bigint)`,
  );
  await database.query(sql`CREATE INDEX ON looked_up (shard_key, owner)`);
}

async function store(database: Database, rows: readonly Move[]): Promise<void> {
  await database.query(sql`DELETE FROM looked_up`);
  await database.query(
    sql`INSERT INTO looked_up SELECT length(given.owner), given.* FROM unnest(${rows.map(({ owner }) => owner)}::text[], ${rows.map(({ kind }) => kind)}::int[], ${rows.map(({ at }) => at)}::int[], ${rows.map(({ amount }) => String(amount))}::numeric[]) WITH ORDINALITY AS given(owner, kind, at, amount, number)`,
  );
}

/** @returns the results for the requested keys, and the number of statements */
function report(
  database: Database,
  keys: readonly (readonly [string, number])[],
  spread: boolean,
): Promise<{ readonly reported: object[]; readonly statements: number }> {
  return database.transaction(async (transaction) => {
    await transaction.query(sql`CREATE TEMP TABLE requested_keys (owner text, kind integer) ON COMMIT DROP`);
    await transaction.query(
      sql`CREATE TEMP TABLE reported (owner text, kind integer, at integer, amount text, moves bigint, beside bigint, is_there boolean) ON COMMIT DROP`,
    );
    await transaction.query(
      sql`INSERT INTO requested_keys SELECT * FROM unnest(${keys.map(([owner]) => owner)}::text[], ${keys.map(([, kind]) => kind)}::int[])`,
    );
    let count = 0;
    const counting: Transaction = {
      ...transaction,
      query(statement) {
        count += 1;
        return transaction.query(statement);
      },
    };
    await runProjection(counting, spread, statements);
    const reported = await transaction.query(sql`SELECT * FROM reported ORDER BY owner COLLATE "C", kind`);
    return { reported, statements: count };
  });
}

const single = scratchOfFile();
beforeAll(async () => {
  await prepare(single);
});

test('on one server it is the same', async () => {
  await fc.assert(
    fc.asyncProperty(moves, requested, async (rows, keys) => {
      await store(single.database, rows);
      const { reported } = await report(single.database, keys, false);
      expect((await report(single.database, keys, true)).reported).toEqual(reported);
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
    await spread.database.query(sql`SELECT create_distributed_table('looked_up', 'shard_key', shard_count => 8)`);
  });
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  test('it is the same', async () => {
    await fc.assert(
      fc.asyncProperty(moves, requested, async (rows, keys) => {
        await store(single.database, rows);
        await store(spread.database, rows);
        const { reported } = await report(single.database, keys, false);
        expect((await report(spread.database, keys, true)).reported).toEqual(reported);
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
    const few = await report(spread.database, all(400), true);
    const many = await report(spread.database, keys, true);
    expect(many.reported).toEqual((await report(single.database, keys, false)).reported);
    // Kinds are looked up one by one, because any node may have the rows. A new session also creates temporary tables.
    expect(many.statements - few.statements).toBeLessThan(100 - 10 + 10);
    expect(few.statements).toBeLessThan(10 + 2 * 8 + 40);
  });
});
