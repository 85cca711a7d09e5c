import { startWebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import {
  addStream,
  numberedHash,
  passTime,
  STAGE_CHAIN,
  stageMatch,
  startStagedWorker,
} from '../delivery/testing/delivery-stage.ts';
import { readMatchRows } from '../enrichment/match-rows.ts';
import type { Match } from '../matching/match.ts';
import { LONG_BODY_LENGTH } from '../payload/body-length.ts';
import { recordMatches } from './record-matches.ts';

const scratch = scratchOfFile();

const STREAMS = 20;
const LOGS = 4;
/** Characters of a log's data. */
const DATA = 1_500_000;
/** A statement holds one large item, or several smaller ones. */
const STATEMENT_MAX = 4_500_000;

/** Blocks by their streams: each stream matches all logs of each block. */
function largeMatches(streamIds: readonly string[], number: number, characters = DATA) {
  const header = { number, hash: numberedHash(number), timestamp: 1_700_000_000 };
  return streamIds.map((streamId) => {
    const match = stageMatch(streamId, number);
    const logs = match.logs.flatMap((log) =>
      Array.from({ length: LOGS }, (_, logIndex) => ({
        ...log,
        logIndex,
        data: `0x${String(logIndex).repeat(characters)}` as const,
      })),
    );
    return { block: { header }, match: { ...match, logs } };
  });
}

/** Records matches. @returns the characters of the largest statement and of all */
async function record(matches: readonly { block: ReturnType<typeof largeMatches>[number]['block']; match: Match }[]) {
  const sizes: number[] = [];
  await scratch.database.transaction((transaction) =>
    recordMatches(
      {
        ...transaction,
        query(text, values) {
          sizes.push(JSON.stringify(values ?? []).length);
          return transaction.query(text, values);
        },
      },
      STAGE_CHAIN,
      matches,
    ),
  );
  return { largest: Math.max(...sizes), all: sizes.reduce((sum, size) => sum + size, 0) };
}

test('a commit writes large logs once for all streams, in bounded statements, and each webhook shows all of them', async () => {
  const { database } = scratch;
  const receiver = await startWebhookReceiver();
  const streamIds = await Promise.all(
    Array.from({ length: STREAMS }, () => addStream(database, { webhookUrl: receiver.url })),
  );
  const matches = largeMatches(streamIds, 7);
  const { largest, all } = await record(matches);
  expect(largest).toBeLessThan(STATEMENT_MAX);
  expect(all).toBeLessThan(1.2 * LOGS * DATA);
  const keys = streamIds.map((streamId) => {
    return { chainId: STAGE_CHAIN.id, blockNumber: 7, blockHash: numberedHash(7), streamId };
  });
  const [first] = keys;
  if (first === undefined) throw new Error('There are streams');
  expect((await readMatchRows(database, [first]))[0]?.match).toEqual(matches[0]?.match);

  // A block that a reorg restores is recorded again.
  await record(matches);
  // Two are enough for the test.
  await database.query("UPDATE streams SET status = 'paused' WHERE id <> ALL ($1)", [streamIds.slice(0, 2)]);
  await using worker = await startStagedWorker(database);
  await expect.poll(() => receiver.received.length, { timeout: 25_000 }).toBe(2);
  await worker.stop();
  for (const { body } of receiver.received)
    expect(JSON.parse(body).logs.map(({ data }: { data: string }) => data.length)).toEqual(
      Array.from({ length: LOGS }, () => DATA + 2),
    );
  await receiver.close();
});

test('a long webhook that failed is sent again unchanged', async () => {
  const { database } = scratch;
  let failures = 1;
  const receiver = await startWebhookReceiver({ answer: () => ({ status: failures-- > 0 ? 500 : 200 }) });
  const streamId = await addStream(database, { webhookUrl: receiver.url });
  const { all } = await record(largeMatches([streamId], 8, 100_000));
  expect(all).toBeGreaterThan(LONG_BODY_LENGTH);
  await using worker = await startStagedWorker(database);
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(1);
  await expect
    .poll(() => database.query('SELECT FROM stream_attempts WHERE stream_id = $1', [streamId]))
    .toHaveLength(1);
  await passTime(database, 86_400_000);
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(2);
  await worker.stop();
  const [one, other] = receiver.received.map(({ body }) => JSON.parse(body));
  expect(other).toEqual({ ...one, retries: 1 });
  await receiver.close();
});
