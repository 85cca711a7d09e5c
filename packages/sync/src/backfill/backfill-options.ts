import type { ProofPolicy } from '@chainstead/chains';
import type { Clock, Logger } from '@chainstead/core';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { CommitDependencies } from '../commit/commit-followed.ts';
import type { ClaimOwner } from '../coverage/claims.ts';
import type { RetentionSettings } from '../coverage/retention-settings.ts';
import type { UnavailableBlocksError } from '../errors.ts';
import type { DatasetFailedError } from '../read/dataset-failures.ts';
import type { Rereads } from '../read/rereads.ts';
import type { SyncMetrics } from '../sync-metrics.ts';
import type { RangeJournal } from './range-guard.ts';

export interface BackfillOptions extends CommitDependencies {
  readonly pool: UpstreamPool;
  readonly owner: ClaimOwner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  readonly order: 'newest-first' | 'oldest-first';
  /**
   * `receipts` reads whole blocks and proves them before they are served; `none` reads filtered logs, which the prover
   * proves later.
   */
  readonly proof: 'none' | 'receipts';
  readonly policy: ProofPolicy;
  /** Recovers senders from signatures. @default in this process */
  readonly recoverSigners?: RecoverSigners | undefined;
  /** Delay before a block that contradicts its own header is fetched again. {@link backfill} sets its own. */
  readonly rereads?: Rereads;
  /** Blocks below a dataset's retention window are not read for it. @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
  /** `replace` also reads covered blocks again (reindex). */
  readonly kind: 'add' | 'replace';
  /** Blocks that a reorg may still replace: each must be indexed with the hash that was read. @default false */
  readonly isUnsettled?: boolean;
  /** `help`: another process fills the same blocks and continues if this one ends. @default 'backfill' */
  readonly purpose?: 'backfill' | 'help';
  /** Finds blocks that end the process. @default no work is quarantined */
  readonly journal?: RangeJournal;
  onProgress?(progress: BackfillProgress): void;
}

export interface BackfillProgress {
  /** Blocks done by any process since the start of this call, and the total. */
  readonly done: number;
  readonly total: number;
  /** Logs read by this process. */
  readonly logs: number;
  /**
   * First part of a block that was unavailable on all upstreams or that a dataset could not decode: the datasets have a
   * gap there. Null: none.
   */
  readonly unavailable: UnavailableBlocksError | DatasetFailedError | null;
}
