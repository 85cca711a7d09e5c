import type { Clock, Logger } from '@chainstead/core';
import type { Database, Leadership } from '@chainstead/db';
import type { SyncMetrics } from '@chainstead/sync/ingest';
import type { AptosDataset } from '../dataset.ts';
import type { Fullnodes } from '../fullnode/fullnodes.ts';

export interface VersionWork {
  readonly fullnodes: Fullnodes;
  readonly database: Database;
  readonly datasets: readonly AptosDataset[];
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
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
