import type { Clock, Counter, Gauge, Histogram, Logger } from '@chainstead/core';
import type { Database, Leadership } from '@chainstead/db';
import type { AptosDataset } from '../dataset.ts';
import type { Fullnodes } from '../fullnode/fullnodes.ts';

export interface AptosSyncMetrics {
  readonly headBlock: Gauge<'chain'>;
  readonly checkpointBlock: Gauge<'chain'>;
  readonly blocks: Counter<'chain' | 'kind'>;
  readonly rows: Counter<'chain' | 'dataset'>;
  readonly commitSeconds: Histogram<'chain' | 'kind'>;
  readonly coveredBlocks: Gauge<'chain' | 'dataset' | 'proof'>;
  readonly gapBlocks: Gauge<'chain' | 'dataset'>;
  readonly stalled: Gauge<'chain'>;
  readonly leader: Gauge<'chain'>;
  readonly standby: Gauge<'chain'>;
}

export interface VersionWork {
  readonly fullnodes: Fullnodes;
  readonly database: Database;
  readonly datasets: readonly AptosDataset[];
  readonly logger: Logger;
  readonly metrics: AptosSyncMetrics;
  readonly clock: Clock;
  readonly leadership?: Pick<Leadership, 'confirm'>;
  readonly batch?: Partial<BatchLimits>;
  onCommit?(committed: CommittedBatch): void;
}

export interface BatchLimits {
  readonly versions: number;
  readonly rows: number;
}

export interface CommittedBatch {
  readonly kind: 'follow' | 'backfill';
  readonly versions: number;
  readonly rows: number;
  readonly last: number;
}

export interface AptosSyncSettings {
  /** Null: the first start's head. */
  readonly startVersion: number | null;
  readonly endVersion: number | null;
  /** @default 500 */
  readonly pollMs?: number;
}

export interface AptosSyncOptions extends VersionWork {
  readonly settings: AptosSyncSettings;
}
