/** What a chain's ingestion is given. */
import type { Chain, ProofPolicy } from '@chainstead/chains';
import type { Clock, Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { BackfillProgress } from './backfill.ts';
import type { BlockWatcher } from './block-watcher.ts';
import type { Dataset } from './dataset.ts';
import type { KeepSettings } from './keep-settings.ts';
import type { SyncMetrics } from './sync-metrics.ts';

export interface ChainSyncSettings {
  /** Where history begins; null: at the head of the first start. */
  readonly startBlock: number | null;
  /** A head at the first start below which history without a start begins with the chain's first block. @default 0 */
  readonly wholeBelow?: number;
  /** Whether the chain may be without new blocks for any time, as a development chain is. @default false */
  readonly mayIdle?: boolean;
  /** Last block of a bounded run; null: follow for ever. */
  readonly endBlock: number | null;
  readonly proof: ProofPolicy;
  readonly backfillProof: 'none' | 'receipts';
  readonly backfillOrder: 'newest-first' | 'oldest-first';
  /** How much of the history of datasets whose rows can be dropped is kept. @default all */
  readonly keep?: KeepSettings | undefined;
  /** Blocks a second that the prover may read; auto: as many as the upstreams allow; 0: off. */
  readonly proverRate: number | 'auto';
}

export interface ChainSyncOptions {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
  /** Of these, the ones that are kept for this chain. */
  readonly datasets: readonly Dataset[];
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  readonly clock: Clock;
  readonly settings: ChainSyncSettings;
  /** Sees every block that is followed, inside the transaction that commits it. */
  readonly watcher?: BlockWatcher;
  /** Who recovers senders from signatures. @default this process */
  readonly recoverSigners?: RecoverSigners | undefined;
  /** Told when this process begins to fill history, and when there is none left. */
  onFilling?(isFilling: boolean): void;
  /** Progress of the backfill, for bars and logs. */
  onBackfill?(progress: BackfillProgress): void;
}
