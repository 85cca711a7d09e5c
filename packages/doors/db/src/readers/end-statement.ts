import { errorText, type Logger, settlesWithin } from '@chainstead/core';
import type { PoolClient } from 'pg';
import { SessionClient } from '../connections/session-client.ts';

const CANCEL_AGAIN_MS = 500;
const CANCELS_MAX = 10;

/**
 * Closes the connection. Postgres notices that only when it sends, so its statement is canceled first, and again:
 * a request that arrives before the statement begins has no effect. @param work ends with the statement
 */
export async function endStatement(
  connection: PoolClient,
  work: Promise<unknown>,
  logger: Logger,
): Promise<void> {
  // Only the time of the end matters here: the caller reports the error of its statement.
  const ended = work.catch(() => undefined);
  try {
    for (let sent = 0; connection instanceof SessionClient && sent < CANCELS_MAX; sent++) {
      await connection.cancel();
      if (await settlesWithin(ended, CANCEL_AGAIN_MS)) return;
    }
  } catch (error) {
    logger.debug({ error: errorText(error) }, 'SQL statement not canceled');
  } finally {
    connection.release(true);
  }
}
