/** Blocks with large logs that many streams match: a commit stores each log once, and each match has all of them. */
import { sql } from '@chainstead/db';
import { startWebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test } from 'vitest';
import { addStream, numberedHash, STAGE_CHAIN, startStagedWorker } from '../delivery/testing/delivery-stage.ts';
import { readMatchRows } from '../enrichment/match-rows.ts';
import { largeMatches, recordMeasured } from './testing/large-matches.ts';

const scratch = scratchOfFile();

/** A statement holds one large item, or several smaller ones. */
const STATEMENT_MAX = 4_500_000;
/** Webhooks that are sent. */
const SENT = 3;

test.each([
  { streams: 30, logs: 5, bytes: 1_000_000 },
  { streams: 100, logs: 1, bytes: 1_500_000 },
])(
  '$streams streams of one block with $logs logs of $bytes bytes have all of them',
  async ({ streams, logs, bytes }) => {
    const { database } = scratch;
    await database.query(sql`TRUNCATE streams, stream_matches, stream_items, stream_deliveries CASCADE`);
    const receiver = await startWebhookReceiver();
    onTestFinished(() => receiver.close());
    const streamIds = await Promise.all(
      Array.from({ length: streams }, () => addStream(database, { webhookUrl: receiver.url })),
    );
    const digits = 2 * bytes;
    const matches = largeMatches(streamIds, 7, { logs, digits });
    const { largest, all } = await recordMeasured(database, matches);
    expect(largest).toBeLessThan(STATEMENT_MAX);
    expect(all).toBeLessThan(1.2 * logs * digits);
    const whole = Array.from({ length: logs }, () => digits + 2);
    for (const streamId of streamIds) {
      const key = { chainId: STAGE_CHAIN.id, blockNumber: 7, blockHash: numberedHash(7), streamId };
      const [row] = await readMatchRows(database, [key]);
      expect(row?.match?.logs.map(({ data }) => data.length)).toEqual(whole);
    }

    // A block that a reorg restores is recorded again. Three webhooks are enough for the test.
    await recordMeasured(database, matches);
    const sent = streamIds.slice(0, SENT);
    await database.query(sql`UPDATE streams SET status = 'paused' WHERE id <> ALL (${sent})`);
    await using worker = await startStagedWorker(database);
    await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(SENT);
    await worker.stop();
    const shown = receiver.received.map(({ body }): { streamId: string; logs: { data: string }[] } =>
      JSON.parse(body),
    );
    expect(new Map(shown.map((one) => [one.streamId, one.logs.map(({ data }) => data.length)]))).toEqual(
      new Map(sent.map((streamId) => [streamId, whole])),
    );
  },
);
