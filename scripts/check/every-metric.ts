import { createFullnodeMetrics } from '@chainstead/aptos';
import { createContractMetrics } from '@chainstead/contracts/datasets';
import { createMetricsRegistry, type Registry, silentLogger, systemClock } from '@chainstead/core';
import { createWorkJournal, measureDisk, measureSizes, openDatabase } from '@chainstead/db';
import { addPoolProofs } from '@chainstead/markets';
import { addStateReads } from '@chainstead/node-reads';
import { createSyncMetrics } from '@chainstead/sync';
import { addTokenFacts } from '@chainstead/tokens';
import { measureFeedAges } from '@chainstead/tokens/price-feeds';
import { createSupervisorMetrics } from '../../apps/chainstead/src/supervisor/supervisor-metrics.ts';
import { createMetadataMetrics } from '../../packages/assets/nft/src/collections/metadata-metrics.ts';
import { createTraitsMetrics } from '../../packages/assets/nft/src/traits/traits-metrics.ts';
import { createReadMetrics } from '../../packages/doors/db/src/reads/read-metrics.ts';
import { createJobMetrics } from '../../packages/doors/jobs/src/job-metrics.ts';
import { createPoolMetrics } from '../../packages/doors/rpc/src/pool-metrics.ts';
import { countProcesses } from '../../packages/engine/http/src/limits/shared-limits.ts';
import { requestObserver } from '../../packages/engine/http/src/requests/request-observer.ts';
import { createWalletHistoryMetrics } from '../../packages/engine/pages/src/on-demand/on-demand-backfill-metrics.ts';
import { createSubjectProjectionMetrics } from '../../packages/engine/sync/src/projections/subject-projection-metrics.ts';
import { createAnswerMetrics } from '../../packages/products/gateway/src/calls/answer-metrics.ts';
import { createFilterMetrics } from '../../packages/products/gateway/src/filters/filter-metrics.ts';
import { createRefusalCount } from '../../packages/products/gateway/src/serving/refusals.ts';
import { createSocketMetrics } from '../../packages/products/gateway/src/sockets/socket-metrics.ts';
import { createSubscriptionMetrics } from '../../packages/products/gateway/src/subscriptions/subscription-metrics.ts';
import { createDeliveryMetrics } from '../../packages/products/streams/src/delivery/delivery-metrics.ts';
import { createMatchMetrics } from '../../packages/products/streams/src/watching/match-metrics.ts';

/** A registry that holds every metric of the program, made by the code that makes them there. */
export function createEveryMetric(): Registry {
  const metrics = createMetricsRegistry();
  const logger = silentLogger();
  const database = unusedDatabase(metrics);
  createSupervisorMetrics(metrics, []);
  measureSizes({ registry: metrics, database, logger });
  measureDisk(metrics, '/', logger);
  measureFeedAges({ registry: metrics, database, chains: [], logger });
  createSyncMetrics(metrics);
  createContractMetrics(metrics);
  createSubjectProjectionMetrics(metrics);
  createMatchMetrics(metrics);
  createFullnodeMetrics(metrics);
  createReadMetrics(metrics);
  createPoolMetrics(metrics);
  createJobMetrics(metrics, logger);
  requestObserver({ logger, metrics });
  countProcesses(metrics, () => 0);
  createAnswerMetrics({ registry: metrics, cacheBytes: () => 0, heads: () => [] });
  createRefusalCount(metrics);
  createSocketMetrics(metrics);
  createSubscriptionMetrics(metrics);
  createFilterMetrics(metrics);
  const worker = { database, chains: [], logger, metrics };
  const dueWork = { add: () => undefined };
  addTokenFacts(dueWork, worker);
  addPoolProofs(dueWork, worker);
  addStateReads(dueWork, { ...worker, readers: [], clock: systemClock });
  createWalletHistoryMetrics(metrics);
  createMetadataMetrics(metrics);
  createTraitsMetrics(metrics);
  createWorkJournal({ database, logger, metrics });
  createDeliveryMetrics({ registry: metrics, database, logger });
  return metrics;
}

/** Connects at the first query, which fails when the gauges are read. */
function unusedDatabase(metrics: Registry) {
  const url = 'postgres://unused.invalid/unused';
  return openDatabase({ url, applicationName: 'unused', logger: silentLogger(), metrics });
}
