import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { fillNotificationQueue, startScratchServer } from '@chainstead/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from './open-database.ts';
import { sql } from './sql.ts';

test('a full queue of notifications fails no commit, and takes more once its reader has left', async () => {
  const server = await startScratchServer({ settings: { max_notify_queue_pages: '64' } });
  onTestFinished(() => server.stop());
  const { url } = await server.createDatabase();
  const metrics = createMetricsRegistry();
  const database = openDatabase({ url, applicationName: 'test', logger: silentLogger(), metrics });
  onTestFinished(() => database.close());
  const listener = database.session();
  await listener.connect();
  const heard = vi.fn();
  listener.on('notification', ({ channel }) => heard(channel));
  await listener.query('LISTEN news');
  await database.query(sql`CREATE TABLE notes (id int)`);
  const note = (id: number) =>
    database.transaction(async (transaction) => {
      transaction.notify('news');
      await transaction.query(sql`INSERT INTO notes VALUES (${id})`);
      transaction.notify('news');
    });

  await note(1);
  await vi.waitFor(() => expect(heard.mock.calls).toEqual([['news']]));
  const reader = await fillNotificationQueue(url);
  await note(2);
  expect(await metrics.metrics()).toContain('chainstead_database_notifications_dropped_total 1\n');
  await reader.leave();
  await vi.waitFor(async () => {
    await note(3);
    expect(heard.mock.calls.length).toBeGreaterThan(1);
  });
  const [row] = await database.query(sql`SELECT count(DISTINCT id) AS notes FROM notes`);
  expect(row).toEqual({ notes: 3 });
  listener.destroy();
});

test('an announcement of a transaction that is rolled back is not sent', async () => {
  const server = await startScratchServer();
  onTestFinished(() => server.stop());
  const { database } = await server.createDatabase();
  const listener = database.session();
  await listener.connect();
  const heard = vi.fn();
  listener.on('notification', ({ channel }) => heard(channel));
  await listener.query('LISTEN "Undone"; LISTEN done');
  const failing = database.transaction(async (transaction) => {
    transaction.notify('Undone');
    throw new Error('changed its mind');
  });
  await expect(failing).rejects.toThrow('changed its mind');
  await database.transaction(async (transaction) => transaction.notify('done'));
  await vi.waitFor(() => expect(heard.mock.calls).toEqual([['done']]));
  listener.destroy();
});
