import { type RouteModule, withServices } from '@chainstead/http';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import { type AbiBooks, createAbiBooks } from '../abis/abi-books.ts';
import { createOnDemandReads, type OnDemandReadsOptions } from '../on-demand-reads.ts';
import { createTrackedWallets } from '../wallets/tracked-wallets.ts';
import { blockRoute, blockStatsRoute } from './block-routes.ts';
import { dateToBlockRoute } from './date-to-block-route.ts';
import { internalTransactionsRoute, transactionRoute, verboseTransactionRoute } from './transaction-routes.ts';
import { verboseWalletTransactionsRoute, walletTransactionsRoute } from './wallet-transactions-routes.ts';

export interface TransactionRoutesOptions extends OnDemandReadsOptions {
  /** @default a separate one, without proxy reads */
  readonly abis?: AbiBooks;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestSender' | 'requestReceiver'>;
}

export function createTransactionRoutes(options: TransactionRoutesOptions): readonly RouteModule[] {
  const { abis = createAbiBooks(), clock } = options;
  const services = {
    onDemandReads: createOnDemandReads(options),
    trackedWallets: createTrackedWallets(options.onDemandBackfill),
    ...{ abis, clock },
  };
  return [
    withServices(services, [
      transactionRoute,
      verboseTransactionRoute,
      internalTransactionsRoute,
      blockRoute,
      blockStatsRoute,
      dateToBlockRoute,
      walletTransactionsRoute,
      verboseWalletTransactionsRoute,
    ]),
  ];
}
