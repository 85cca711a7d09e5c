import type { RouteModule } from '@chainstead/http';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import { type AbiBooks, createAbiBooks } from '../abis/abi-books.ts';
import { createOnDemandReads, type OnDemandReadsOptions } from '../on-demand-reads.ts';
import { createTrackedWallets } from '../wallets/tracked-wallets.ts';
import { blockRoutes } from './block-routes.ts';
import { dateToBlockRoute } from './date-to-block-route.ts';
import { internalTransactionsRoute, transactionRoutes } from './transaction-routes.ts';
import { walletTransactionsRoutes } from './wallet-transactions-routes.ts';

export interface TransactionRoutesOptions extends OnDemandReadsOptions {
  /** @default a separate one, without proxy reads */
  readonly abis?: AbiBooks;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestSender' | 'requestReceiver'>;
}

export function createTransactionRoutes(options: TransactionRoutesOptions): readonly RouteModule[] {
  const { abis = createAbiBooks(), clock } = options;
  const shared = { onDemandReads: createOnDemandReads(options), abis, clock };
  const trackedWallets = createTrackedWallets(options.onDemandBackfill);
  return [
    ...transactionRoutes(shared),
    internalTransactionsRoute(shared),
    ...blockRoutes(shared),
    dateToBlockRoute(shared),
    ...walletTransactionsRoutes({ ...shared, trackedWallets }),
  ];
}
