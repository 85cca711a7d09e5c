import { once } from 'node:events';
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { DELIVERIES_CHANNEL } from './deliveries-channel.ts';

export interface HearDeliveriesOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when there may be new webhooks in the outbox. */
  onNews(): void;
}

const RECONNECT_MS = 5_000;

/**
 * Listens for new webhooks until the signal aborts, over a connection of its own. What is missed while the connection is away
 * is found by looking: a listener only saves the wait until then.
 */
export async function hearDeliveries(options: HearDeliveriesOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger } = options;
  while (!signal.aborted) {
    try {
      await listen(options, signal);
    } catch (error) {
      if (signal.aborted) return;
      logger.debug({ reason: errorText(error) }, 'Listening for new webhooks was interrupted');
      await sleepUnlessAborted(clock, RECONNECT_MS, signal);
    }
  }
}

/** Throws when the connection breaks, and when the signal aborts. */
async function listen({ database, onNews }: HearDeliveriesOptions, signal: AbortSignal): Promise<void> {
  const client = database.session();
  try {
    await client.connect();
    client.on('notification', onNews);
    await client.query(`LISTEN ${DELIVERIES_CHANNEL}`);
    onNews();
    await once(client, 'end', { signal });
    throw new Error('The connection was closed');
  } finally {
    client.destroy();
  }
}
