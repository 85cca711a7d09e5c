import { createWalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Clock, Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { tokenFactsRoutes, walletTokenTransfersRoute } from '@chainstead/erc20';
import { type RouteModule, withScope } from '@chainstead/http';
import type { Jobs } from '@chainstead/jobs';
import {
  collectionSalePricesRoute,
  collectionTradesRoute,
  createWalletCollectionsRoute,
  metadataRoutes,
  tokenSalePricesRoute,
  tokenTradesRoute,
  walletTradesRoute,
} from '@chainstead/nft';
import { createStateQuestions, nativeBalanceRoutes } from '@chainstead/state';
import type { Dataset } from '@chainstead/sync';
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
}

/** Bounds of the work that requests cause (`INDEX_WAIT_MS`, `NATIVE_BALANCE_MAX_AGE_MS`, `ON_DEMAND_MAX_CALLS`, `ON_DEMAND_PER_KEY`). */
export interface OnDemandLimits {
  /** How long a request waits for what it has caused. Milliseconds. */
  readonly waitMs: number;
  /** How old a reading of a native balance may be. Milliseconds. @default 15,000 */
  readonly nativeBalanceMaxAgeMs?: number;
  /** Node calls for one wallet history at most; 0: none is read. */
  readonly maxCalls: number;
  /** Jobs waiting per API key at most. */
  readonly perKey: number;
}

const NATIVE_BALANCE_MAX_AGE_MS = 15_000;

/** The API routes of all datasets, for `createApi`. */
export function createDatasetRoutes(options: DatasetRoutesOptions): readonly RouteModule[] {
  const { jobs, chains, onDemand } = options;
  const { waitMs } = onDemand;
  const questions = createStateQuestions(options);
  const walletHistory = createWalletHistory({ jobs, chains, datasets: options.datasets ?? datasets, ...onDemand });
  const routes = [
    walletTokenTransfersRoute,
    createWalletCollectionsRoute({ walletHistory, waitMs: onDemand.waitMs }),
    ...metadataRoutes({ ...options, onCollection: walletHistory.requestContract }),
    tokenTradesRoute,
    collectionTradesRoute,
    walletTradesRoute,
    tokenSalePricesRoute,
    collectionSalePricesRoute,
    ...tokenFactsRoutes({ questions, waitMs }),
    ...nativeBalanceRoutes({
      questions,
      waitMs,
      maxAgeMs: onDemand.nativeBalanceMaxAgeMs ?? NATIVE_BALANCE_MAX_AGE_MS,
    }),
    latestBlockRoute,
  ];
  return [withScope('data', routes)];
}
