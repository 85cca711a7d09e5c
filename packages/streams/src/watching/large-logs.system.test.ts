/** Blocks with large logs that many streams match: a commit stores each log once, and every webhook shows all of its logs. */
import { startWebhookReceiver } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test } from 'vitest';
import { addStream, startStagedWorker } from '../delivery/testing/delivery-stage.ts';
import { largeMatches, recordMeasured } from './testing/large-matches.ts';

const scratch = scratchOfFile();

/** A statement holds one large item, or several smaller ones. */
const STATEMENT_MAX = 4_500_000;

test.each([
  { streams: 30, logs: 5, bytes: 1_000_000 },
  { streams: 100, logs: 1, bytes: 1_500_000 },
])(
  '$streams streams of one block with $logs logs of $bytes bytes send all of them',
  async ({ streams, logs, bytes }) => {
    const { database } = scratch;
    await database.query('TRUNCATE streams, stream_matches, stream_items, stream_deliveries CASCADE');
    const shown = new Map<string, readonly number[]>();
    const receiver = await startWebhookReceiver({
      take({ body }) {
        const webhook: { readonly streamId: string; readonly logs: readonly { readonly data: string }[] } =
          JSON.parse(body);
        shown.set(
          webhook.streamId,
          webhook.logs.map(({ data }) => data.length),
        );
      },
    });
    onTestFinished(() => receiver.close());
    const streamIds = await Promise.all(
      Array.from({ length: streams }, () => addStream(database, { webhookUrl: receiver.url })),
    );
    const digits = 2 * bytes;
    const matches = largeMatches(streamIds, 7, { logs, digits });
    const { largest, all } = await recordMeasured(database, matches);
    expect(largest).toBeLessThan(STATEMENT_MAX);
    expect(all).toBeLessThan(1.2 * logs * digits);
    // A block that a reorg restores is recorded again.
    await recordMeasured(database, matches);

    await using worker = await startStagedWorker(database);
    await expect.poll(() => shown.size, { timeout: 90_000 }).toBe(streams);
    await worker.stop();
    const whole = Array.from({ length: logs }, () => digits + 2);
    expect(shown).toEqual(new Map(streamIds.map((streamId) => [streamId, whole])));
  },
);
