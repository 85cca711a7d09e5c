import { type BlockRange, errorText, sleepUnlessAborted, subtractRanges } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { readChainState } from '../checkpoint.ts';
import { listCoverage } from '../coverage/coverage.ts';
import { notNeeded, readRetainedFrom } from '../coverage/retained-from.ts';
import { type Partition, readPartitionsOf, SEALED } from '../partitions/read-partitions.ts';
import type { RetentionOptions } from './delete-old-rows.ts';

export type SealOptions = Omit<RetentionOptions, 'metrics' | 'lockWaitMs'>;

const LOOK_AGAIN_MS = 60_000;

/** Rebuilds indexes, a third empty after random inserts. Until the signal aborts. */
export async function keepSealing(options: SealOptions, signal: AbortSignal): Promise<void> {
  const { chain, clock, logger } = options;
  while (!signal.aborted) {
    await sleepUnlessAborted(clock, LOOK_AGAIN_MS, signal);
    if (signal.aborted) return;
    try {
      await sealFullPartitions(options, signal);
    } catch (error) {
      if (!signal.aborted)
        logger.warn(
          { chain: chain.key, error: errorText(error) },
          'A full partition could not be sealed, it is tried again',
        );
    }
  }
}

export async function sealFullPartitions(
  { chain, database, datasets, retention, logger }: SealOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const partitioned = datasets.filter(({ table }) => table.isPartitioned);
  if (partitioned.length === 0) return [];
  const state = await readChainState(database, chain.id);
  const old = notNeeded(chain, datasets, await readRetainedFrom(database, { chain, retention }));
  const coverage = [...(await listCoverage(database, chain.id)), ...old];
  const sealed: string[] = [];
  const partitions = await readPartitionsOf(
    database,
    partitioned.map(({ table }) => table),
    chain.id,
  );
  for (const { name, table } of partitioned) {
    const covered = coverage.filter(({ dataset }) => dataset === name).map(({ range }) => range);
    const historyStart = state?.historyStart ?? Math.min(...covered.map(({ from }) => from));
    for (const partition of partitions.get(table.name) ?? []) {
      if (signal.aborted) return sealed;
      if (
        partition.isSealed ||
        !partition.isOwn ||
        !isFull(partition, covered, historyStart, chain.reorgDepthMax)
      )
        continue;
      await sealPartition(database, partition);
      logger.info(
        { chain: chain.key, partition: partition.name, rows: partition.rows },
        'A full partition was sealed',
      );
      sealed.push(partition.name);
    }
  }
  return sealed;
}

function isFull(
  { from, to }: Partition,
  covered: readonly BlockRange[],
  historyStart: number,
  reorgDepthMax: number,
): boolean {
  const wanted = { from: Math.max(from, historyStart), to: to - 1 };
  const newest = covered.reduce((highest, range) => Math.max(highest, range.to), 0);
  return (
    wanted.from <= wanted.to && to + reorgDepthMax <= newest && subtractRanges([wanted], covered).length === 0
  );
}

/** First drops invalid copies of an interrupted rebuild. */
async function sealPartition(database: Database, { name }: Partition): Promise<void> {
  const indexes = await database.query<{ name: string; isValid: boolean; isCopy: boolean }>(
    sql`SELECT made.oid::regclass::text AS name, made.relname ~ '_cc(new|old)[0-9]*$' AS is_copy, pg_index.indisvalid AS is_valid FROM pg_index
       JOIN pg_class AS made ON made.oid = pg_index.indexrelid JOIN pg_am ON pg_am.oid = made.relam
      WHERE pg_index.indrelid = to_regclass(${name}) AND pg_am.amname = 'btree'`,
  );
  for (const index of indexes)
    if (!index.isValid && index.isCopy)
      await database.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${rawSql(index.name)}`);
  // Otherwise index builds would dirty every page (hint bits).
  await database.query(sql`VACUUM (FREEZE, SKIP_LOCKED) ${rawSql(name)}`);
  for (const index of indexes.filter(({ isValid }) => isValid)) {
    await database.query(sql`ALTER INDEX ${rawSql(index.name)} SET (fillfactor = 100)`);
    await database.query(sql`REINDEX INDEX CONCURRENTLY ${rawSql(index.name)}`);
  }
  await database.query(sql`COMMENT ON TABLE ${rawSql(name)} IS '${rawSql(SEALED)}'`);
}
