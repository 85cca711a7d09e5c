import type { ProofPolicy } from '@chainstead/chains';
import type { Clock, Logger } from '@chainstead/core';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { HistorySources } from '@chainstead/sources';
import type { CommitDependencies } from '../commit/commit-followed.ts';
import type { ClaimOwner } from '../coverage/claims.ts';
import type { RetentionSettings } from '../coverage/retention-settings.ts';
import type { UnavailableBlocksError } from '../errors.ts';
import type { DatasetFailedError } from '../read/dataset-failures.ts';
import type { DecodedRange } from '../read/read-range.ts';
import type { Rereads } from '../read/rereads.ts';
import type { SyncMetrics } from '../sync-metrics.ts';
import type { RangeJournal } from './range-guard.ts';

/** Proves logs by whole blocks that are read and committed for other datasets. */
export type ProveRead = (options: BackfillOptions, read: DecodedRange, signal: AbortSignal) => Promise<void>;

export interface BackfillOptions extends CommitDependencies {
  readonly pool: UpstreamPool;
  /** Read before nodes, in order. @default none */
  readonly sources?: HistorySources | undefined;
  readonly owner: ClaimOwner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  readonly order: 'newest-first' | 'oldest-first';
  /** `receipts` proves blocks before they are served; `none` leaves that to the prover. */
  readonly proof: 'none' | 'receipts';
  readonly policy: ProofPolicy;
  readonly recoverSigners?: RecoverSigners | undefined;
  readonly rereads?: Rereads;
  /** @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
  /** `replace` also reads covered blocks again (reindex). */
  readonly kind: 'add' | 'replace';
  /** @default logs are left to the prover, which reads their blocks again */
  readonly proveRead?: ProveRead | undefined;
  /** A reorg may still replace the blocks: their hashes are checked. @default false */
  readonly isUnsettled?: boolean;
  /** `help`: another process fills the same blocks. @default 'backfill' */
  readonly purpose?: 'backfill' | 'help';
  /** @default no work is quarantined */
  readonly journal?: RangeJournal;
  onProgress?(progress: BackfillProgress): void;
}

export interface BackfillProgress {
  readonly done: number;
  readonly total: number;
  readonly logs: number;
  /** The first gap; null: none. */
  readonly unavailable: UnavailableBlocksError | DatasetFailedError | null;
}
