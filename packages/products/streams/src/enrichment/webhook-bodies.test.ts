import { systemClock, ZERO_ADDRESS } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test, vi } from 'vitest';
import { readDueDeliveries } from '../delivery/outbox.ts';
import { addMatches, addStream, STAGE_CHAIN } from '../delivery/testing/delivery-stage.ts';
import { BODY_LENGTH_MAX } from '../payload/render-body.ts';
import { enrichedMatch } from '../payload/testing/enriched-match.ts';
import type { EnrichMatch, EnrichRequest } from './enrich-match.ts';
import { createWebhookBodies } from './webhook-bodies.ts';

const scratch = scratchOfFile();

const signal = new AbortController().signal;

async function stage(enrich: EnrichMatch, takeCalls?: (key: string, calls: number) => Promise<number>) {
  const { database } = scratch;
  const streamId = await addStream(database, { webhookUrl: 'http://receiver.example/' });
  await addMatches(database, streamId, { blocks: [1], kinds: ['unconfirmed', 'confirmed'] });
  const due = await readDueDeliveries(database, { streamIds: [streamId], limit: 2, without: [] });
  const [first, second] = due.map(({ delivery }) => delivery);
  if (first === undefined || second === undefined) throw new Error('Nothing was claimed');
  const open = () =>
    createWebhookBodies({
      ...{ database, chains: [{ chain: STAGE_CHAIN, enrich }], clock: systemClock },
      ...(takeCalls && { takeCalls }),
    });
  return { bodies: open(), other: open(), streamId, first, second };
}

const balanceOf = ({ match }: EnrichRequest, wei: bigint) =>
  enrichedMatch(match, STAGE_CHAIN, { nativeBalances: [{ address: ZERO_ADDRESS, wei }] });

describe('the body of a match', () => {
  test('is made once: the confirmed webhook tells what the unconfirmed one told', async () => {
    const requests: EnrichRequest[] = [];
    const { bodies, first, second } = await stage(async (request) => {
      requests.push(request);
      return balanceOf(request, BigInt(requests.length));
    });
    const body = await bodies.make(first, signal);
    expect(JSON.parse(body ?? '')).toMatchObject({
      streamId: first.streamId,
      block: { number: '1', hash: first.blockHash, timestamp: '1700000001' },
      nativeBalances: [{ balance: '1' }],
    });
    expect(await bodies.make(second, signal)).toBe(body);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.waitedMs).toBeLessThan(60_000);
  });

  // Invariant: FAIR-KEYS
  test('waits for the node calls of its key', async () => {
    const taken: unknown[] = [];
    let waitMs = 4_000;
    const { bodies, first } = await stage(
      async (request) => {
        await request.willCall?.(1_200);
        return balanceOf(request, 1n);
      },
      async (...call) => {
        taken.push(call);
        return waitMs;
      },
    );
    await expect(bodies.make(first, signal)).rejects.toMatchObject({ code: 'WEBHOOK_CALLS_LIMITED', waitMs });
    waitMs = 0;
    expect(await bodies.make(first, signal)).toContain('nativeBalances');
    expect(taken).toEqual([
      ['', 1_200],
      ['', 1_200],
    ]);
  });

  test('is made once when both of its webhooks, or one that was put back, ask for it at once', async () => {
    let made = 0;
    const { bodies, first, second } = await stage(async (request) => {
      made += 1;
      return balanceOf(request, BigInt(made));
    });
    const [body, ...others] = await Promise.all([first, second, first].map((one) => bodies.make(one, signal)));
    expect(made).toBe(1);
    expect(JSON.parse(body ?? '')).toMatchObject({ nativeBalances: [{ balance: '1' }] });
    expect(others).toEqual([body, body]);
  });

  test('made by two processes at once is the one that was stored first, for both', async () => {
    const gate = Promise.withResolvers<void>();
    let made = 0;
    const { bodies, other, first, second } = await stage(async (request) => {
      made += 1;
      const mine = BigInt(made);
      if (made === 2) gate.resolve();
      await gate.promise;
      return balanceOf(request, mine);
    });
    const [mine, theirs] = await Promise.all([bodies.make(first, signal), other.make(second, signal)]);
    expect(made).toBe(2);
    expect(mine).toEqual(expect.any(String));
    expect(mine).toBe(theirs);
  });

  test('is the one that another process was storing, for which it waits', async () => {
    const { database } = scratch;
    const making = Promise.withResolvers<void>();
    const { bodies, streamId, first } = await stage(async (request) => {
      making.resolve();
      return balanceOf(request, 1n);
    });
    const begun = await database.transaction(async (transaction) => {
      // Lock the row before the other body is built; otherwise the stored body would be read instead.
      await transaction.query(sql`SELECT FROM stream_matches WHERE stream_id = ${streamId} FOR UPDATE`);
      const made = bodies.make(first, signal);
      await making.promise;
      await vi.waitFor(async () =>
        expect(
          await database.query(
            sql`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%stream_matches%'`,
          ),
        ).toHaveLength(1),
      );
      await transaction.query(
        sql`UPDATE stream_matches SET body = '{"theirs":true}', matched = '' WHERE stream_id = ${streamId}`,
      );
      return { made };
    });
    expect(await begun.made).toBe('{"theirs":true}');
  });

  test('is withheld from a webhook that is not due any more once it is made, and from no other of the match', async () => {
    const drop = (id: string) =>
      scratch.database.query(sql`UPDATE stream_deliveries SET status = 'dropped' WHERE id = ${id}`);
    const atOnce = await stage(async (request) => {
      await drop(atOnce.second.id);
      return balanceOf(request, 1n);
    });
    const made = await Promise.all([atOnce.first, atOnce.second].map((one) => atOnce.bodies.make(one, signal)));
    expect(made).toEqual([expect.any(String), null]);
    expect(await atOnce.bodies.make(atOnce.second, signal)).toBeNull();
    const paused = await stage(async (request) => {
      await scratch.database.query(sql`UPDATE streams SET status = 'paused' WHERE id = ${paused.streamId}`);
      return balanceOf(request, 1n);
    });
    expect(await paused.bodies.make(paused.first, signal)).toBeNull();
  });

  test('is stored for many at once while somebody holds one of the matches, and that one then', async () => {
    const { database } = scratch;
    const { bodies, streamId, first } = await stage(async (request) => balanceOf(request, 1n));
    await addMatches(database, streamId, { blocks: [2, 3] });
    const due = await readDueDeliveries(database, { streamIds: [streamId], limit: 9, without: [first.id] });
    const making = await database.transaction(async (transaction) => {
      await transaction.query(
        sql`SELECT FROM stream_matches WHERE stream_id = ${streamId} AND block_number = 3 FOR UPDATE`,
      );
      const begun = Promise.all(due.map(({ delivery }) => bodies.make(delivery, signal)));
      const stored = async () => {
        const rows = await database.query<{ blockNumber: number }>(
          sql`SELECT block_number FROM stream_matches WHERE stream_id = ${streamId} AND body IS NOT NULL ORDER BY 1`,
        );
        return rows.map(({ blockNumber }) => blockNumber);
      };
      await expect.poll(stored).toEqual([1, 2]);
      return { begun };
    });
    const reported = (await making.begun).map((body) => JSON.parse(body ?? '{}').block?.number);
    expect(reported.toSorted()).toEqual(['1', '2', '3']);
  });

  test('above the maximum is not made, and one that is stored stays', async () => {
    const { database } = scratch;
    const { bodies, streamId, first } = await stage(async (request) => balanceOf(request, 0n));
    const setLength = (length: number) =>
      database.query(sql`UPDATE stream_matches SET length = ${length} WHERE stream_id = ${streamId}`);
    await setLength(BODY_LENGTH_MAX + 1);
    await expect(bodies.make(first, signal)).rejects.toMatchObject({
      code: 'WEBHOOK_TOO_LARGE',
      retryable: false,
    });
    await setLength(BODY_LENGTH_MAX);
    const body = await bodies.make(first, signal);
    await setLength(BODY_LENGTH_MAX + 1);
    expect(await bodies.make(first, signal)).toBe(body);
  });

  test('of a chain that is not configured any more, or of nothing that is stored, can not be made', async () => {
    const { bodies, first } = await stage(async (request) => balanceOf(request, 0n));
    const nowhere = createWebhookBodies({ database: scratch.database, chains: [], clock: systemClock });
    await expect(nowhere.make(first, signal)).rejects.toMatchObject({
      code: 'CHAIN_NOT_CONFIGURED',
      retryable: true,
    });
    await expect(bodies.make({ ...first, blockNumber: 2 }, signal)).rejects.toMatchObject({
      code: 'MATCH_MISSING',
    });
  });
});
