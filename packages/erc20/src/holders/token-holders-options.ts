import type { OnDemandBackfill } from '@chainstead/data-api';
import type { NodeReadQueue } from '@chainstead/node-reads';
import type { SubjectProjections } from '@chainstead/sync';
import type { ReadTokenPrices } from '../token-values/token-prices.ts';

export interface TokenHoldersOptions {
  readonly nodeReads: NodeReadQueue;
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract'>;
  /** Time that a request waits for the work it causes (`ON_DEMAND_WAIT_MS`). Milliseconds. */
  readonly waitMs: number;
  /** Maximum age of a read if transfers don't determine balances (`BALANCE_MAX_AGE_MS`). Milliseconds. */
  readonly liveMaxAgeMs: number;
  readonly readPrices: ReadTokenPrices;
}
