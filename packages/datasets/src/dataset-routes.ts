import { createWalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { contractFunctionRoute, tokenAllowanceRoute } from '@chainstead/contract-function';
import type { Clock, Logger, Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import {
  createTokenStatsRoute,
  createTokenTransfersRoute,
  createWalletApprovalsRoute,
  createWalletBalancesRoute,
  createWalletTokensRoute,
  tokenFactsRoutes,
  tokenHolderRoutes,
  walletTokenTransfersRoute,
} from '@chainstead/erc20';
import type { CallDirectly } from '@chainstead/gateway';
import { createHistoryRoutes } from '@chainstead/history';
import { createOnDemandBudget, type RouteModule, withScope } from '@chainstead/http';
import type { Jobs } from '@chainstead/jobs';
import { createResolveRoutes } from '@chainstead/names';
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
import {
  createStateQuestions,
  nativeBalanceRoutes,
  type ReadingContext,
  type StateQuestions,
  transactionFactsOf,
} from '@chainstead/state';
import { createKeptSubjects, type Dataset } from '@chainstead/sync';
import { reviewContractsRoute } from '@chainstead/tokens';
import {
  contractLogsRoutes,
  createAbiBooks,
  createAskImplementations,
  createTransactionRoutes,
} from '@chainstead/transactions';
import { latestBlockRoute } from './latest-block-route.ts';
import { datasets } from './registry.ts';

export interface DatasetRoutesOptions {
  /** For what serves many requests at once: each request has its own of `ApiDependencies`. */
  readonly database: Database;
  /** Where requests leave work for the worker role. A queue is asked for once in a process. */
  readonly jobs: Jobs;
  /** The chains that workers serve. */
  readonly chains: readonly Chain[];
  /** Those that are kept. Default: all. */
  readonly datasets?: readonly Dataset[];
  readonly onDemand: OnDemandLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  /** One for a process: who else asks nodes gives the same here. @default one of the routes' own */
  readonly questions?: StateQuestions;
  /** Where what requests have counted is measured. @default nowhere */
  readonly metrics?: Registry;
  /** The gateway's, for what asks a node within its request. @default no chain is offered */
  readonly call?: CallDirectly;
  /** The chains that workers read names from. @default none */
  readonly nameChains?: readonly Chain[];
}

/** Bounds of the work that requests cause (`INDEX_WAIT_MS`, `BALANCE_MAX_AGE_MS`, `NATIVE_BALANCE_MAX_AGE_MS`, `ON_DEMAND_MAX_CALLS`, `ON_DEMAND_PER_KEY`). */
export interface OnDemandLimits {
  /** How long a request waits for what it has caused. Milliseconds. */
  readonly waitMs: number;
  /** How old a reading of a native balance may be. Milliseconds. @default 15,000 */
  readonly nativeBalanceMaxAgeMs?: number;
  /** How old a reading of a token may be whose transfers don't tell its balances. Milliseconds. @default 60,000 */
  readonly balanceMaxAgeMs?: number;
  /** Node calls for one wallet history at most; 0: none is read. */
  readonly maxCalls: number;
  /** Jobs waiting per API key at most. */
  readonly perKey: number;
}

const NATIVE_BALANCE_MAX_AGE_MS = 15_000;
const BALANCE_MAX_AGE_MS = 60_000;
const NOTHING_OFFERED: CallDirectly = async () => ({ kind: 'not-offered' });

/** The API routes of all datasets, for `createApi`. */
export function createDatasetRoutes(options: DatasetRoutesOptions): readonly RouteModule[] {
  const { jobs, chains, onDemand, call = NOTHING_OFFERED } = options;
  const { waitMs, balanceMaxAgeMs: liveMaxAgeMs = BALANCE_MAX_AGE_MS } = onDemand;
  const { nativeBalanceMaxAgeMs: nativeMaxAgeMs = NATIVE_BALANCE_MAX_AGE_MS } = onDemand;
  const questions = options.questions ?? createStateQuestions(options);
  const budget = createOnDemandBudget(onDemand);
  // One for all routes: what they have counted of a chain is counted in turn.
  const kept = createKeptSubjects(options.database, options.metrics);
  const reading = { database: options.database, questions, logger: options.logger };
  const heldNow = createHeldNow(reading, waitMs);
  const walletHistory = createWalletHistory({ jobs, chains, datasets: options.datasets ?? datasets, ...onDemand });
  const onUnknown = createAskImplementations({ questions, budget, logger: options.logger });
  const abis = createAbiBooks({ onUnknown });
  const balances = { questions, kept, walletHistory, waitMs, liveMaxAgeMs, nativeMaxAgeMs };
  const routes = [
    walletTokenTransfersRoute,
    createTokenTransfersRoute({ walletHistory }),
    createTokenStatsRoute({ kept, walletHistory, waitMs }),
    ...nftTransfersRoutes({ walletHistory, questions, waitMs }),
    createWalletBalancesRoute(balances),
    createWalletTokensRoute(balances),
    createWalletCollectionsRoute({ kept, walletHistory, waitMs, heldNow }),
    createWalletNftsRoute({ kept, walletHistory, waitMs, sendersOf: sendersOf(reading, 0), heldNow }),
    ...createTraitsRoutes({ kept, walletHistory, waitMs, perKey: onDemand.perKey, sendersOf: sendersOf(reading, 0) }),
    tokenTradesRoute,
    collectionTradesRoute,
    walletTradesRoute,
    tokenSalePricesRoute,
    collectionSalePricesRoute,
    createWalletApprovalsRoute({ kept, walletHistory, waitMs, questions }),
    ...tokenHolderRoutes(balances),
    ...tokenFactsRoutes({ questions, waitMs }),
    ...nativeBalanceRoutes({ questions, waitMs, maxAgeMs: nativeMaxAgeMs }),
    ...createCollectionOwnersRoutes({ kept, walletHistory, waitMs, sendersOf: sendersOf(reading, 0), heldNow }),
    latestBlockRoute,
    ...createTransactionRoutes({ ...onDemand, questions, walletHistory, clock: options.clock, budget, abis }),
    contractFunctionRoute({ call, budget }),
    tokenAllowanceRoute({ call, budget }),
    reviewContractsRoute,
    ...createHistoryRoutes({ ...onDemand, chains, questions, clock: options.clock, budget, walletHistory, abis, kept }),
    ...contractLogsRoutes({ walletHistory }),
    ...createResolveRoutes({ ...options, questions, chains: options.nameChains ?? [], waitMs, budget }),
    // After all others of NFTs: its last one takes any segment for a token id.
    ...metadataRoutes({
      ...options,
      onCollection: walletHistory.requestContract,
      sendersOf: sendersOf(reading, waitMs),
      heldNow,
    }),
  ];
  return [withScope('data', routes)];
}

/** Senders of transactions, of those that are known or told by a node within `waitMs`; later requests have the rest. */
function sendersOf(context: ReadingContext, waitMs: number): SendersOf {
  return async (chain, hashes) => {
    const facts = await transactionFactsOf(context, chain, hashes, waitMs);
    return new Map([...facts].map(([hash, { sender }]) => [hash, sender]));
  };
}
