import type { Chain, ProofPolicy } from '@chainstead/chains';
import type { Clock, Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { HistorySources } from '@chainstead/sources';
import type { BackfillProgress } from './backfill/backfill-options.ts';
import type { RetentionSettings } from './coverage/retained-from.ts';
import type { Dataset } from './dataset/dataset.ts';
import type { BlockJournal } from './follow/block-guard.ts';
import type { BlockWatcher } from './read/block-watcher.ts';
import type { SyncMetrics } from './sync-metrics.ts';

export interface ChainSyncSettings {
  /** First block to index; null: the head at the first start. */
  readonly startBlock: number | null;
  /** With a lower head and no `startBlock`, a first start begins at the first block. @default 0 */
  readonly wholeBelow?: number;
  /** As a development chain. @default false */
  readonly mayIdle?: boolean;
  /** Null: follow forever. */
  readonly endBlock: number | null;
  readonly proof: ProofPolicy;
  readonly backfillProof: 'none' | 'receipts';
  readonly backfillOrder: 'newest-first' | 'oldest-first';
  /** @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
  /** auto: what the upstreams allow; 0: off. */
  readonly verifyBlocksPerSecond: number | 'auto';
}

export interface ChainSyncOptions {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  /** Read before nodes, in order. @default none */
  readonly sources?: HistorySources | undefined;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  readonly clock: Clock;
  readonly settings: ChainSyncSettings;
  readonly watcher?: BlockWatcher;
  /** @default no work is quarantined */
  readonly journal?: BlockJournal;
  /** @default in this process */
  readonly recoverSigners?: RecoverSigners | undefined;
  /** False when no blocks are left. */
  onFilling?(isFilling: boolean): void;
  onBackfill?(progress: BackfillProgress): void;
}
