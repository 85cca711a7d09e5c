/**
 * Builds what is kept of one subject from the rows that are there, by ascending blocks, a piece in each transaction. Under the commit lock, as
 * `derived/build-piece.ts`: each row is counted once, whatever arrives or goes meanwhile.
 */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, isSpread, type Transaction } from '@chainstead/db';
import { countedTables } from '../counted-tables.ts';
import type { Dataset, KeptState } from '../dataset.ts';
import { readDerivedRecords, recordOf } from '../derived/derived-record.ts';
import { PARTITION_TOP } from '../partitions/plan-partitions.ts';
import { runDerived } from '../reading.ts';
import { fillStagingTable, stagingTableOf } from '../staging-table.ts';
import { lockChainCommits } from '../write-batch.ts';

/** A state that is kept for single subjects, and the dataset whose rows it counts: one of them where it counts those of several (`counts`). */
export interface KeptOf {
  readonly dataset: Dataset;
  readonly state: KeptState;
}

/**
 * Progress of the build of a subject. `waiting`: it can't begin. An index is missing, or this version of the program has not
 * ingested the chain yet.
 */
export type KeptProgress = 'waiting' | 'building' | 'built';

/** Rows of a piece: a fraction of a second, for which commits of the chain wait. */
export const ROWS_PER_PIECE = 10_000;

/** The next piece of a subject, which is asked for with it. */
export async function buildKeptPiece(
  database: Database,
  chain: Chain,
  { dataset, state }: KeptOf,
  subject: Address,
  rowsMax = ROWS_PER_PIECE,
): Promise<KeptProgress> {
  if (!(await isReady(database, state))) return 'waiting';
  return database.transaction(async (transaction) => {
    // What a crash of the server loses is counted again; so no commit of the chain waits for the disk.
    await transaction.query('SET LOCAL synchronous_commit = off');
    await lockChainCommits(transaction, chain);
    if (recordOf(await readDerivedRecords(transaction, chain.id), state) === undefined) return 'waiting';
    const key = [chain.id, state.name, addressBytes(subject)];
    await transaction.query(
      'INSERT INTO kept_subjects (chain_id, state, subject, built_to) VALUES ($1, $2, $3, -1) ON CONFLICT DO NOTHING',
      key,
    );
    const [kept] = await transaction.query<{ built_to: number | null; is_stale: boolean }>(
      'SELECT built_to, is_stale FROM kept_subjects WHERE chain_id = $1 AND state = $2 AND subject = $3 FOR UPDATE',
      key,
    );
    if (kept === undefined || kept.built_to === null) return 'built';
    if (kept.is_stale) await clearSubjects(transaction, chain, state, [subject]);
    const { to, rows } = await countRows(
      transaction,
      chain,
      { dataset, state },
      { subject, builtTo: kept.built_to, rowsMax },
    );
    await transaction.query(
      `UPDATE kept_subjects SET built_to = $4, is_stale = false, rows = rows + $5, asked_at = now()
        WHERE chain_id = $1 AND state = $2 AND subject = $3`,
      [...key, to, rows],
    );
    return to === null ? 'built' : 'building';
  });
}

/** Whether subjects of the state can be built: all its indexes are valid. */
export async function isReady(database: Database, { indexes }: KeptState): Promise<boolean> {
  const valid = await database.query(
    `SELECT FROM pg_class AS made JOIN pg_index ON pg_index.indexrelid = made.oid
      WHERE made.relname = ANY($1::text[]) AND made.relnamespace = current_schema()::regnamespace AND pg_index.indisvalid`,
    [indexes],
  );
  return valid.length >= indexes.length;
}

/** Deletes what the state's tables have of the subjects. */
export async function clearSubjects(
  transaction: Transaction,
  chain: Chain,
  state: KeptState,
  subjects: readonly Address[],
): Promise<void> {
  for (const { name, subject: column } of state.tables)
    await transaction.query(`DELETE FROM ${name} WHERE ${column} = ANY($1::bytea[]) AND chain_id = $2`, [
      subjects.map(addressBytes),
      chain.id,
    ]);
}

interface PieceOfSubject {
  readonly subject: Address;
  readonly builtTo: number;
  readonly rowsMax: number;
}

/** Counts the rows of the subject above `builtTo`, up to the block that is given back; null: all. */
async function countRows(
  transaction: Transaction,
  chain: Chain,
  of: KeptOf,
  { subject, builtTo, rowsMax }: PieceOfSubject,
): Promise<{ readonly to: number | null; readonly rows: number }> {
  const { state } = of;
  const tables = countedTables(of);
  const [table] = tables;
  const columns = table.columns.join(', ');
  const conditions = state.rowsOf(bytesOf(subject));
  const rowsAbove = (columnsWanted: string): string =>
    tables
      .flatMap(({ name }) =>
        conditions.map(
          (condition) =>
            `SELECT ${columnsWanted} FROM ${name} WHERE chain_id = $1 AND block_number > $2 AND (${condition})`,
        ),
      )
      .join(' UNION ALL ');
  const [beyond] = await transaction.query<{ block_number: number }>(
    `SELECT block_number FROM (${rowsAbove('block_number')}) AS above ORDER BY block_number OFFSET $3 LIMIT 1`,
    [chain.id, builtTo, rowsMax],
  );
  // A block is counted whole, however many rows it has.
  const to = beyond === undefined ? null : Math.max(builtTo + 1, beyond.block_number - 1);
  const rows = await fillStagingTable(
    transaction,
    table,
    'added',
    `SELECT ${columns} FROM (${rowsAbove(columns)}) AS above WHERE block_number <= $3`,
    [chain.id, builtTo, to ?? PARTITION_TOP],
  );
  if (rows > 0) {
    const alone = `(SELECT ${bytesOf(subject)} AS subject, ${Number.MAX_SAFE_INTEGER} AS built_to)`;
    const added = stagingTableOf(table, 'added');
    await runDerived(transaction, await isSpread(transaction), (reading) => state.added(added, alone, reading));
  }
  return { to, rows };
}

/** The subject in SQL. */
export function bytesOf(subject: Address): string {
  return `'\\x${subject.slice(2)}'::bytea`;
}
