import { type BlockRange, type ChainId, parseChainId } from '@chainstead/core';
import {
  type Database,
  isDistributed,
  type RunStatement,
  rawSql,
  runStatements,
  sql,
  type Transaction,
} from '@chainstead/db';
import { removeCoverage } from '../coverage/coverage.ts';
import { removeSubjectRanges } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { isNamedAsPartition } from '../partitions/read-partitions.ts';
import { lockChainCommits } from '../rows/commit-lock.ts';

/** Also the coverage of all subjects, and values derived from rows there. */
export async function uncover(
  database: Pick<Database, 'transaction'>,
  chainId: ChainId,
  dataset: Pick<Dataset, 'name' | 'projections'>,
  range: BlockRange,
): Promise<void> {
  await database.transaction((transaction) => uncoverIn(transaction, chainId, dataset, range));
}

/** Takes the chain's commit lock. */
export async function uncoverIn(
  transaction: Transaction,
  chainId: ChainId,
  { name, projections = [] }: Pick<Dataset, 'name' | 'projections'>,
  range: BlockRange,
): Promise<void> {
  await lockChainCommits(transaction, { id: chainId });
  await removeCoverage(transaction, chainId, [name], range);
  await removeSubjectRanges(transaction, chainId, name, range);
  await runStatements(
    transaction,
    projections.flatMap((state) => state.dropped?.(chainId, range) ?? []),
  );
}

type NamedTable = { readonly table: Pick<Dataset['table'], 'name'> };

/** Earlier statements still read it. @throws if they take too long */
export async function detachPartition(
  database: Pick<Database, 'query'>,
  run: RunStatement,
  { table }: NamedTable,
  partition: string,
): Promise<void> {
  const how = (await isDistributed(database, table.name)) ? '' : ' CONCURRENTLY';
  await run(rawSql(`ALTER TABLE ${table.name} DETACH PARTITION ${partition}${how}`));
}

export interface DetachedPartition {
  readonly table: string;
  readonly name: string;
  readonly chainId: ChainId;
  /** Absent: derived by reading all rows. */
  readonly blocks?: BlockRange;
  readonly isPending: boolean;
}

/** One statement for all tables. @param tables names as in SQL */
export async function findDetached(
  source: Pick<Database, 'query'>,
  tables: readonly string[],
): Promise<readonly DetachedPartition[]> {
  const partitions = await source.query<Omit<DetachedPartition, 'chainId' | 'blocks'> & { chain: string }>(
    // Names of thousands of attached partitions would be compared with each table.
    sql`WITH part AS MATERIALIZED (
         SELECT pg_class.oid, relname, relnamespace, inhparent FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid AND inhdetachpending
          WHERE relkind = 'r' AND (NOT relispartition OR inhdetachpending) AND relname ~ '[_$][0-9]+_[0-9]+$')
       SELECT wanted AS table, part.oid::regclass::text AS name, substring(part.relname FROM '([0-9]+)_[0-9]+$') AS chain,
         inhparent IS NOT NULL AS is_pending
       FROM part JOIN pg_class AS whole ON whole.relnamespace = part.relnamespace AND (inhparent IS NULL OR inhparent = whole.oid)
         JOIN unnest(${tables}::text[]) AS wanted ON whole.oid = to_regclass(wanted)
      WHERE ${isNamedAsPartition('part', 'whole')} ORDER BY part.relname`,
  );
  return partitions.map(({ chain, ...partition }) => ({ ...partition, chainId: parseChainId(Number(chain)) }));
}

/** Removes coverage recorded until now. @throws if earlier statements take too long */
export async function dropDetached(
  database: Database,
  run: RunStatement,
  dataset: Pick<Dataset, 'projections' | 'name' | 'table'>,
  { name, chainId, isPending, blocks }: Omit<DetachedPartition, 'table'>,
): Promise<void> {
  if (isPending) await run(rawSql(`ALTER TABLE ${dataset.table.name} DETACH PARTITION ${name} FINALIZE`));
  const range = blocks ?? (await blocksOf(database, name));
  if (range !== null) await uncover(database, chainId, dataset, range);
  await run(rawSql(`DROP TABLE ${name}`));
}

async function blocksOf(database: Pick<Database, 'query'>, table: string): Promise<BlockRange | null> {
  const [blocks] = await database.query<BlockRange>(
    sql`SELECT min(block_number) AS from, max(block_number) AS to FROM ${rawSql(table)} HAVING count(*) > 0`,
  );
  return blocks ?? null;
}
