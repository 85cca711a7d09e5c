import type { Chain } from '@chainstead/chains';
import type { WorkJournal } from '@chainstead/db';
import { createEgress } from '@chainstead/egress';
import type { UpstreamPool } from '@chainstead/rpc';
import { createDeliveryWorker, createEnrichMatch, createWebhookBodies } from '@chainstead/streams';
import type { RoleContext } from './role.ts';

export interface WebhooksOptions {
  readonly context: RoleContext;
  readonly journal: WorkJournal;
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
}

/** The sending of webhooks, at work. */
export interface RunningWebhooks {
  /** Begins no more attempts; those under way may end within so many milliseconds. Ends connections then. */
  stop(timeoutMs: number): Promise<void>;
}

/** Sends the webhooks of all streams, over connections of their own. */
export async function startWebhooks({ context, chains, journal }: WebhooksOptions): Promise<RunningWebhooks> {
  const { configuration, database, logger, metrics, clock } = context;
  const { retries, retryDelaysMs, historyDays, concurrency, concurrencyPerHost, triggerCalls } = configuration.webhooks;
  // Metadata's client tells at the start what is allowed.
  const egress = createEgress({
    allowPrivate: configuration.privateNetworks,
    connectionsPerOrigin: concurrencyPerHost,
  });
  const enriched = chains.map(({ chain, pool }) => ({
    chain,
    enrich: createEnrichMatch({ database, chain, pool, clock, logger, callsMax: triggerCalls }),
  }));
  const worker = createDeliveryWorker({
    database,
    egress,
    bodies: createWebhookBodies({ database, chains: enriched, clock, journal }),
    retries: { retries, delaysMs: retryDelaysMs },
    historyDays,
    concurrency,
    concurrencyPerHost,
    logger,
    metrics,
    clock,
  });
  await worker.start();
  return {
    async stop(timeoutMs) {
      await worker.stop(timeoutMs);
      await egress.close();
    },
  };
}
