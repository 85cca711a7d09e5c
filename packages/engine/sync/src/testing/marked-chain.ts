/** A scripted chain whose marks are stored by the engine's own commits, in single or concurrent steps. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type BlockRange, createMetricsRegistry, type Log, rangeSize, silentLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { type Checkpoint, saveChainStart } from '../checkpoint.ts';
import { commitFollowed } from '../commit/commit-followed.ts';
import { commitRange } from '../commit/commit-range.ts';
import { commitSubject } from '../commit/commit-settled.ts';
import { createClaimOwner } from '../coverage/claims.ts';
import { listCoverage, missingCoverage } from '../coverage/coverage.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { registerProjections } from '../projections/projection-record.ts';
import { decodeBatch, ROWS_AT_ONCE } from '../read/decoded-batch.ts';
import { type ProvenBlock, readProvenBlock } from '../read/proven-block.ts';
import { readRangeFast } from '../read/read-range.ts';
import { createKnownContracts } from '../rows/known-contracts.ts';
import { createSyncMetrics } from '../sync-metrics.ts';
import { verifyRange } from '../verify/verify-range.ts';
import { markedAccount, marks } from './marks-dataset.ts';

/**
 * A write to the chain's stored blocks. Ranges are cut to the blocks that the step may change; an empty range is a
 * no-op.
 */
export type Step =
  /** `dropEvery`: the upstream omits every nth log; 0: none. */
  | { readonly kind: 'backfill'; readonly range: BlockRange; readonly dropEvery: number }
  | { readonly kind: 'reindex'; readonly range: BlockRange; readonly dropEvery: number }
  | { readonly kind: 'verify'; readonly range: BlockRange }
  | { readonly kind: 'subject'; readonly range: BlockRange; readonly wallet: number }
  | { readonly kind: 'follow'; readonly blocks: number }
  | { readonly kind: 'reorg'; readonly depth: number };

export interface MarkedChain {
  readonly chain: Chain;
  readonly chainId: number;
  /** Last block of the backfill, which begins at 1. */
  readonly lastBackfilled: number;
  take(step: Step): Promise<void>;
  /** Uses these datasets for the following steps. */
  use(...datasets: readonly Dataset[]): void;
  /** Returns the marks of the canonical chain, as text. */
  truth(): string[];
  close(): Promise<void>;
}

export const LAST_BACKFILLED = 24;
const WALLETS = 6;

export interface MarkedChainOptions {
  /** Rows decoded at a time. A low value gives commits many parts. @default ROWS_AT_ONCE */
  readonly rowsAtOnce?: number;
  /** @default marks */
  readonly dataset?: Dataset;
  /** Further datasets of the same logs. */
  readonly others?: readonly Dataset[];
}

export async function openMarkedChain(
  database: Database,
  chainId: number,
  { rowsAtOnce = ROWS_AT_ONCE, dataset = marks as Dataset, others = [] }: MarkedChainOptions = {},
): Promise<MarkedChain> {
  const scripted = createScriptedChain({ seed: chainId, chainId, wallets: WALLETS });
  scripted.mine(LAST_BACKFILLED + 4);
  const node = await serveScriptedChain(scripted);
  const chain = createChainRegistry({
    additional: [{ key: `marked-${chainId}`, id: chainId, headerHash: true, proofPolicy: 'strict' }],
  }).get(chainId);
  const registry = createMetricsRegistry();
  const pool = createUpstreamPool({
    chain,
    // The second one confirms blocks that nothing links yet.
    upstreams: [{ url: node.url }, { url: node.url }],
    logger: silentLogger(),
    metrics: registry,
  });
  await pool.start();
  const owner = await createClaimOwner(database);
  await saveChainStart(database, chain, 1, LAST_BACKFILLED + 1);
  const signal = new AbortController().signal;
  let datasets: readonly Dataset[] = [dataset, ...others];
  await registerProjections(database, chain, datasets);
  const shared = { database, chain, knownContracts: createKnownContracts(), rowsAtOnce };
  const metrics = createSyncMetrics(registry);
  let checkpoint: Checkpoint | null = null;

  const readBlocks = async (range: BlockRange): Promise<ProvenBlock[]> => {
    const blocks: ProvenBlock[] = [];
    for (let number = range.from; number <= range.to; number++) {
      const block = await readProvenBlock({ pool, chain, policy: 'strict' }, number, { signal });
      if (block === null) throw new Error(`Block ${number} could not be read`);
      blocks.push(block);
    }
    return blocks;
  };
  const readFast = (range: BlockRange) => readRangeFast(pool, range, { topics: marks.topics(chain) }, signal);
  const commitRead = async (range: BlockRange, kind: 'add' | 'replace', dropEvery: number): Promise<void> => {
    if (!(await owner.claim(chain.id, range, 'backfill'))) return;
    const read = await readFast(range);
    const logs = read.logs.filter((_, index) => dropEvery === 0 || index % dropEvery !== 1);
    const batch = decodeBatch(chain, datasets, logs, read.blocks, rowsAtOnce);
    await commitRange({ ...shared, datasets }, { read, batch, datasets, owner, kind });
  };
  const follow = async (ancestor: number | null): Promise<void> => {
    const from = (ancestor ?? checkpoint?.number ?? LAST_BACKFILLED) + 1;
    const blocks = await readBlocks({ from, to: scripted.head });
    if (blocks.length > 0)
      checkpoint = await commitFollowed({ ...shared, datasets }, { from: checkpoint, ancestor, blocks });
  };

  const take = async (step: Step): Promise<void> => {
    switch (step.kind) {
      case 'backfill': {
        const open = missingCoverage(step.range, ['marks'], await listCoverage(database, chain.id));
        for (const { range } of open) await commitRead(range, 'add', step.dropEvery);
        return;
      }
      case 'reindex':
        return commitRead(step.range, 'replace', step.dropEvery);
      case 'verify': {
        const open = missingCoverage(step.range, ['marks'], await listCoverage(database, chain.id));
        const uncovered = open.reduce((sum, { range }) => sum + rangeSize(range), 0);
        if (uncovered > 0 || !(await owner.claim(chain.id, step.range, 'verify'))) return;
        const options = {
          ...shared,
          datasets,
          pool,
          policy: 'strict' as const,
          metrics,
          owner,
          logger: silentLogger(),
        };
        await Array.fromAsync(verifyRange(options, step.range, 4, signal));
        return;
      }
      case 'subject': {
        const { logs, blocks } = await readFast(step.range);
        const wallet = scripted.wallets[step.wallet];
        const own = logs.filter((log: Log) => markedAccount(log) === wallet);
        await commitSubject(shared, { datasets, logs: own, blocks, record: async () => {} });
        return;
      }
      case 'follow':
        scripted.mine(step.blocks);
        return follow(null);
      case 'reorg': {
        if (checkpoint === null) return;
        const depth = Math.min(step.depth, checkpoint.number - LAST_BACKFILLED - 1);
        if (depth < 1) return;
        scripted.reorg(depth, depth + 1);
        return follow(checkpoint.number - depth);
      }
    }
  };

  return {
    chain,
    chainId,
    use: (...next) => {
      datasets = next;
    },
    lastBackfilled: LAST_BACKFILLED,
    take,
    truth: () =>
      scripted
        .expectedTransfers({ from: 1, to: scripted.head })
        .map((row) => `${row.to} ${row.blockNumber} ${row.logIndex} ${row.value} ${row.blockHash}`)
        .sort(),
    close: async () => {
      await owner.close();
      await pool.close();
      await node.close();
    },
  };
}
