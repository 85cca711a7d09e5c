import { randomUUID } from 'node:crypto';
import { sql } from '@chainstead/db';
import { startWebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import {
  addStream,
  numberedHash,
  passTime,
  STAGE_CHAIN,
  startStagedWorker,
} from '../delivery/testing/delivery-stage.ts';
import { readMatchRows } from '../enrichment/match-rows.ts';
import { LONG_BODY_LENGTH } from '../payload/render-body.ts';
import { largeMatches, recordMeasured } from './testing/large-matches.ts';

const scratch = scratchOfFile();

const STREAMS = 20;
test('a match is read as it was recorded, and its logs are stored once for all streams', async () => {
  const { database } = scratch;
  const streamIds = Array.from({ length: STREAMS }, () => randomUUID());
  const large = { logs: 4, digits: 200_000 };
  const matches = largeMatches(streamIds, 7, large);
  expect((await recordMeasured(database, matches)).all).toBeLessThan(1.2 * large.logs * large.digits);
  const [streamId = ''] = streamIds;
  const key = { chainId: STAGE_CHAIN.id, blockNumber: 7, blockHash: numberedHash(7), streamId };
  expect((await readMatchRows(database, [key]))[0]?.match).toEqual(matches[0]?.match);
});

test('a long webhook that failed is sent again unchanged', async () => {
  const { database } = scratch;
  let failures = 1;
  const receiver = await startWebhookReceiver({ answer: () => ({ status: failures-- > 0 ? 500 : 200 }) });
  const streamId = await addStream(database, { webhookUrl: receiver.url });
  const { all } = await recordMeasured(database, largeMatches([streamId], 8, { logs: 4, digits: 100_000 }));
  expect(all).toBeGreaterThan(LONG_BODY_LENGTH);
  await using worker = await startStagedWorker(database);
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(1);
  await expect
    .poll(() => database.query(sql`SELECT FROM stream_attempts WHERE stream_id = ${streamId}`))
    .toHaveLength(1);
  await passTime(database, 86_400_000);
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(2);
  await worker.stop();
  const [one, other] = receiver.received.map(({ body }) => JSON.parse(body));
  expect(other).toEqual({ ...one, retries: 1 });
  await receiver.close();
});
