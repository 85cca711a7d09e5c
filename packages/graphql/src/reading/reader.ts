import { type Clock, createAnswerBudget, errorText, type Logger } from '@chainstead/core';
import { excessRights, openDatabase, type PooledConnection } from '@chainstead/db';
import type { WithPgClient } from '@dataplan/pg';
import { GraphqlRefusalError } from '../refusal.ts';
import { inSnapshot, type SnapshotLimits } from './snapshot.ts';

export interface Reader {
  /** One read-only transaction. Some run at a time; others wait, or are refused if too many wait. */
  inSnapshot<T>(work: (withClient: WithPgClient) => Promise<T>, limits?: SnapshotLimits): Promise<T>;
  /** As {@link inSnapshot}, for subscriptions: one at a time, and however many wait. */
  inTurn<T>(work: (withClient: WithPgClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface ReaderOptions {
  /** Login of a member of `chainstead_reader` that has no other rights. */
  readonly url: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly limits: SnapshotLimits;
  /** Transactions of queries at the same time. One more is for subscriptions. */
  readonly concurrency: number;
}

const WAITING_MAX = 64;
/** Rights of the role are checked again after this time. Milliseconds. */
const RIGHTS_MS = 60_000;

/** @throws {DatabaseError} DATABASE_URL_INVALID */
export function openReader({ url, logger, clock, limits, concurrency }: ReaderOptions): Reader {
  const database = openDatabase({ url, applicationName: 'chainstead graphql', poolSize: concurrency + 1, logger });
  const ofQueries = createAnswerBudget({ bytesMax: Number.POSITIVE_INFINITY, requestsMax: concurrency });
  const ofSubscriptions = createAnswerBudget({ bytesMax: Number.POSITIVE_INFINITY, requestsMax: 1 });
  let running = 0;
  let checkedAt = Number.NEGATIVE_INFINITY;
  const connect = async (): Promise<PooledConnection> => {
    const connection = await database.pool.connect().catch((error: unknown) => {
      logger.warn({ error: errorText(error) }, 'GRAPHQL_DATABASE_URL is unavailable');
      const [message, remedy] = ['The database of GraphQL is unavailable', 'Retry in a moment, or use another route.'];
      // The error of the driver may contain the address of the server.
      throw new GraphqlRefusalError('GRAPHQL_UNAVAILABLE', message, remedy);
    });
    if (clock.now() - checkedAt < RIGHTS_MS) return connection;
    try {
      requireReader(await excessRights(connection));
      checkedAt = clock.now();
      return connection;
    } catch (error) {
      connection.release(true);
      throw error;
    }
  };
  return {
    async inSnapshot(work, own = limits) {
      const message = `${running} operations are running or waiting`;
      if (running >= concurrency + WAITING_MAX)
        throw new GraphqlRefusalError('GRAPHQL_BUSY', message, 'Retry in a second.');
      running++;
      try {
        return await ofQueries.run(async () => inSnapshot(await connect(), own, work));
      } finally {
        running--;
      }
    },
    inTurn: (work) => ofSubscriptions.run(async () => inSnapshot(await connect(), limits, work)),
    close: () => database.close(),
  };
}

function requireReader(excess: string | null): void {
  if (excess === null) return;
  throw new GraphqlRefusalError(
    'GRAPHQL_ROLE_UNSAFE',
    `The role of GRAPHQL_DATABASE_URL is unsafe. ${excess}`,
    'The operator has to set GRAPHQL_DATABASE_URL to a role that is only a member of chainstead_reader.',
  );
}
