import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import type { ReadTokenPrices } from '../token-values/token-prices.ts';

export interface TokenHoldersOptions {
  readonly nodeReads: NodeReadQueue;
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract'>;
  /** `BALANCE_MAX_AGE_MS`. */
  readonly liveMaxAgeMs: number;
  readonly readPrices: ReadTokenPrices;
}
