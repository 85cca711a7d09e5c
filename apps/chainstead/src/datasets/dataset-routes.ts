import type { Chain } from '@chainstead/chains';
import { contractRoutes } from '@chainstead/contracts';
import { type Clock, type Logger, type Registry, waitingAtMost } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import {
  createTokenStatsRoute,
  createWalletApprovalsRoute,
  createWalletBalancesRoute,
  tokenFactsRoutes,
  tokenHolderRoutes,
  tokenTransfersRoute,
  walletTokenTransfersRoute,
} from '@chainstead/erc20';
import type { CallDirectly } from '@chainstead/gateway';
import { contractFunctionRoute, tokenAllowanceRoute } from '@chainstead/gateway/contract-function';
import {
  createOnDemandBudget,
  type OnDemandBounds,
  type RequestWait,
  type RouteModule,
  withScope,
  withServices,
  withWait,
} from '@chainstead/http';
import { createMarketRoutes } from '@chainstead/markets';
import {
  collectionSalePricesRoute,
  collectionTradesRoute,
  createCollectionOwnersRoutes,
  createHeldNow,
  createTraitsRoutes,
  createWalletCollectionsRoute,
  createWalletNftsRoute,
  metadataRoutes,
  nftTransfersRoutes,
  type SendersOf,
  tokenSalePricesRoute,
  tokenTradesRoute,
  walletTradesRoute,
} from '@chainstead/nft';
import { createNodeReadQueue, nativeBalanceRoutes } from '@chainstead/node-reads';
import { type NodeReadQueue, type ReadingContext, transactionFactsOf } from '@chainstead/node-reads/requests';
import { createOnDemandBackfill, type OnDemandBackfillOptions } from '@chainstead/pages/on-demand';
import {
  createDirectPriceReader,
  createPriceRoutes,
  createTokenPriceReader,
  createWalletValueRoutes,
} from '@chainstead/prices';
import { createMarketStatisticsRoutes } from '@chainstead/prices/market-statistics';
import { createProfitRoutes } from '@chainstead/prices/profits';
import type { Dataset } from '@chainstead/sync/datasets';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { reviewContractsRoute } from '@chainstead/tokens';
import { createResolveRoutes } from '@chainstead/tokens/names';
import {
  contractLogsRoutes,
  createAbiBooks,
  createAskImplementations,
  createTransactionRoutes,
} from '@chainstead/transactions';
import { createHistoryRoutes } from '@chainstead/transactions/history';
import { walletVaultsRoute } from './erc4626-vaults/wallet-vaults-route.ts';
import { latestBlockRoute } from './latest-block-route.ts';
import { datasets } from './registry.ts';

export interface DatasetRoutesOptions {
  readonly database: Database;
  readonly chains: readonly Chain[];
  readonly datasets?: readonly Dataset[];
  readonly onDemand: OnDemandLimits;
  readonly retentionOf?: OnDemandBackfillOptions['retentionOf'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeReads?: NodeReadQueue;
  /** @default nowhere */
  readonly metrics?: Registry;
  readonly call?: CallDirectly;
  readonly nameChains?: readonly Chain[];
}

export interface OnDemandLimits extends OnDemandBounds, RequestWait {
  /** @default 15,000 */
  readonly nativeBalanceMaxAgeMs?: number;
  /** For tokens whose transfers don't determine balances. @default 60,000 */
  readonly balanceMaxAgeMs?: number;
}

const NATIVE_BALANCE_MAX_AGE_MS = 15_000;
const BALANCE_MAX_AGE_MS = 60_000;

export function createDatasetRoutes(options: DatasetRoutesOptions): readonly RouteModule[] {
  const { chains, onDemand, call = async () => ({ kind: 'not-offered' }) } = options;
  const { balanceMaxAgeMs: liveMaxAgeMs = BALANCE_MAX_AGE_MS } = onDemand;
  const { nativeBalanceMaxAgeMs: nativeMaxAgeMs = NATIVE_BALANCE_MAX_AGE_MS } = onDemand;
  const nodeReads = options.nodeReads ?? createNodeReadQueue(options);
  const budget = createOnDemandBudget(onDemand);
  const projections = createSubjectProjections(options.database, options.metrics);
  const reading = { database: options.database, nodeReads, logger: options.logger };
  const heldNow = createHeldNow(reading);
  const onDemandBackfill = createOnDemandBackfill({
    chains,
    datasets: options.datasets ?? datasets,
    ...{ ...onDemand, retentionOf: options.retentionOf },
  });
  const onUnknown = createAskImplementations({ nodeReads, budget, logger: options.logger });
  const abis = createAbiBooks({ onUnknown });
  const subjects = { projections, onDemandBackfill };
  const senders = sendersOf(reading);
  const sendersSoFar: SendersOf = (...asked) => waitingAtMost(0, () => senders(...asked));
  const balances = { nodeReads, projections, onDemandBackfill, liveMaxAgeMs, nativeMaxAgeMs };
  const asking = { ...onDemand, nodeReads, onDemandBackfill, clock: options.clock, budget, abis };
  const readPrices = createTokenPriceReader(balances);
  const routes = [
    // Before those with only parameters and a word that an event may be called.
    ...contractRoutes,
    walletTokenTransfersRoute,
    withServices({ onDemandBackfill }, [tokenTransfersRoute]),
    createTokenStatsRoute(subjects),
    ...nftTransfersRoutes({ onDemandBackfill, nodeReads }),
    createWalletBalancesRoute(balances),
    ...createWalletValueRoutes({ ...balances, served: chains }),
    createWalletCollectionsRoute({ ...subjects, heldNow }),
    createWalletNftsRoute({ ...subjects, sendersOf: sendersSoFar, heldNow }),
    ...createTraitsRoutes({ ...subjects, perKey: onDemand.perKey, sendersOf: sendersSoFar }),
    tokenTradesRoute,
    collectionTradesRoute,
    walletTradesRoute,
    tokenSalePricesRoute,
    collectionSalePricesRoute,
    ...createMarketRoutes({ onDemandBackfill, readDirectPrices: createDirectPriceReader(balances) }),
    createMarketStatisticsRoutes({ ...balances, served: chains }),
    createProfitRoutes({ onDemandBackfill, nodeReads }),
    createPriceRoutes(balances),
    createWalletApprovalsRoute({ ...subjects, nodeReads, readPrices }),
    ...tokenHolderRoutes({ ...balances, readPrices }),
    ...tokenFactsRoutes({ nodeReads }),
    nativeBalanceRoutes({ nodeReads, maxAgeMs: nativeMaxAgeMs }),
    ...createCollectionOwnersRoutes({ ...subjects, sendersOf: sendersSoFar, heldNow }),
    latestBlockRoute,
    ...createTransactionRoutes(asking),
    contractFunctionRoute({ call, budget }),
    tokenAllowanceRoute({ call, budget }),
    reviewContractsRoute,
    ...createHistoryRoutes({ ...asking, chains, projections }),
    ...contractLogsRoutes({ onDemandBackfill }),
    createResolveRoutes({ ...options, nodeReads, chains: options.nameChains ?? [], budget }),
    walletVaultsRoute,
    // Last of NFTs: its last route takes any segment for a token id.
    ...metadataRoutes({
      ...options,
      onCollection: onDemandBackfill.requestContract,
      sendersOf: senders,
      heldNow,
    }),
  ];
  return [withScope('data', [withWait(onDemand, routes)])];
}

function sendersOf(context: ReadingContext): SendersOf {
  return async (chain, hashes) => {
    const facts = await transactionFactsOf(context, chain, hashes);
    return new Map([...facts].map(([hash, { sender }]) => [hash, sender]));
  };
}
