import { routesFor } from '@chainstead/http';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';

/** What the program gives the routes of ERC-20 tokens. */
export interface Erc20Services {
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract' | 'requestWallet'>;
}

export const { defineRoute, defineListRoute } = routesFor<Erc20Services>();
