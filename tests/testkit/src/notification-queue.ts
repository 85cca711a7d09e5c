import { silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';

/** `program_limit_exceeded`: there are too many notifications. */
const SQLSTATE_FULL = '54000';

/** A server's queue of notifications, filled as a reader can: by listening, not reading, and notifying. */
interface FilledNotificationQueue {
  /** The reader leaves. Its messages stay in the queue until they are freed. */
  leave(): Promise<void>;
}

/** @param url of a server with a small `max_notify_queue_pages` @throws when the queue took all of 2,000 notifications */
export async function fillNotificationQueue(url: string): Promise<FilledNotificationQueue> {
  const sender = openDatabase({ url, applicationName: 'reader', poolSize: 1, logger: silentLogger() });
  const holder = sender.session();
  await holder.connect();
  // It listens from its commit on, and reads nothing while a transaction is open. Sessions end such transactions after a while.
  await holder.query('SET idle_in_transaction_session_timeout = 0; LISTEN held');
  await holder.query('BEGIN');
  try {
    for (let sent = 0; sent < 2_000; sent += 1)
      await sender.query(sql`SELECT pg_notify('held', rpad(${sent}, 7999, 'x'))`);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === SQLSTATE_FULL)) throw error;
    return { leave: async () => holder.destroy() };
  } finally {
    await sender.close();
  }
  holder.destroy();
  throw new Error('The queue of notifications did not fill up');
}
