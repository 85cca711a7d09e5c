import pg from 'pg';

/** Fills a server's queue of notifications as a reader can: by listening, not reading, and notifying. */
export interface FilledNotificationQueue {
  /** The reader leaves. What it sent stays in the queue until somebody frees it. */
  leave(): Promise<void>;
}

/** @param url of a server with a small `max_notify_queue_pages` @throws when the queue took all of 2,000 notifications */
export async function fillNotificationQueue(url: string): Promise<FilledNotificationQueue> {
  const holder = new pg.Client({ connectionString: url });
  const sender = new pg.Client({ connectionString: url });
  await Promise.all([holder.connect(), sender.connect()]);
  // It listens from its commit on, and reads nothing while a transaction is open.
  await holder.query('LISTEN held');
  await holder.query('BEGIN');
  try {
    for (let sent = 0; sent < 2_000; sent += 1)
      await sender.query("SELECT pg_notify('held', rpad($1, 7999, 'x'))", [sent]);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return { leave: async () => void (await holder.end()) };
  } finally {
    await sender.end();
  }
  await holder.end();
  throw new Error('The queue of notifications did not fill up');
}
