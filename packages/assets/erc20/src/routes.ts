import { routesFor } from '@chainstead/http';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import type { ReadTokenPrices } from './token-values/token-prices.ts';

/** What the program gives the routes of ERC-20 tokens. */
export interface Erc20Services {
  readonly nodeReads: NodeReadQueue;
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract' | 'requestWallet'>;
  /** `BALANCE_MAX_AGE_MS`. */
  readonly liveMaxAgeMs: number;
  readonly readPrices: ReadTokenPrices;
}

/** Backfills of the token. */
export interface ContractServices {
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract'>;
}

/** Backfills of the wallet. */
export interface WalletServices {
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
}

export const { defineRoute, defineListRoute } = routesFor<ContractServices>();
