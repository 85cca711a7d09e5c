/**
 * Builds what is kept of several subjects at once: of those that nothing is counted of yet and that have few rows, as most of a thousand new
 * users do. What they take of the commit lock is no more than a piece of one subject takes, whoever they are.
 */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexText, isSpread, type Transaction } from '@chainstead/db';
import { countedTables } from '../counted-tables.ts';
import type { KeptState } from '../dataset.ts';
import { readDerivedRecords, recordOf } from '../derived/derived-record.ts';
import { emptyStagingTable } from '../staging-table.ts';
import { lockChainCommits } from '../write-batch.ts';
import { bytesOf, clearSubjects, isReady, type KeptOf, type KeptProgress, ROWS_PER_PIECE } from './build-kept.ts';

/** `alone`: it has too many rows to be counted with others, or some are counted already: its pieces are asked for by `buildKeptPiece`. */
export type TogetherProgress = KeptProgress | 'alone';

/** How many rows are counted together at most. */
interface TogetherMax {
  readonly rows: number;
  /** Of one subject: fewer than all, so that the first is always measured whole. */
  readonly rowsOfOne: number;
}

const TOGETHER_MAX: TogetherMax = { rows: ROWS_PER_PIECE, rowsOfOne: ROWS_PER_PIECE / 10 };

/**
 * Counts as many of the subjects as there is room for in a piece, in their order, in one transaction.
 * @returns where they stand; those that are missing did not fit, and are to be asked for again. The first never is
 */
export async function buildKeptTogether(
  database: Database,
  chain: Chain,
  of: KeptOf,
  subjects: readonly Address[],
  max = TOGETHER_MAX,
): Promise<ReadonlyMap<Address, TogetherProgress>> {
  const all = (progress: TogetherProgress, some = subjects) => some.map((subject) => [subject, progress] as const);
  if (!(await isReady(database, of.state))) return new Map(all('waiting'));
  // The rows of several subjects are probes of several shards, which Citus can't make in one statement.
  if (await isSpread(database)) return new Map(all('alone'));
  return database.transaction(async (transaction) => {
    // What a crash of the server loses is counted again; so no commit of the chain waits for the disk.
    await transaction.query('SET LOCAL synchronous_commit = off');
    // Without statistics the planner expects a large part of the table to be each subject's, and would read all of it.
    await transaction.query('SET LOCAL enable_seqscan = off');
    const { few, many } = await measureSubjects(transaction, chain, of, subjects, max);
    const alone = all('alone', many);
    if (few.length === 0) return new Map(alone);
    await lockChainCommits(transaction, chain);
    if (recordOf(await readDerivedRecords(transaction, chain.id), of.state) === undefined)
      return new Map(all('waiting'));
    const { built, begun, fresh } = await beginSubjects(transaction, chain, of.state, few);
    const counted = fresh.length === 0 || (await countSubjects(transaction, chain, of, fresh, max));
    return new Map([
      ...alone,
      ...all('alone', begun),
      ...all('built', built),
      ...all(counted ? 'built' : 'alone', fresh),
    ]);
  });
}

/**
 * Those of the subjects, in their order, that there is room for, and those that have too many rows. Before the lock is taken: rows that come
 * meanwhile are noticed when they are counted.
 */
async function measureSubjects(
  transaction: Transaction,
  chain: Chain,
  of: KeptOf,
  subjects: readonly Address[],
  { rows: rowsMax, rowsOfOne }: TogetherMax,
): Promise<{ readonly few: readonly Address[]; readonly many: readonly Address[] }> {
  const found = await transaction.query<{ place: number; rows: number }>(
    `SELECT place, count(*) AS rows FROM (
       SELECT asked.place FROM unnest($2::bytea[]) WITH ORDINALITY AS asked(subject, place)
         CROSS JOIN LATERAL (${rowsOfAsked(of, 'block_number')} LIMIT $3) AS each LIMIT $4) AS found
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

/** Notes that the subjects are asked about. @returns those that are built, that are counted in part, and that nothing is counted of */
async function beginSubjects(
  transaction: Transaction,
  chain: Chain,
  state: KeptState,
  subjects: readonly Address[],
): Promise<Record<'built' | 'begun' | 'fresh', readonly Address[]>> {
  const key = [chain.id, state.name, subjects.map(addressBytes)];
  await transaction.query(
    `INSERT INTO kept_subjects (chain_id, state, subject, built_to)
     SELECT $1::bigint, $2::text, subject, -1 FROM unnest($3::bytea[]) AS asked(subject) ORDER BY subject ON CONFLICT DO NOTHING`,
    key,
  );
  const rows = await transaction.query<{ subject: Address; standing: 'built' | 'begun' | 'fresh' | 'stale' }>(
    `SELECT ${hexText('subject')} AS subject,
       CASE WHEN built_to IS NULL THEN 'built' WHEN is_stale THEN 'stale' WHEN built_to < 0 THEN 'fresh' ELSE 'begun' END AS standing
     FROM kept_subjects AS kept WHERE chain_id = $1 AND state = $2 AND kept.subject = ANY($3::bytea[]) ORDER BY kept.subject FOR UPDATE`,
    key,
  );
  const those = (standing: string): Address[] =>
    rows.flatMap((row) => (row.standing === standing ? [row.subject] : []));
  const stale = those('stale');
  if (stale.length > 0) await clearSubjects(transaction, chain, state, stale);
  return { built: those('built'), begun: those('begun'), fresh: [...those('fresh'), ...stale] };
}

/** Counts all rows of the subjects, of which none is counted. @returns whether there were few enough: else nothing is counted */
async function countSubjects(
  transaction: Transaction,
  chain: Chain,
  of: KeptOf,
  subjects: readonly Address[],
  { rows: rowsMax }: TogetherMax,
): Promise<boolean> {
  const [table] = countedTables(of);
  const staging = await emptyStagingTable(transaction, table.name, 'added');
  const columns = table.columns.join(', ');
  const counts = await transaction.query<{ subject: Address; rows: number }>(
    `WITH own AS MATERIALIZED (
       SELECT asked.subject AS of_subject, each.* FROM unnest($2::bytea[]) AS asked(subject)
         CROSS JOIN LATERAL (${rowsOfAsked(of, columns)} LIMIT $3) AS each LIMIT $3
     ), filled AS (
       INSERT INTO ${staging} (${columns}) SELECT ${mayBeShared(of) ? 'DISTINCT ' : ''}${columns} FROM own
     )
     SELECT ${hexText('of_subject')} AS subject, count(*) AS rows FROM own GROUP BY of_subject`,
    [chain.id, subjects.map(addressBytes), rowsMax + 1],
  );
  const total = counts.reduce((sum, { rows }) => sum + rows, 0);
  if (total > rowsMax) return false;
  const kept = `(SELECT subject, ${Number.MAX_SAFE_INTEGER} AS built_to FROM unnest(ARRAY[${subjects.map(bytesOf).join(', ')}]) AS given(subject))`;
  if (total > 0) for (const statement of of.state.added(staging, kept)) await transaction.query(statement);
  const rowsOf = new Map(counts.map(({ subject, rows }) => [subject, rows]));
  await transaction.query(
    `UPDATE kept_subjects AS kept SET built_to = NULL, is_stale = false, rows = kept.rows + counted.rows, asked_at = now()
     FROM unnest($3::bytea[], $4::bigint[]) AS counted(subject, rows)
     WHERE kept.chain_id = $1 AND kept.state = $2 AND kept.subject = counted.subject`,
    [chain.id, of.state.name, subjects.map(addressBytes), subjects.map((subject) => rowsOf.get(subject) ?? 0)],
  );
  return true;
}

/** The rows of `asked.subject`. */
function rowsOfAsked(of: KeptOf, columns: string): string {
  const conditions = of.state.rowsOf('asked.subject');
  return countedTables(of)
    .flatMap(({ name }) =>
      conditions.map((condition) => `SELECT ${columns} FROM ${name} WHERE chain_id = $1 AND (${condition})`),
    )
    .join(' UNION ALL ');
}

/** Whether a row may be two subjects', each by another condition: it counts for both, once. */
function mayBeShared({ state }: KeptOf): boolean {
  return state.rowsOf('asked.subject').length > 1;
}
