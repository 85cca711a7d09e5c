import type { Benchmark } from './benchmark.ts';
import { api } from './benchmarks/api.ts';
import { apiLimits } from './benchmarks/api-limits.ts';
import { aptosAll } from './benchmarks/aptos-all.ts';
import { aptosCoins } from './benchmarks/aptos-coins.ts';
import { aptosRoutes } from './benchmarks/aptos-routes.ts';
import { assetRoutes } from './benchmarks/asset-routes.ts';
import { backfillBare } from './benchmarks/backfill-bare.ts';
import { backfillLatency } from './benchmarks/backfill-latency.ts';
import { backfillPonder } from './benchmarks/backfill-ponder.ts';
import { backfillProcesses } from './benchmarks/backfill-processes.ts';
import { backfillProven } from './benchmarks/backfill-proven.ts';
import { backfillTransactions } from './benchmarks/backfill-transactions.ts';
import { bulkIndexes } from './benchmarks/bulk-indexes.ts';
import { citus } from './benchmarks/citus.ts';
import { collectionMetadata } from './benchmarks/collection-metadata.ts';
import { consoleOverview } from './benchmarks/console-overview.ts';
import { emptyBlocks } from './benchmarks/empty-blocks.ts';
import { erc20Balances } from './benchmarks/erc20-balances.ts';
import { firstRequests } from './benchmarks/first-requests.ts';
import { follow } from './benchmarks/follow.ts';
import { followAll } from './benchmarks/follow-all.ts';
import { gateway } from './benchmarks/gateway.ts';
import { growth } from './benchmarks/growth.ts';
import { growthNft, growthNftDays } from './benchmarks/growth-nft.ts';
import { ingestMemory } from './benchmarks/ingest-memory.ts';
import { nftMixed } from './benchmarks/nft-mixed.ts';
import { nftRoutes } from './benchmarks/nft-routes.ts';
import { nodeTraffic } from './benchmarks/node-traffic.ts';
import { readStandby } from './benchmarks/read-standby.ts';
import { recoverSenders } from './benchmarks/recover-senders.ts';
import { streamsDelivery } from './benchmarks/streams-delivery.ts';
import { streamsIsolation } from './benchmarks/streams-isolation.ts';
import { streamsMatching } from './benchmarks/streams-matching.ts';

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  backfillPonder,
  backfillBare,
  backfillProven,
  backfillLatency,
  backfillProcesses,
  backfillTransactions,
  emptyBlocks,
  nodeTraffic,
  bulkIndexes,
  ingestMemory,
  recoverSenders,
  api,
  apiLimits,
  readStandby,
  growth,
  growthNft,
  growthNftDays,
  follow,
  followAll,
  erc20Balances,
  firstRequests,
  citus,
  assetRoutes,
  nftMixed,
  nftRoutes,
  collectionMetadata,
  gateway,
  streamsMatching,
  streamsDelivery,
  streamsIsolation,
  aptosCoins,
  aptosAll,
  aptosRoutes,
  consoleOverview,
];
