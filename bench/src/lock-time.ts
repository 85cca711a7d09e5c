import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { datasets } from '@chainstead/datasets';
import type { Database } from '@chainstead/db';
import { createUpstreamPool } from '@chainstead/rpc';
import { backfillRanges, createSyncMetrics } from '@chainstead/sync';
import type { BenchNode, ScratchServer } from '@chainstead/testkit';
import { CHAIN_ID } from './bench-chain.ts';

/** What is filled: blocks 1 to `blocks`, by this process, with its own datasets. */
export interface LockPlan {
  readonly server: ScratchServer;
  readonly node: BenchNode;
  readonly blocks: number;
  /** Names; absent: all. */
  readonly datasets?: readonly string[];
}

/** @returns seconds for which commits held the chain's lock, which one of them holds at a time, for a million logs */
export async function measureLockTime({ server, node, blocks, datasets: names }: LockPlan): Promise<number> {
  const scratch = await server.createDatabase();
  const chain = createChainRegistry().get(CHAIN_ID);
  const registry = createMetricsRegistry();
  const logger = silentLogger();
  const pool = createUpstreamPool({ chain, upstreams: [{ url: node.url }], logger, metrics: registry });
  try {
    await pool.start();
    const timed = timeLocks(scratch.database);
    const { logs } = await backfillRanges(
      {
        chain,
        pool,
        database: timed.database,
        datasets: datasets.filter(({ name }) => names === undefined || names.includes(name)),
        logger,
        metrics: createSyncMetrics(registry),
        clock: systemClock,
        proof: chain.proofPolicy,
        backfillProof: 'none',
      },
      [{ from: 1, to: blocks }],
      new AbortController().signal,
    );
    return (timed.milliseconds() / 1_000 / logs) * 1_000_000;
  } finally {
    await pool.close();
    await scratch.drop();
  }
}

/** The database, told how long its transactions last from the moment when they have the chain's lock. */
function timeLocks(database: Database): { readonly database: Database; milliseconds(): number } {
  let milliseconds = 0;
  const timed: Database = {
    ...database,
    transaction: async (work) => {
      let lockedAt: number | null = null;
      try {
        return await database.transaction((transaction) =>
          work({
            ...transaction,
            query: async <Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> => {
              const rows = await transaction.query<Row>(text, values);
              if (/FROM locks WHERE name/.test(text)) lockedAt ??= performance.now();
              return rows;
            },
          }),
        );
      } finally {
        if (lockedAt !== null) milliseconds += performance.now() - lockedAt;
      }
    },
  };
  return { database: timed, milliseconds: () => milliseconds };
}
