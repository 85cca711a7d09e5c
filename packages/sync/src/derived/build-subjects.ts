/**
 * Builds what a state has of single subjects from the rows that are there. Under the commit lock, as `build-whole.ts`: each row is
 * counted once, whatever arrives or goes meanwhile. A subject with many rows is built by ascending blocks, a piece in each
 * transaction. Of those with few rows, as most of a thousand new users have, many are built in one.
 */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexText, isSpread, type Transaction } from '@chainstead/db';
import type { SubjectState } from '../dataset.ts';
import { PARTITION_TOP } from '../partitions/plan-partitions.ts';
import { emptyStagingTable } from '../staging-table.ts';
import { lockChainCommits } from '../write-batch.ts';
import { countedTables, type StateOf, subjectsIn } from './counted-rows.ts';
import { countSelected } from './derive-changes.ts';
import { readDerivedRecords, recordOf } from './derived-record.ts';

/**
 * Progress of the build of a subject. `waiting`: it can't begin. An index is missing, or this version of the program has not
 * ingested the chain yet.
 */
export type SubjectProgress = 'waiting' | 'building' | 'built';

/** `alone`: it has too many rows to be counted with others, or some are counted already: {@link buildSubject} builds it. */
export type TogetherProgress = SubjectProgress | 'alone';

/** Rows of a piece: a fraction of a second, for which commits of the chain wait. */
const ROWS_PER_PIECE = 10_000;

/** How many rows are counted together at most. */
interface TogetherMax {
  readonly rows: number;
  /** Of one subject: fewer than all, so that the first is always measured whole. */
  readonly rowsOfOne: number;
}

const TOGETHER_MAX: TogetherMax = { rows: ROWS_PER_PIECE, rowsOfOne: ROWS_PER_PIECE / 10 };

/** Builds the next piece of a subject. */
export async function buildSubject(
  database: Database,
  chain: Chain,
  of: StateOf<SubjectState>,
  subject: Address,
  rowsMax = ROWS_PER_PIECE,
): Promise<SubjectProgress> {
  if (!(await isReady(database, of.state))) return 'waiting';
  return database.transaction(async (transaction) => {
    await commitLazily(transaction);
    if (!(await lockState(transaction, chain, of.state))) return 'waiting';
    const builtTo = (await beginSubjects(transaction, chain, of.state, [subject])).get(subject) ?? null;
    if (builtTo === null) return 'built';
    const { to, rows } = await countPiece(transaction, chain, of, { subject, builtTo, rowsMax });
    await saveProgress(transaction, chain, of.state, { subjects: [subject], to, rows: [rows] });
    return to === null ? 'built' : 'building';
  });
}

/**
 * Counts as many of the subjects as there is room for in a piece, in their order, in one transaction.
 * @returns where they stand; those that are missing did not fit, and are to be asked for again. The first never is
 */
export async function buildTogether(
  database: Database,
  chain: Chain,
  of: StateOf<SubjectState>,
  subjects: readonly Address[],
  max = TOGETHER_MAX,
): Promise<ReadonlyMap<Address, TogetherProgress>> {
  const all = (progress: TogetherProgress, some = subjects) => some.map((subject) => [subject, progress] as const);
  if (!(await isReady(database, of.state))) return new Map(all('waiting'));
  // The rows of several subjects are probes of several shards, which Citus can't make in one statement.
  if (await isSpread(database)) return new Map(all('alone'));
  return database.transaction(async (transaction) => {
    await commitLazily(transaction);
    // Without statistics the planner expects a large part of the table to be each subject's, and would read all of it.
    await transaction.query('SET LOCAL enable_seqscan = off');
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

/** `built_to` of a subject of which nothing is counted. */
const NOTHING = -1;

/** What a crash of the server loses is counted again; so no commit of the chain waits for the disk. */
async function commitLazily(transaction: Transaction): Promise<void> {
  await transaction.query('SET LOCAL synchronous_commit = off');
}

/** Takes the commit lock. @returns whether the chain is ingested with this version of the state */
async function lockState(transaction: Transaction, chain: Chain, state: SubjectState): Promise<boolean> {
  await lockChainCommits(transaction, chain);
  return recordOf(await readDerivedRecords(transaction, chain.id), state) !== undefined;
}

/** Whether subjects of the state can be built: all its indexes are valid. */
async function isReady(database: Database, { subjects: { indexes } }: SubjectState): Promise<boolean> {
  const valid = await database.query(
    `SELECT FROM pg_class AS made JOIN pg_index ON pg_index.indexrelid = made.oid
      WHERE made.relname = ANY($1::text[]) AND made.relnamespace = current_schema()::regnamespace AND pg_index.indisvalid`,
    [indexes],
  );
  return valid.length >= indexes.length;
}

/** Notes that the subjects are asked about. @returns up to which block each is counted; null: it is built */
async function beginSubjects(
  transaction: Transaction,
  chain: Chain,
  state: SubjectState,
  subjects: readonly Address[],
): Promise<ReadonlyMap<Address, number | null>> {
  const key = [chain.id, state.name, subjects.map(addressBytes)];
  await transaction.query(
    `INSERT INTO kept_subjects (chain_id, state, subject, built_to)
     SELECT $1::bigint, $2::text, subject, ${NOTHING} FROM unnest($3::bytea[]) AS asked(subject) ORDER BY subject ON CONFLICT DO NOTHING`,
    key,
  );
  const rows = await transaction.query<{ subject: Address; built_to: number | null; is_stale: boolean }>(
    `SELECT ${hexText('subject')} AS subject, built_to, is_stale
     FROM kept_subjects AS kept WHERE chain_id = $1 AND state = $2 AND kept.subject = ANY($3::bytea[]) ORDER BY kept.subject FOR UPDATE`,
    key,
  );
  const stale = rows.filter(({ is_stale }) => is_stale).map(({ subject }) => subject);
  if (stale.length > 0) await clearSubjects(transaction, chain, state, stale);
  return new Map(rows.map(({ subject, built_to }) => [subject, built_to]));
}

/** Deletes what the state's tables have of the subjects. */
export async function clearSubjects(
  transaction: Transaction,
  chain: Chain,
  { tables, subjects: { column } }: SubjectState,
  subjects: readonly Address[],
): Promise<void> {
  for (const table of tables)
    await transaction.query(`DELETE FROM ${table} WHERE ${column} = ANY($1::bytea[]) AND chain_id = $2`, [
      subjects.map(addressBytes),
      chain.id,
    ]);
}

/** What was counted of subjects, in their order. */
interface Counted {
  readonly subjects: readonly Address[];
  /** Null: all their rows are. */
  readonly to: number | null;
  readonly rows: readonly number[];
}

async function saveProgress(
  transaction: Transaction,
  chain: Chain,
  { name }: SubjectState,
  { subjects, to, rows }: Counted,
): Promise<void> {
  await transaction.query(
    `UPDATE kept_subjects AS kept SET built_to = $5, is_stale = false, rows = kept.rows + counted.rows, asked_at = now()
     FROM unnest($3::bytea[], $4::bigint[]) AS counted(subject, rows)
     WHERE kept.chain_id = $1 AND kept.state = $2 AND kept.subject = counted.subject`,
    [chain.id, name, subjects.map(addressBytes), rows, to],
  );
}

interface Piece {
  readonly subject: Address;
  readonly builtTo: number;
  readonly rowsMax: number;
}

/** Counts the rows of the subject above `builtTo`, up to the block that is given back; null: all. */
async function countPiece(
  transaction: Transaction,
  chain: Chain,
  of: StateOf<SubjectState>,
  { subject, builtTo, rowsMax }: Piece,
): Promise<{ readonly to: number | null; readonly rows: number }> {
  const bytes = bytesOf(subject);
  const columns = countedTables(of)[0].columns.join(', ');
  const rowsAbove = (wanted: string): string => rowsOf(of, bytes, wanted, 'AND block_number > $2');
  const [beyond] = await transaction.query<{ block_number: number }>(
    `SELECT block_number FROM (${rowsAbove('block_number')}) AS above ORDER BY block_number OFFSET $3 LIMIT 1`,
    [chain.id, builtTo, rowsMax],
  );
  // A block is counted whole, however many rows it has.
  const to = beyond === undefined ? null : Math.max(builtTo + 1, beyond.block_number - 1);
  const source = `SELECT ${columns} FROM (${rowsAbove(columns)}) AS above WHERE block_number <= $3`;
  const values = [chain.id, builtTo, to ?? PARTITION_TOP];
  return { to, rows: await countSelected(transaction, of, subjectsIn([bytes]), { source, values }) };
}

/**
 * Those of the subjects, in their order, that there is room for, and those that have too many rows. Before the lock is taken: rows that come
 * meanwhile are noticed when they are counted.
 */
async function measureSubjects(
  transaction: Transaction,
  chain: Chain,
  of: StateOf<SubjectState>,
  subjects: readonly Address[],
  { rows: rowsMax, rowsOfOne }: TogetherMax,
): Promise<{ readonly few: readonly Address[]; readonly many: readonly Address[] }> {
  const found = await transaction.query<{ place: number; rows: number }>(
    `SELECT place, count(*) AS rows FROM (
       SELECT asked.place FROM unnest($2::bytea[]) WITH ORDINALITY AS asked(subject, place)
         CROSS JOIN LATERAL (${rowsOf(of, 'asked.subject', 'block_number')} LIMIT $3) AS each LIMIT $4) AS found
     GROUP BY place`,
    [chain.id, subjects.map(addressBytes), rowsOfOne + 1, rowsMax + 1],
  );
  const counts = new Map(found.map(({ place, rows }) => [place - 1, rows]));
  const total = found.reduce((sum, { rows }) => sum + rows, 0);
  // The last whose rows were looked at may have more.
  const measured = total > rowsMax ? Math.max(...counts.keys()) : subjects.length;
  const isSmall = (place: number): boolean => (counts.get(place) ?? 0) <= rowsOfOne;
  const looked = subjects.slice(0, measured);
  return { few: looked.filter((_, place) => isSmall(place)), many: looked.filter((_, place) => !isSmall(place)) };
}

/** Counts all rows of the subjects, of which none is counted. @returns whether there were few enough: else nothing is counted */
async function countTogether(
  transaction: Transaction,
  chain: Chain,
  of: StateOf<SubjectState>,
  subjects: readonly Address[],
  { rows: rowsMax }: TogetherMax,
): Promise<boolean> {
  const [table] = countedTables(of);
  const staging = await emptyStagingTable(transaction, table.name, 'added');
  const columns = table.columns.join(', ');
  // A row may be two subjects', each by another condition: it counts for both, once.
  const distinct = of.state.subjects.rowsOf('asked.subject').length > 1 ? 'DISTINCT ' : '';
  const counts = await transaction.query<{ subject: Address; rows: number }>(
    `WITH own AS MATERIALIZED (
       SELECT asked.subject AS of_subject, each.* FROM unnest($2::bytea[]) AS asked(subject)
         CROSS JOIN LATERAL (${rowsOf(of, 'asked.subject', columns)} LIMIT $3) AS each LIMIT $3
     ), filled AS (
       INSERT INTO ${staging} (${columns}) SELECT ${distinct}${columns} FROM own
     )
     SELECT ${hexText('of_subject')} AS subject, count(*) AS rows FROM own GROUP BY of_subject`,
    [chain.id, subjects.map(addressBytes), rowsMax + 1],
  );
  const total = counts.reduce((sum, { rows }) => sum + rows, 0);
  if (total > rowsMax) return false;
  const kept = subjectsIn(subjects.map(bytesOf));
  if (total > 0) for (const statement of of.state.added(staging, kept)) await transaction.query(statement);
  const rowsOfEach = new Map(counts.map(({ subject, rows }) => [subject, rows]));
  const rows = subjects.map((subject) => rowsOfEach.get(subject) ?? 0);
  await saveProgress(transaction, chain, of.state, { subjects, to: null, rows });
  return true;
}

/** A query of the rows of a subject in the chain `$1`. @param subject SQL of its 20 bytes @param where a further condition */
function rowsOf(of: StateOf<SubjectState>, subject: string, columns: string, where = ''): string {
  const conditions = of.state.subjects.rowsOf(subject);
  return countedTables(of)
    .flatMap(({ name }) =>
      conditions.map((condition) => `SELECT ${columns} FROM ${name} WHERE chain_id = $1 ${where} AND (${condition})`),
    )
    .join(' UNION ALL ');
}

/** The subject in SQL. */
function bytesOf(subject: Address): string {
  return `'\\x${subject.slice(2)}'::bytea`;
}
