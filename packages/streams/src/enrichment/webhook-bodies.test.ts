import { systemClock, ZERO_ADDRESS } from '@chainstead/core';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDueDeliveries } from '../delivery/due-deliveries.ts';
import { addMatches, addStream, STAGE_CHAIN } from '../delivery/testing/delivery-stage.ts';
import { NO_ENRICHMENT } from '../payload/render-body.ts';
import type { EnrichMatch, EnrichRequest } from './enrich-match.ts';
import { createWebhookBodies } from './webhook-bodies.ts';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

const signal = new AbortController().signal;

async function stage(enrich: EnrichMatch) {
  const { database } = scratch;
  const streamId = await addStream(database, { webhookUrl: 'http://receiver.example/' });
  await addMatches(database, streamId, { blocks: [1], kinds: ['unconfirmed', 'confirmed'] });
  const due = await readDueDeliveries(database, { streamIds: [streamId], limit: 2, without: [] });
  const [first, second] = due.map(({ delivery }) => delivery);
  if (first === undefined || second === undefined) throw new Error('Nothing was claimed');
  const bodies = createWebhookBodies({ database, chains: [{ chain: STAGE_CHAIN, enrich }], clock: systemClock });
  return { bodies, first, second };
}

const balanceOf = (wei: bigint) => ({
  ...NO_ENRICHMENT,
  nativeBalances: [{ address: ZERO_ADDRESS, wei }],
});

describe('the body of a match', () => {
  test('is made once: the confirmed webhook tells what the unconfirmed one told', async () => {
    const requests: EnrichRequest[] = [];
    const { bodies, first, second } = await stage(async (request) => {
      requests.push(request);
      return balanceOf(BigInt(requests.length));
    });
    const body = await bodies.make(first, signal);
    expect(JSON.parse(body)).toMatchObject({
      streamId: first.streamId,
      block: { number: '1', hash: first.blockHash, timestamp: '1700000001' },
      nativeBalances: [{ balance: '1' }],
    });
    expect(await bodies.make(second, signal)).toBe(body);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.waitedMs).toBeLessThan(60_000);
  });

  test('made by two at once is the one that was stored first, for both', async () => {
    const gate = Promise.withResolvers<void>();
    let made = 0;
    const { bodies, first, second } = await stage(async () => {
      made += 1;
      const mine = BigInt(made);
      if (made === 2) gate.resolve();
      await gate.promise;
      return balanceOf(mine);
    });
    const [one, other] = await Promise.all([bodies.make(first, signal), bodies.make(second, signal)]);
    expect(made).toBe(2);
    expect(one).toBe(other);
  });

  test('of a chain that is not configured any more, or of nothing that is stored, can not be made', async () => {
    const { bodies, first } = await stage(async () => NO_ENRICHMENT);
    const nowhere = createWebhookBodies({ database: scratch.database, chains: [], clock: systemClock });
    await expect(nowhere.make(first, signal)).rejects.toMatchObject({ code: 'CHAIN_NOT_CONFIGURED', retryable: true });
    await expect(bodies.make({ ...first, blockNumber: 2 }, signal)).rejects.toMatchObject({ code: 'MATCH_MISSING' });
  });
});
