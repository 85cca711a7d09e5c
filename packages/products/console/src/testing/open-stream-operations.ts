import { type Chain, createChainRegistry } from '@chainstead/chains';
import { silentLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import {
  createPastBlockServices,
  createProbeWebhook,
  createStreamOperations,
  createTestWebhook,
  readStreamSettings,
  type StreamOperations,
} from '@chainstead/streams';

type PastChains = Parameters<typeof createPastBlockServices>[0]['chains'];

export interface StreamStageOptions {
  readonly database: Database;
  /** Available for streams. */
  readonly chains: readonly Chain[];
  /** Chains with known nodes, and the lookup of a chain by its id. */
  readonly past?: PastChains;
  readonly registry?: ReturnType<typeof createChainRegistry>;
  readonly replaysPerKey?: number;
}

/** An API process's stream operations, with real requests to receivers on this machine. */
export function openStreamOperations(options: StreamStageOptions): {
  readonly operations: StreamOperations;
  close(): Promise<void>;
} {
  const { database, chains, past = [], registry = createChainRegistry(), replaysPerKey } = options;
  const egress = createEgress({ allowPrivate: ['127.0.0.1/32'] });
  const probeWebhook = createProbeWebhook({
    egress,
    settings: () => readStreamSettings(database),
    sentAt: async () => Date.now(),
    perHost: 1_000,
    perKey: 1_000,
  });
  const { previewBlock, offersTraces } = createPastBlockServices({
    database,
    chains: past,
    logger: silentLogger(),
  });
  const operations = createStreamOperations({
    database,
    services: { registry, chains, testWebhook: createTestWebhook(probeWebhook), previewBlock, offersTraces },
    probeWebhook,
    ...(replaysPerKey !== undefined && { replaysPerKey }),
  });
  return { operations, close: () => egress.close() };
}
