import type { Chain } from '@chainstead/chains';
import type { Clock, Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { RetentionSettings } from '../coverage/retention-settings.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { SyncMetrics } from '../sync-metrics.ts';

export interface RetentionOptions {
  readonly chain: Chain;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  /** @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<SyncMetrics, 'droppedRows'>;
  /** How long a detachment waits for earlier transactions; 0: unlimited. @default 1000 */
  readonly lockWaitMs?: number | undefined;
}
