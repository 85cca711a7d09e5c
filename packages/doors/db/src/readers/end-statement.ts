import { errorText, type Logger } from '@chainstead/core';
import type { PoolClient } from 'pg';
import { SessionClient } from '../connections/session-client.ts';

/** Closes the connection. Postgres notices that only when it sends, so its statement is canceled first. */
export async function endStatement(connection: PoolClient, logger: Logger): Promise<void> {
  try {
    if (connection instanceof SessionClient) await connection.cancel();
  } catch (error) {
    logger.debug({ error: errorText(error) }, 'SQL statement not canceled');
  } finally {
    connection.release(true);
  }
}
