import type { OnDemandBackfill } from '@chainstead/data-api';
import type { RouteModule } from '@chainstead/http';
import { type AbiBooks, createAbiBooks } from '../abis/abi-books.ts';
import { createOnDemandReads, type OnDemandReadsOptions } from '../on-demand-reads.ts';
import { createTrackedWallets } from '../wallets/tracked-wallets.ts';
import { blockRoutes } from './block-routes.ts';
import { dateToBlockRoute } from './date-to-block-route.ts';
import { internalTransactionsRoute } from './internal-transactions-route.ts';
import { transactionRoutes } from './transaction-routes.ts';
import { walletTransactionsRoutes } from './wallet-transactions-routes.ts';

export interface TransactionRoutesOptions extends OnDemandReadsOptions {
  /** Shared with other routes. @default a separate one, without proxy reads */
  readonly abis?: AbiBooks;
  /** Queues searches of wallets' sent and received transactions in older blocks. */
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestSender' | 'requestReceiver'>;
}

/** The routes of transactions and blocks. Call it once per process: limits are shared by all of them. */
export function createTransactionRoutes(options: TransactionRoutesOptions): readonly RouteModule[] {
  const { abis = createAbiBooks(), clock } = options;
  const given = { onDemandReads: createOnDemandReads(options), abis, clock };
  return [
    ...transactionRoutes(given),
    internalTransactionsRoute(given),
    ...blockRoutes(given),
    dateToBlockRoute(given),
    ...walletTransactionsRoutes({
      ...given,
      trackedWallets: createTrackedWallets(options.onDemandBackfill, options),
    }),
  ];
}
