/** Recorded blocks, served by the recorded-chain node and indexed through a real pool and the engine's backfill. */

import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Chain } from '@chainstead/chains';
import { type BlockRange, createMetricsRegistry, mergeRanges, silentLogger, systemClock } from '@chainstead/core';
import { datasets } from '@chainstead/datasets';
import type { Database } from '@chainstead/db';
import { createUpstreamPool } from '@chainstead/rpc';
import { backfillRanges, createSyncMetrics, reindexRanges } from '@chainstead/sync';
import { serveRecordedChain } from '@chainstead/testkit';

/** The blocks of a chain that are recorded whole. @param folder of all recordings */
export function recordedRanges(folder: string, name: string): BlockRange[] {
  return mergeRanges(
    readdirSync(join(folder, name))
      .filter((entry) => /^\d+$/.test(entry))
      .map((entry) => ({ from: Number(entry), to: Number(entry) })),
  );
}

/** Indexes recorded blocks of a chain, proven where that is possible. @throws UnprovenBlockError under the policy `strict` */
export async function indexRecordedBlocks(options: {
  readonly database: Database;
  readonly chain: Chain;
  readonly folder: string;
  /** The chain's folder. */
  readonly name: string;
  /** Default: all that are recorded whole. */
  readonly ranges?: readonly BlockRange[];
  /** Default: `record`. */
  readonly proof?: 'record' | 'strict';
  /** Default: by the receipts. */
  readonly backfillProof?: 'none' | 'receipts';
  /** Whether they are indexed already, and are to be read again. Default: no. */
  readonly again?: boolean;
}): Promise<void> {
  const { database, folder, name, ranges = recordedRanges(folder, name) } = options;
  const index = options.again === true ? reindexRanges : backfillRanges;
  const { proof = 'record', backfillProof = 'receipts' } = options;
  const chain = { ...options.chain, finalizedTag: true };
  const node = await serveRecordedChain({ folder, chain: name });
  const registry = createMetricsRegistry();
  const pool = createUpstreamPool({
    chain,
    upstreams: [{ url: node.url }],
    logger: silentLogger(),
    metrics: registry,
  });
  try {
    await pool.start();
    await index(
      {
        chain,
        pool,
        database,
        datasets,
        logger: silentLogger(),
        clock: systemClock,
        metrics: createSyncMetrics(registry),
        proof,
        backfillProof,
      },
      ranges,
      AbortSignal.timeout(60_000),
    );
  } finally {
    await pool.close();
    await node.close();
  }
}

/**
 * Blocks that are recorded in part (transactions as hashes, or all but one left out), laid out as if they were whole, so that
 * they can be served. To be indexed unproven, with {@link unprovable} facts. @returns a folder that the caller removes
 */
export async function layOutPartialBlocks(folder: string, name: string, blocks: readonly string[]): Promise<string> {
  const laidOut = await mkdtemp(join(tmpdir(), 'chainstead-partial-'));
  const read = (...path: string[]): string => readFileSync(join(folder, ...path), 'utf8');
  await writeFile(join(laidOut, 'chain-ids.json'), read('chain-ids.json'));
  for (const path of blocks) {
    const receipts = read(path, 'receipts.json');
    const { transactions, ...header } = JSON.parse(read(path, 'block.json'));
    const one = join(laidOut, name, String(Number(header.number)));
    await mkdir(one, { recursive: true });
    await writeFile(join(one, 'block.json'), JSON.stringify({ ...header, transactions: transactions.map(asObject) }));
    await writeFile(join(one, 'receipts.json'), receipts);
  }
  return laidOut;
}

const asObject = (transaction: unknown): unknown =>
  typeof transaction === 'string' ? { hash: transaction } : transaction;

/** The chain without what its headers prove: of a block that is recorded in part they prove another one. */
export function unprovable(chain: Chain): Chain {
  return { ...chain, receiptsRoot: 'none', bloom: 'untrusted', headerHash: false, proofPolicy: 'record' };
}
