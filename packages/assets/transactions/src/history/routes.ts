import type { Chain } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import { routesFor } from '@chainstead/http';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import type { AbiBooks } from '../abis/abi-books.ts';
import type { OnDemandReads } from '../on-demand-reads.ts';
import type { TrackedWallets } from '../wallets/tracked-wallets.ts';
import type { WalletCounter } from './stats/wallet-counter.ts';

/** What the program gives the routes of a wallet's history. */
export interface HistoryServices {
  readonly onDemandReads: OnDemandReads;
  readonly abis: AbiBooks;
  readonly trackedWallets: TrackedWallets;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
  /** Used if a request has no chain. */
  readonly served: readonly Chain[];
  readonly nodeReads: NodeReadQueue;
  readonly clock: Clock;
  readonly projections: SubjectProjections;
  readonly counter: WalletCounter;
}

export const { defineRoute, defineListRoute } = routesFor<HistoryServices>();
