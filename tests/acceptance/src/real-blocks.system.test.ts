/**
 * Every complete recorded block of thirteen chains goes through the recorded-chain node, the pool, the proof, the decoder
 * and Postgres, and comes out of the API as an independent decoder has it.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { type BlockRange, createMetricsRegistry, mergeRanges, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createChainSync, createSyncMetrics } from '@chainstead/sync/ingest';
import { listCoverage } from '@chainstead/sync/requests';
import {
  createScratchDatabase,
  recordedData,
  type ScratchDatabase,
  serveRecordedChain,
} from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { createApiUnderTest, readWallet, type ServedTransfer } from 'chainstead/src/testing/api-under-test.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indexRecordedBlocks, recordedRanges } from './recorded-blocks.ts';
import { decodeIndependently, type RecordedTransfer } from './recorded-transfers.ts';

const { folder, isMissing, title } = recordedData('data/evm');

/**
 * Listed as not recomputing, but it does by the rule of the OP specification: a deposit receipt's nonce is hashed only
 * with a receipt version (Canyon), and this Regolith block has none.
 */
const RECOMPUTES_THOUGH_UNLISTED = 'optimism/107353722';

/** Wallets that are read at the same time. */
const READERS = 6;

const read = (...path: string[]): unknown => JSON.parse(readFileSync(join(folder, ...path), 'utf8'));

describe.skipIf(isMissing)(title('recorded blocks'), () => {
  const chainIds = (isMissing ? {} : read('chain-ids.json')) as Record<string, number>;
  const roots = (isMissing ? {} : read('receipts-roots.json')) as {
    receiptsRoot_recomputes: string[];
    receiptsRoot_does_not: string[];
  };
  const chains = createChainRegistry({
    additional: Object.entries(chainIds)
      .filter(([, id]) => createChainRegistry().find(id) === null)
      .map(([key, id]) => ({ key, id })),
  });
  const proves = (block: string): boolean =>
    roots.receiptsRoot_recomputes.includes(block) || block === RECOMPUTES_THOUGH_UNLISTED;
  let scratch: ScratchDatabase;
  /** Refused blocks add nothing to it. */
  let empty: ScratchDatabase;

  beforeAll(async () => {
    [scratch, empty] = await Promise.all([createScratchDatabase(), createScratchDatabase()]);
  });
  afterAll(() => Promise.all([scratch.drop(), empty.drop()]));

  it.each(Object.entries(chainIds))(
    'of %s are indexed with the right level, and served as they are',
    async (name, id) => {
      const chain = chains.get(id);
      const ranges = recordedRanges(folder, name);
      await indexRecordedBlocks({ database: scratch.database, chain, folder, name, ranges });

      const coverage = await listCoverage(scratch.database, chain.id);
      const levels = new Map<string, string>(
        coverage.flatMap(({ range, proof }) =>
          blocksOf(range).map((block) => [`${name}/${block}`, proof] as const),
        ),
      );
      const recorded = ranges.flatMap(blocksOf).map((block) => `${name}/${block}`);
      expect([...levels.keys()].toSorted()).toEqual(recorded.toSorted());
      for (const block of recorded) {
        const level = levels.get(block);
        if (proves(block)) expect(`${block} ${level}`).toBe(`${block} receipts`);
        else expect(['unproven', 'not-applicable', 'cross'], block).toContain(level);
      }

      const api = await createApiUnderTest(scratch.database, chains);
      const expected = recorded.flatMap((block) => decodeIndependently(folder, block, chain));
      const wallets = new Set(expected.flatMap((transfer) => [transfer.from, transfer.to])).values();
      const served = new Map<string, RecordedTransfer>();
      const readSome = async (): Promise<void> => {
        for (const wallet of wallets)
          for (const transfer of await readWallet(api, `0x${id.toString(16)}`, wallet)) {
            const one = fromApi(transfer);
            expect([one.from, one.to]).toContain(wallet);
            served.set(`${one.block} ${one.transactionIndex} ${one.logIndex}`, one);
          }
      };
      await Promise.all(Array.from({ length: READERS }, readSome));
      expect([...served.values()].toSorted(byPlace)).toEqual(expected.toSorted(byPlace));
    },
  );

  it.each((roots.receiptsRoot_does_not ?? []).filter((block) => !proves(block)))(
    'refuses %s under the policy strict where the header commits to receipts',
    async (block) => {
      const [name = '', number = ''] = block.split('/');
      const chain = chains.get(chainIds[name] ?? 0);
      if (chain.receiptsRoot === 'none') return expect(chain.key).toBe('cronos');
      const range = { from: Number(number), to: Number(number) };
      const { database } = empty;
      const refused = indexRecordedBlocks({
        database,
        chain,
        folder,
        name,
        ranges: [range],
        proof: 'strict',
      });
      await expect(refused).rejects.toMatchObject({ code: 'UNPROVEN_BLOCK' });
      expect(await listCoverage(database, chain.id)).toEqual([]);
      expect(await database.query(sql`SELECT 1 FROM erc20_transfer_sides LIMIT 1`)).toEqual([]);
    },
  );

  it.each(consecutiveRuns(chainIds))(
    'the run %s %o is followed block by block as a linked chain',
    async (name, range) => {
      const chain = chains.get(chainIds[name] ?? 0);
      const own = await createScratchDatabase();
      const node = await serveRecordedChain({ folder, chain: name, blocks: range });
      const metrics = createMetricsRegistry();
      const pool = createUpstreamPool({ chain, upstreams: [{ url: node.url }], logger: silentLogger(), metrics });
      try {
        await pool.start();
        await createChainSync({
          chain,
          pool,
          datasets,
          metrics: createSyncMetrics(metrics),
          database: own.database,
          logger: silentLogger(),
          clock: systemClock,
          settings: {
            startBlock: range.from,
            endBlock: range.to,
            proof: 'record',
            backfillProof: 'receipts',
            backfillOrder: 'newest-first',
            verifyBlocksPerSecond: 0,
          },
        }).run(AbortSignal.timeout(180_000));
        const covered = mergeRanges((await listCoverage(own.database, chain.id)).map((one) => one.range));
        expect(covered).toEqual([range]);
        const [linked] = await own.database.query<{ links: number }>(
          sql`SELECT count(*)::int AS links FROM blocks a JOIN blocks b
           ON a.chain_id = b.chain_id AND a.block_number = b.block_number - 1 AND a.block_hash = b.parent_hash`,
        );
        expect(linked?.links).toBe(range.to - range.from);
        const expected = blocksOf(range).flatMap((block) =>
          decodeIndependently(folder, `${name}/${block}`, chain),
        );
        const [count] = await own.database.query<{ n: number }>(
          sql`SELECT count(*)::int AS n FROM erc20_transfer_sides WHERE direction <> 1`,
        );
        expect(count?.n).toBe(expected.length);
      } finally {
        await pool.close();
        await node.close();
        await own.drop();
      }
    },
    90_000,
  );
});

function consecutiveRuns(chainIds: Readonly<Record<string, number>>): [string, BlockRange][] {
  return Object.keys(chainIds).flatMap((name) =>
    recordedRanges(folder, name)
      .filter((range) => range.to > range.from)
      .map((range): [string, BlockRange] => [name, range]),
  );
}

function blocksOf(range: BlockRange): number[] {
  return Array.from({ length: range.to - range.from + 1 }, (_, index) => range.from + index);
}

function fromApi(transfer: ServedTransfer): RecordedTransfer {
  return {
    token: transfer.address,
    from: transfer.from_address,
    to: transfer.to_address,
    value: transfer.value,
    block: transfer.block_number,
    transaction: transfer.transaction_hash,
    transactionIndex: transfer.transaction_index,
    logIndex: transfer.log_index,
  };
}

function byPlace(a: RecordedTransfer, b: RecordedTransfer): number {
  return Number(a.block) - Number(b.block) || a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex;
}
