import { rawSql, sql } from '@chainstead/db';
import { startWebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { addMatches, addStream, readOutbox, startStagedWorker } from './testing/delivery-stage.ts';
import { pruneHistory } from './worker.ts';

const scratch = scratchOfFile();

test('old attempts, what arrived and its matches go; what waits, is young or is to be confirmed stays', async () => {
  const { database } = scratch;
  const receiver = await startWebhookReceiver({
    answer: ({ body }) => ({ status: JSON.parse(body).block.number < 20 ? 200 : 500 }),
  });
  const worker = await startStagedWorker(database);
  const streamId = await addStream(database, { webhookUrl: receiver.url });
  const old = Array.from({ length: 12 }, (_, index) => index);
  await addMatches(database, streamId, { blocks: [...old, 15, 30] });
  await expect
    .poll(async () => (await readOutbox(database, streamId)).filter(({ body }) => body !== null).length, {
      timeout: 20_000,
    })
    .toBe(14);
  await worker.stop();
  await receiver.close();
  await database.query(sql`UPDATE stream_matches SET confirmed = block_number <> 11`);
  const tables = ['stream_deliveries', 'stream_attempts'];
  for (const table of tables)
    await database.query(
      sql`UPDATE ${rawSql(table)} SET created_at = now() - interval '8 days' WHERE block_number <> 15`,
    );

  // The body of block 15 is to be built again, as after a replay.
  await database.query(sql`UPDATE stream_matches SET body = NULL, matched = ${'{}'} WHERE block_number = 15`);
  await database.query(sql`UPDATE stream_items SET used_at = now() - interval '1 hour' WHERE block_number <> 30`);

  const before = new Date(Date.now() - 7 * 86_400_000);
  expect(await pruneHistory(database, { before, batch: 5 })).toEqual({
    attempts: 13,
    deliveries: 12,
    matches: 11,
    items: 3 * old.length,
  });
  const left = async (table: string) =>
    (
      await database.query<{ block: number }>(sql`SELECT block_number AS block FROM ${rawSql(table)} ORDER BY 1`)
    ).map(({ block }) => block);
  expect(await left('stream_deliveries')).toEqual([15, 30]);
  expect(await left('stream_attempts')).toEqual([15]);
  expect(await left('stream_matches')).toEqual([11, 15, 30]);
  expect(await left('stream_match_transactions')).toEqual([11, 15, 30]);
  expect([...new Set(await left('stream_items'))]).toEqual([15, 30]);
  expect(await pruneHistory(database, { before })).toEqual({ attempts: 0, deliveries: 0, matches: 0, items: 0 });
});

test('a worker prunes what is older than its days of history when it starts', async () => {
  const { database } = scratch;
  const receiver = await startWebhookReceiver();
  const streamId = await addStream(database, { webhookUrl: receiver.url });
  const delivered = async () =>
    (await readOutbox(database, streamId)).map(({ deliveredAt }) => deliveredAt !== null);
  await addMatches(database, streamId, { blocks: [1, 2] });
  const first = await startStagedWorker(database, { historyDays: 3 });
  await expect.poll(delivered, { timeout: 20_000 }).toEqual([true, true]);
  await first.stop();
  for (const table of ['stream_deliveries', 'stream_attempts'])
    await database.query(
      sql`UPDATE ${rawSql(table)} SET created_at = now() - CASE block_number WHEN 1 THEN interval '4 days' ELSE interval '2 days' END`,
    );
  await database.query(sql`UPDATE stream_matches SET confirmed = true`);
  const second = await startStagedWorker(database, { historyDays: 3 });
  await expect.poll(delivered).toEqual([true]);
  await second.stop();
  await receiver.close();
});
