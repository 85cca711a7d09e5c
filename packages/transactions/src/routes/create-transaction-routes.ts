import type { WalletHistory } from '@chainstead/answers';
import type { RouteModule } from '@chainstead/http';
import { type AbiBooks, createAbiBooks } from '../abis/abi-books.ts';
import { createLookUps, type LookUpOptions } from '../look-ups.ts';
import { createAskedWallets } from '../wallets/asked-wallets.ts';
import { blockRoutes } from './block-routes.ts';
import { dateToBlockRoute } from './date-to-block-route.ts';
import { internalTransactionsRoute } from './internal-transactions-route.ts';
import { transactionRoutes } from './transaction-routes.ts';
import { walletTransactionsRoutes } from './wallet-transactions-routes.ts';

export interface TransactionRoutesOptions extends LookUpOptions {
  /** Shared with other routes. @default one of its own, that has nobody asked about proxies */
  readonly abis?: AbiBooks;
  /** By which what wallets sent and received in older blocks is asked for. */
  readonly walletHistory: Pick<WalletHistory, 'requestSender' | 'requestReceiver'>;
}

/** The routes of transactions and blocks. One call in a process: limits are counted for all of them together. */
export function createTransactionRoutes(options: TransactionRoutesOptions): readonly RouteModule[] {
  const { abis = createAbiBooks(), clock } = options;
  const given = { lookUps: createLookUps(options), abis, clock };
  return [
    ...transactionRoutes(given),
    internalTransactionsRoute(given),
    ...blockRoutes(given),
    dateToBlockRoute(given),
    ...walletTransactionsRoutes({ ...given, askedWallets: createAskedWallets(options.walletHistory, options.waitMs) }),
  ];
}
