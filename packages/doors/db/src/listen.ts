import { once } from 'node:events';
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { escapeIdentifier } from 'pg';
import type { Database } from './database.ts';

export interface ListenOptions {
  readonly database: Pick<Database, 'session'>;
  readonly channels: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** For each notification, and per channel after each connect. */
  onNotification(channel: string): void;
}

const RECONNECT_MS = 5_000;

/** Until the signal aborts. Notifications while disconnected are lost, so callers also poll. */
export async function listenTo(options: ListenOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger, channels } = options;
  while (!signal.aborted) {
    try {
      await listenOnce(options, signal);
    } catch (error) {
      if (signal.aborted) return;
      logger.debug({ channels, reason: errorText(error) }, 'Listening was interrupted');
      await sleepUnlessAborted(clock, RECONNECT_MS, signal);
    }
  }
}

async function listenOnce(
  { database, channels, onNotification }: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  const client = database.session();
  try {
    await client.connect();
    client.on('notification', ({ channel }) => onNotification(channel));
    for (const channel of channels) await client.query(`LISTEN ${escapeIdentifier(channel)}`);
    for (const channel of channels) onNotification(channel);
    await once(client, 'end', { signal });
    throw new Error('The connection was closed');
  } finally {
    client.destroy();
  }
}
