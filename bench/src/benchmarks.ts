import type { Benchmark } from './benchmark.ts';
import { api } from './benchmarks/api.ts';
import { assetRoutes } from './benchmarks/asset-routes.ts';
import { backfillBare } from './benchmarks/backfill-bare.ts';
import { backfillPonder } from './benchmarks/backfill-ponder.ts';
import { backfillProven } from './benchmarks/backfill-proven.ts';
import { backfillTransactions } from './benchmarks/backfill-transactions.ts';
import { bigBlocks } from './benchmarks/big-blocks.ts';
import { children } from './benchmarks/children.ts';
import { contractPages } from './benchmarks/contract-pages.ts';
import { contracts } from './benchmarks/contracts.ts';
import { fairKeys } from './benchmarks/fair-keys.ts';
import { follow } from './benchmarks/follow.ts';
import { gateway } from './benchmarks/gateway.ts';
import { growth } from './benchmarks/growth.ts';
import { growthContracts } from './benchmarks/growth-contracts.ts';
import { history } from './benchmarks/history.ts';
import { ingestMemory } from './benchmarks/ingest-memory.ts';
import { marketRoutes } from './benchmarks/market-routes.ts';
import { marketsMixed } from './benchmarks/markets-mixed.ts';
import { publicCases } from './benchmarks/public.ts';
import { start } from './benchmarks/start.ts';
import { streamsDelivery } from './benchmarks/streams-delivery.ts';
import { streamsMatching } from './benchmarks/streams-matching.ts';
import { tradePages } from './benchmarks/trade-pages.ts';

/** Every benchmark, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  backfillPonder,
  backfillBare,
  backfillProven,
  backfillTransactions,
  history,
  ingestMemory,
  start,
  api,
  growth,
  contracts,
  publicCases,
  growthContracts,
  contractPages,
  children,
  follow,
  bigBlocks,
  assetRoutes,
  tradePages,
  marketRoutes,
  marketsMixed,
  gateway,
  streamsMatching,
  streamsDelivery,
  fairKeys,
];
