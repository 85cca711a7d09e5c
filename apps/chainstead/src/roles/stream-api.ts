import type { ChainId } from '@chainstead/core';
import { readTime } from '@chainstead/db/server';
import { createEgress } from '@chainstead/egress';
import type { RouteModule } from '@chainstead/http';
import type { SharedLimits } from '@chainstead/http/server';
import {
  createEnrichMatch,
  createPastBlockServices,
  createProbeWebhook,
  createReplayAttempt,
  createStreamOperations,
  createStreamRoutes,
  createTestWebhook,
  readStreamSettings,
  type StreamOperations,
  type StreamServices,
} from '@chainstead/streams';
import { openPool } from '../session/upstream-pools.ts';
import type { RoleContext } from './role.ts';

export interface StreamApi {
  readonly routes: readonly RouteModule[];
  readonly operations: StreamOperations;
  close(): Promise<void>;
}

/** Pools start with the first request for past blocks. Creates a missing webhook secret. */
export async function openStreamApi(context: RoleContext, limits: SharedLimits): Promise<StreamApi> {
  const { configuration, database, logger, clock } = context;
  const { chainRegistry: registry } = configuration;
  await readStreamSettings(database);
  const egress = createEgress({ allowPrivate: configuration.privateNetworks });
  const chains = configuration.chains.map((configured) => {
    const { chain, proof: policy } = configured;
    const pool = openPool(configured, context);
    const enrich = createEnrichMatch({ database, chain, pool, clock, logger });
    return { chain, pool, policy, enrich };
  });
  const pastBlocks = createPastBlockServices({ database, chains, logger });
  const starts = new Map<ChainId, Promise<void>>();

  /** @throws NoUpstreamError; the next request tries again */
  function startPool(id: ChainId): Promise<void> {
    const known = starts.get(id);
    if (known !== undefined) return known;
    const pool = chains.find(({ chain }) => chain.id === id)?.pool;
    const start = pool === undefined ? Promise.resolve() : pool.start();
    starts.set(id, start);
    start.catch(() => starts.delete(id));
    return start;
  }

  const probeWebhook = createProbeWebhook({
    egress,
    settings: () => readStreamSettings(database),
    sentAt: () => readTime(database),
    limits,
  });
  const services: StreamServices = {
    registry,
    chains: chains.map(({ chain }) => chain),
    testWebhook: createTestWebhook(probeWebhook),
    replayAttempt: createReplayAttempt({ database }),
    offersTraces: (chain) => startPool(chain.id).then(() => pastBlocks.offersTraces(chain)),
    previewBlock: (request) => startPool(request.chain.id).then(() => pastBlocks.previewBlock(request)),
    sendBlock: (request) => startPool(request.chain.id).then(() => pastBlocks.sendBlock(request)),
    createHistoricalJob: (request) =>
      startPool(request.chain.id).then(() => pastBlocks.createHistoricalJob(request)),
  };
  return {
    routes: createStreamRoutes(services),
    operations: createStreamOperations({ database, services, probeWebhook }),
    async close() {
      await Promise.allSettled(starts.values());
      await Promise.all([egress.close(), ...chains.map(({ pool }) => pool.close())]);
    },
  };
}
