import { fileURLToPath } from 'node:url';
import { sql } from '@chainstead/db';
import { countDeaths, createScratchDatabase, startWebhookReceiver } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { readStreamStats } from '../records/stats.ts';
import { addMatches, addStream, readOutbox } from './testing/delivery-stage.ts';
import type { WorkerProcessOptions } from './testing/worker-process.ts';

const PROGRAM = fileURLToPath(new URL('./testing/worker-process.ts', import.meta.url));
const DEADLY = 7;

// Invariant: STREAM-DEADLY-WEBHOOK
test('a webhook that ends the process is set aside after the third time and told of; all others arrive', async () => {
  const scratch = await createScratchDatabase();
  const receiver = await startWebhookReceiver({});
  onTestFinished(async () => {
    await receiver.close();
    await scratch.drop();
  });
  const { database } = scratch;
  const streamId = await addStream(database, {
    webhookUrl: receiver.url,
    getNativeBalances: [{ type: 'tx', selectors: ['$fromAddress'] }],
  });
  const blocks = Array.from({ length: 12 }, (_, block) => block);
  await addMatches(database, streamId, { blocks });
  const options: WorkerProcessOptions = { databaseUrl: scratch.url, deadlyBlock: DEADLY };
  const isSettled = async (): Promise<boolean> =>
    (await readOutbox(database, streamId)).every(({ status }) => status !== 'pending');

  const deaths = await countDeaths({
    args: [PROGRAM, JSON.stringify(options)],
    isSettled,
  });

  expect(deaths).toBe(3);
  const outbox = await readOutbox(database, streamId);
  expect(outbox.map(({ status }) => status)).toEqual(
    blocks.map((block) => (block === DEADLY ? 'failed' : 'delivered')),
  );
  expect(new Set(receiver.received.map(({ body }) => JSON.parse(body).block.number)).size).toBe(11);
  const attempts = await database.query(
    sql`SELECT block_number AS block, error_message, body FROM stream_attempts WHERE stream_id = ${streamId} AND NOT success`,
  );
  const reported = expect.stringContaining('Work quarantined: the process ended 3 times during this work');
  expect(attempts).toEqual([{ block: DEADLY, errorMessage: reported, body: null }]);
  expect(await readStreamStats(database, streamId)).toMatchObject({ webhooksDelivered: 11, webhooksFailed: 1 });
  const [suspect] = await database.query<{ name: string; crashes: number }>(
    sql`SELECT name, crashes FROM quarantined_work WHERE crashes > 1`,
  );
  expect(suspect).toMatchObject({ crashes: 3, name: expect.stringContaining(`webhook 1 ${DEADLY} ${streamId}`) });
});
