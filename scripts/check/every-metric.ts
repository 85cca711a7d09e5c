import { createFullnodeMetrics } from '@chainstead/aptos';
import { createContractMetrics } from '@chainstead/contracts/datasets';
import { createMetricsRegistry, type Registry } from '@chainstead/core';
import { createSyncMetrics } from '@chainstead/sync/ingest';
import { createSupervisorMetrics } from '../../apps/chainstead/src/supervisor/supervisor.ts';
import { createPoolProofMetrics } from '../../packages/assets/markets/src/proofs/pool-worker.ts';
import { createMetadataMetrics } from '../../packages/assets/nft/src/collections/metadata-worker.ts';
import { createTraitsMetrics } from '../../packages/assets/nft/src/traits/traits-worker.ts';
import { createFeedMetrics } from '../../packages/assets/tokens/src/price-feeds/feeds/feed-age.ts';
import { createTokenMetrics } from '../../packages/assets/tokens/src/token-metadata-worker.ts';
import {
  createConnectionMetrics,
  createDatabaseMetrics,
} from '../../packages/doors/db/src/connections/connection-metrics.ts';
import { createJournalMetrics } from '../../packages/doors/db/src/locks/crash-guard.ts';
import { createNotificationMetrics } from '../../packages/doors/db/src/open-database.ts';
import { createReadMetrics } from '../../packages/doors/db/src/reads/wal-position.ts';
import { createDiskMetrics, createSizeMetrics } from '../../packages/doors/db/src/server/size-metrics.ts';
import { createDepthMetrics, createJobMetrics } from '../../packages/doors/jobs/src/job-metrics.ts';
import { createPoolMetrics } from '../../packages/doors/rpc/src/pool-metrics.ts';
import { createSourceMetrics } from '../../packages/doors/sources/src/history-sources.ts';
import { createLimitMetrics } from '../../packages/engine/http/src/limits/shared-limits.ts';
import { createRequestMetrics } from '../../packages/engine/http/src/requests/request-observer.ts';
import { createStateMetrics } from '../../packages/engine/node-reads/src/queue/state-worker.ts';
import { createHistoryMetrics } from '../../packages/engine/pages/src/on-demand/on-demand-backfill.ts';
import { createBuildMetrics } from '../../packages/engine/sync/src/projections/subject-projections.ts';
import { createGatewayMetrics } from '../../packages/products/gateway/src/gateway-metrics.ts';
import { createDeliveryMetrics } from '../../packages/products/streams/src/delivery/delivery-metrics.ts';
import { createMatchMetrics } from '../../packages/products/streams/src/watching/create-streams-watcher.ts';

const TABLES = [
  createSupervisorMetrics,
  createSizeMetrics,
  createDiskMetrics,
  createConnectionMetrics,
  createDatabaseMetrics,
  createNotificationMetrics,
  createReadMetrics,
  createJournalMetrics,
  createFeedMetrics,
  createSyncMetrics,
  createContractMetrics,
  createBuildMetrics,
  createFullnodeMetrics,
  createPoolMetrics,
  createSourceMetrics,
  createJobMetrics,
  createDepthMetrics,
  createRequestMetrics,
  createLimitMetrics,
  createGatewayMetrics,
  createTokenMetrics,
  createPoolProofMetrics,
  createStateMetrics,
  createHistoryMetrics,
  createMetadataMetrics,
  createTraitsMetrics,
  createMatchMetrics,
  createDeliveryMetrics,
];

/** A registry that holds every metric of the program. */
export function createEveryMetric(): Registry {
  const metrics = createMetricsRegistry();
  for (const create of TABLES) create(metrics);
  return metrics;
}
