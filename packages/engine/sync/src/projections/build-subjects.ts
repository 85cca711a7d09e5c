/** Builds projections for single subjects, under the commit lock: each row is counted once. */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  addressBytes,
  type Database,
  hexText,
  isSpread,
  rawSql,
  runStatements,
  type Sql,
  sql,
  type Transaction,
} from '@chainstead/db';
import { getTableName } from 'drizzle-orm';
import type { SubjectProjection } from '../dataset/projection.ts';
import { PARTITION_TOP } from '../partitions/read-partitions.ts';
import { lockChainCommits } from '../rows/commit-retry.ts';
import { emptyStagingTable } from '../rows/staging-table.ts';
import { LOCAL_ACCESS } from '../table-access/table-access.ts';
import { type ProjectionOf, rowsOfSubject, sourceTables, subjectsIn } from './counted-rows.ts';
import { countSelected } from './derive-changes.ts';
import { readProjectionRecords, recordOf } from './projection-record.ts';

/** `waiting`: an index is missing, or this version has not ingested the chain yet. */
export type SubjectProgress = 'waiting' | 'building' | 'built';

/** `alone`: too many rows, or partly built: use {@link buildSubject}. */
export type TogetherProgress = SubjectProgress | 'alone';

/** A fraction of a second, during which the chain's commits wait. */
const ROWS_PER_PIECE = 10_000;

interface TogetherMax {
  readonly rows: number;
  /** Lower than `rows`, so that the first subject is always measured completely. */
  readonly rowsOfOne: number;
}

const TOGETHER_MAX: TogetherMax = { rows: ROWS_PER_PIECE, rowsOfOne: ROWS_PER_PIECE / 10 };

export async function buildSubject(
  database: Database,
  chain: Chain,
  of: ProjectionOf<SubjectProjection>,
  subject: Address,
  rowsMax = ROWS_PER_PIECE,
): Promise<SubjectProgress> {
  if (!(await isReady(database, of.state))) return 'waiting';
  return database.transaction(async (transaction) => {
    await transaction.query(COMMIT_LAZILY);
    // Invariant: SYNC-SUBJECT-ONCE
    if (!(await lockState(transaction, chain, of.state))) return 'waiting';
    const builtTo = (await beginSubjects(transaction, chain, of.state, [subject])).get(subject) ?? null;
    if (builtTo === null) return 'built';
    const { to, rows } = await countPiece(transaction, chain, of, { subject, builtTo, rowsMax });
    await saveProgress(transaction, chain, of.state, { subjects: [subject], to, rows: [rows] });
    return to === null ? 'built' : 'building';
  });
}

/** In order. @returns progress; subjects that did not fit are missing, never the first */
export async function buildTogether(
  database: Database,
  chain: Chain,
  of: ProjectionOf<SubjectProjection>,
  subjects: readonly Address[],
  max = TOGETHER_MAX,
): Promise<ReadonlyMap<Address, TogetherProgress>> {
  const all = (progress: TogetherProgress, some = subjects) =>
    some.map((subject) => [subject, progress] as const);
  if (!(await isReady(database, of.state))) return new Map(all('waiting'));
  // Several subjects are in several shards, which Citus can't look up in one statement.
  if (await isSpread(database)) return new Map(all('alone'));
  return database.transaction(async (transaction) => {
    await transaction.query(COMMIT_LAZILY);
    // Without statistics, the planner expects each subject to have a large part of the table.
    await transaction.query(sql`SET LOCAL enable_seqscan = off`);
    const { few, many } = await measureSubjects(transaction, chain, of, subjects, max);
    const alone = all('alone', many);
    if (few.length === 0) return new Map(alone);
    if (!(await lockState(transaction, chain, of.state))) return new Map(all('waiting'));
    const begun = await beginSubjects(transaction, chain, of.state, few);
    const fresh = few.filter((subject) => begun.get(subject) === NOTHING);
    const isCounted = fresh.length === 0 || (await countTogether(transaction, chain, of, fresh, max));
    const progressOf = (subject: Address): TogetherProgress => {
      const builtTo = begun.get(subject);
      if (builtTo === null) return 'built';
      return builtTo === NOTHING && isCounted ? 'built' : 'alone';
    };
    return new Map([...alone, ...few.map((subject) => [subject, progressOf(subject)] as const)]);
  });
}

const NOTHING = -1;

/** Pieces lost in a crash are built again: no commit waits for the disk. */
const COMMIT_LAZILY = sql`SET LOCAL synchronous_commit = off`;

/** Takes the commit lock. False if the chain is not ingested with this version. */
async function lockState(transaction: Transaction, chain: Chain, state: SubjectProjection): Promise<boolean> {
  await lockChainCommits(transaction, chain);
  return recordOf(await readProjectionRecords(transaction, chain.id), state) !== undefined;
}

async function isReady(database: Database, { subjects: { indexes } }: SubjectProjection): Promise<boolean> {
  const valid = await database.query(
    sql`SELECT FROM pg_class AS made JOIN pg_index ON pg_index.indexrelid = made.oid
      WHERE made.relname = ANY(${indexes}::text[]) AND made.relnamespace = current_schema()::regnamespace AND pg_index.indisvalid`,
  );
  return valid.length >= indexes.length;
}

/** Records the request. @returns the last counted block per subject; null: built */
async function beginSubjects(
  transaction: Transaction,
  chain: Chain,
  state: SubjectProjection,
  subjects: readonly Address[],
) {
  const requested = sql`${subjects.map(addressBytes)}::bytea[]`;
  await transaction.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject, built_to)
     SELECT ${chain.id}::bigint, ${state.name}::text, subject, ${rawSql(NOTHING)} FROM unnest(${requested}) AS requested(subject) ORDER BY subject ON CONFLICT DO NOTHING`,
  );
  const states = await transaction.query<{ subject: Address; builtTo: number | null; isStale: boolean }>(
    sql`SELECT ${hexText('subject')} AS subject, built_to, is_stale
     FROM subject_projections AS stored WHERE chain_id = ${chain.id} AND state = ${state.name} AND stored.subject = ANY(${requested}) ORDER BY stored.subject FOR UPDATE`,
  );
  const stale = states.filter(({ isStale }) => isStale).map(({ subject }) => subject);
  if (stale.length > 0) await clearSubjects(transaction, chain, state, stale);
  return new Map(states.map(({ subject, builtTo }) => [subject, builtTo]));
}

export async function clearSubjects(
  transaction: Transaction,
  chain: Chain,
  { tables, subjects: { column } }: SubjectProjection,
  subjects: readonly Address[],
): Promise<void> {
  for (const table of tables.map(getTableName))
    await transaction.query(
      sql`DELETE FROM ${rawSql(table)} WHERE ${rawSql(column)} = ANY(${subjects.map(addressBytes)}::bytea[]) AND chain_id = ${chain.id}`,
    );
}

interface Counted {
  readonly subjects: readonly Address[];
  /** Null: all their rows are counted. */
  readonly to: number | null;
  readonly rows: readonly number[];
}

async function saveProgress(
  transaction: Transaction,
  chain: Chain,
  { name }: SubjectProjection,
  { subjects, to, rows }: Counted,
): Promise<void> {
  await transaction.query(
    sql`UPDATE subject_projections AS stored SET built_to = ${to}, is_stale = false, rows = stored.rows + counted.rows, asked_at = now()
     FROM unnest(${subjects.map(addressBytes)}::bytea[], ${rows}::bigint[]) AS counted(subject, rows)
     WHERE stored.chain_id = ${chain.id} AND stored.state = ${name} AND stored.subject = counted.subject`,
  );
}

/** Rows above `builtTo`, up to the returned block; null: all. */
async function countPiece(
  transaction: Transaction,
  chain: Chain,
  of: ProjectionOf<SubjectProjection>,
  {
    subject,
    builtTo,
    rowsMax,
  }: { readonly subject: Address; readonly builtTo: number; readonly rowsMax: number },
) {
  const columns = rawSql(sourceTables(of)[0].columns.join(', '));
  const conditions = of.state.subjects.rowsOf(sql`${addressBytes(subject)}::bytea`);
  const rowsAbove = (wanted: Sql): Sql =>
    rowsOfSubject(of, conditions, {
      chainId: chain.id,
      columns: wanted,
      where: sql`AND block_number > ${builtTo}`,
    });
  const [beyond] = await transaction.query<{ block: number }>(
    sql`SELECT block_number AS block FROM (${rowsAbove(rawSql('block_number'))}) AS above ORDER BY block_number OFFSET ${rowsMax} LIMIT 1`,
  );
  // A block is never split.
  const to = beyond === undefined ? null : Math.max(builtTo + 1, beyond.block - 1);
  const selected = sql`SELECT ${columns} FROM (${rowsAbove(columns)}) AS above WHERE block_number <= ${to ?? PARTITION_TOP}`;
  return { to, rows: await countSelected(transaction, of, subjectsIn([subject]), selected) };
}

/** Before the lock is taken: later rows are noticed when counted. */
async function measureSubjects(
  transaction: Transaction,
  chain: Chain,
  of: ProjectionOf<SubjectProjection>,
  subjects: readonly Address[],
  { rows: rowsMax, rowsOfOne }: TogetherMax,
) {
  const wanted = { chainId: chain.id, columns: rawSql('block_number') };
  const rows = rowsOfSubject(of, of.state.subjects.rowsOf(REQUESTED), wanted);
  const measures = await transaction.query<{ ordinal: number; rows: number }>(
    sql`SELECT ordinal, count(*) AS rows FROM (
       SELECT requested.ordinal FROM unnest(${subjects.map(addressBytes)}::bytea[]) WITH ORDINALITY AS requested(subject, ordinal)
         CROSS JOIN LATERAL (${rows} LIMIT ${rowsOfOne + 1}) AS each LIMIT ${rowsMax + 1}) AS found
     GROUP BY ordinal`,
  );
  const counts = new Map(measures.map(({ ordinal, rows: count }) => [ordinal - 1, count]));
  const total = measures.reduce((sum, { rows: count }) => sum + count, 0);
  // The last measured subject may have more rows than the limit let through.
  const measured = total > rowsMax ? Math.max(...counts.keys()) : subjects.length;
  const isSmall = (index: number): boolean => (counts.get(index) ?? 0) <= rowsOfOne;
  const looked = subjects.slice(0, measured);
  return { few: looked.filter((_, index) => isSmall(index)), many: looked.filter((_, index) => !isSmall(index)) };
}

/** False if there were too many rows: nothing is counted. */
async function countTogether(
  transaction: Transaction,
  chain: Chain,
  of: ProjectionOf<SubjectProjection>,
  subjects: readonly Address[],
  { rows: rowsMax }: TogetherMax,
): Promise<boolean> {
  const [table] = sourceTables(of);
  const staging = await emptyStagingTable(transaction, table.name, 'added');
  const columns = rawSql(table.columns.join(', '));
  const conditions = of.state.subjects.rowsOf(REQUESTED);
  // A row of two subjects meets two conditions. It counts once for both.
  const distinct = rawSql(conditions.length > 1 ? 'DISTINCT ' : '');
  const counts = await transaction.query<{ subject: Address; rows: number }>(
    sql`WITH own AS MATERIALIZED (
       SELECT requested.subject AS of_subject, each.* FROM unnest(${subjects.map(addressBytes)}::bytea[]) AS requested(subject)
         CROSS JOIN LATERAL (${rowsOfSubject(of, conditions, { chainId: chain.id, columns })} LIMIT ${rowsMax + 1}) AS each LIMIT ${rowsMax + 1}
     ), filled AS (
       INSERT INTO ${rawSql(staging)} (${columns}) SELECT ${distinct}${columns} FROM own
     )
     SELECT ${hexText('of_subject')} AS subject, count(*) AS rows FROM own GROUP BY of_subject`,
  );
  const total = counts.reduce((sum, { rows }) => sum + rows, 0);
  if (total > rowsMax) return false;
  if (total > 0) {
    const change = { rows: rawSql(staging), subjects: subjectsIn(subjects), access: LOCAL_ACCESS };
    await runStatements(transaction, of.state.added(change));
  }
  const rowsOfEach = new Map(counts.map(({ subject, rows }) => [subject, rows]));
  const rows = subjects.map((subject) => rowsOfEach.get(subject) ?? 0);
  await saveProgress(transaction, chain, of.state, { subjects, to: null, rows });
  return true;
}

const REQUESTED = rawSql('requested.subject');
