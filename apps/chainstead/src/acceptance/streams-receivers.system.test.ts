/** Webhooks of the running program to receivers that fail, hang, are slow or gone, and through reorganisations. */
import type { Address } from '@chainstead/core';
import type { WebhookReceiver } from '@chainstead/testkit';
import { numberToHex, parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { waitUntil } from './indexed-chain.ts';
import { arrivedOf, awaitWebhook, CONFIRMATIONS, createStreamStage, type StreamStage } from './stream-stage.ts';

// Processes start slowly on a busy machine.
const RETRIES = 3;
let stage: StreamStage;
let alice: Address;
let bob: Address;

beforeAll(async () => {
  stage = await createStreamStage(1_337_021, { WEBHOOK_RETRIES: String(RETRIES), WEBHOOK_RETRY_SCHEDULE: '200ms' });
  [alice, bob] = stage.devnet.accounts.slice(5) as [Address, Address];
});
afterAll(() => stage?.close());

async function sendEther(): Promise<bigint> {
  const { client } = stage.devnet;
  const hash = await client.sendTransaction({ account: alice, to: bob, value: parseEther('0.001'), chain: null });
  const { blockNumber } = await client.waitForTransactionReceipt({ hash });
  return blockNumber;
}

const NATIVE = { includeNativeTxs: true };
const attempts = z.object({
  total: z.number(),
  result: z.array(z.looseObject({ id: z.string(), errorMessage: z.string().nullable() })),
});
const stats = z.object({
  totalWebhooksDelivered: z.number(),
  totalWebhooksFailed: z.number(),
  totalTxsProcessed: z.number(),
});

async function readAttempts(list: 'history' | 'history/logs', streamId: string) {
  return attempts.parse((await stage.ask('GET', `/${list}?limit=100&streamId=${streamId}`)).body);
}

async function readStats(streamId: string) {
  return stats.parse((await stage.ask('GET', `/stats/${streamId}`)).body);
}

async function untilStats(streamId: string, delivered: number, failed: number): Promise<void> {
  await waitUntil(async () => {
    const now = await readStats(streamId);
    if (now.totalWebhooksDelivered === delivered && now.totalWebhooksFailed === failed) return null;
    return `${JSON.stringify(now)}\n${stage.program.output()}`;
  });
}

async function untilStatus(streamId: string, status: string): Promise<string> {
  let message = '';
  await waitUntil(async () => {
    const { body } = await stage.ask('GET', `/streams/evm/${streamId}`);
    const stream = z.object({ status: z.string(), statusMessage: z.string() }).parse(body);
    message = stream.statusMessage;
    return stream.status === status ? null : `${stream.status}\n${stage.program.output()}`;
  });
  return message;
}

describe('a receiver that', () => {
  it('is down for a while gets everything once it is back, and every attempt is accounted for', async () => {
    const receiver = await stage.receive();
    const id = await stage.watch(receiver, NATIVE, [alice]);
    receiver.answerWith((webhook) => {
      const { confirmed, retries } = stage.read(webhook);
      return !confirmed && retries < 2 ? { status: 503 } : {};
    });
    const blockNumber = await sendEther();
    const last = await awaitWebhook(stage, receiver, id, { blockNumber, confirmed: false, retries: 2 });
    await stage.devnet.mine(CONFIRMATIONS);
    const confirmed = await awaitWebhook(stage, receiver, id, { blockNumber, confirmed: true });
    await untilStats(id, 2, 2);

    const arrived = arrivedOf(stage, receiver, id);
    expect(arrived.map(({ parsed }) => [parsed.confirmed, parsed.retries])).toEqual([
      [false, 0],
      [false, 1],
      [false, 2],
      [true, 0],
    ]);
    expect(new Set(arrived.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([last.headers['webhook-id'], confirmed.headers['webhook-id']]),
    );
    const content = arrived.map(({ parsed }) => ({ ...parsed, confirmed: null, retries: null }));
    expect(new Set(content.map((one) => JSON.stringify(one)))).toHaveProperty('size', 1);
    expect((await readStats(id)).totalTxsProcessed).toBe(2);
    expect(await readAttempts('history/logs', id)).toMatchObject({ total: 4 });
    const { total, result } = await readAttempts('history', id);
    expect([total, result.map(({ errorMessage }) => errorMessage)]).toEqual([
      2,
      ['Request failed with status code 503', 'Request failed with status code 503'],
    ]);
  });

  it('is slow holds up itself alone', async () => {
    const late = Promise.withResolvers<void>();
    const slow = await stage.receive({
      // The test webhook is answered at once.
      answer: (_webhook, count) => (count === 1 ? {} : { until: late.promise }),
    });
    const quick = await stage.receive();
    const slowId = await stage.watch(slow, NATIVE, [alice]);
    const quickId = await stage.watch(quick, NATIVE, [alice]);
    const blocks = [await sendEther(), await sendEther(), await sendEther()];
    for (const blockNumber of blocks) await awaitWebhook(stage, quick, quickId, { blockNumber, confirmed: false });
    await waitUntil(() => (slow.open > 0 ? null : 'nothing is under way to the slow receiver'));
    expect((await readStats(slowId)).totalWebhooksDelivered).toBe(0);
    late.resolve();
    for (const blockNumber of blocks) await awaitWebhook(stage, slow, slowId, { blockNumber, confirmed: false });
    // An answer within the time-out is a success, however late: nothing is sent twice.
    await untilStats(slowId, 3, 0);
    expect(arrivedOf(stage, slow, slowId)).toHaveLength(3);
    await stage.ask('POST', `/streams/evm/${slowId}/status`, { status: 'paused' });
  });

  it('is gone leaves failures behind, which are replayed as they were once it is there again', async () => {
    const gone = await stage.receive();
    const id = await stage.watch(gone, NATIVE, [alice]);
    await gone.close();
    const blockNumber = await sendEther();
    await untilStats(id, 0, RETRIES + 1);
    const { result } = await readAttempts('history', id);
    const [newest] = result;
    if (newest === undefined) throw new RangeError('There is no failure');
    expect(newest).toMatchObject({
      payload: { confirmed: false, streamId: id, retries: RETRIES, block: { number: String(blockNumber) } },
      tinyPayload: { chainId: `0x${stage.devnet.chainId.toString(16)}`, block: String(blockNumber), records: 1 },
    });
    const back = await stage.receive({ port: Number(new URL(gone.url).port) });
    expect(await stage.ask('POST', `/history/replay/${id}/${newest.id}`, {})).toMatchObject({ status: 200 });
    const replayed = await awaitWebhook(stage, back, id, { blockNumber, confirmed: false });
    expect(replayed.parsed).toMatchObject({ retries: RETRIES, ...Object(newest.payload) });
    await untilStats(id, 1, RETRIES + 1);
    await stage.ask('DELETE', `/streams/evm/${id}`, {});
    expect(await stage.ask('POST', `/history/replay/${id}/${newest.id}`, {})).toMatchObject({ status: 404 });
  });

  it('fails too often stops its stream; what waited is delivered when the stream is resumed', async () => {
    const receiver = await stage.receive();
    const id = await stage.watch(receiver, NATIVE, [alice]);
    receiver.answerWith(() => ({ status: 500 }));
    const blocks: bigint[] = [];
    // 31 failures in a row bring the success rate below 70 %.
    while (blocks.length * (RETRIES + 1) < 32) blocks.push(await sendEther());
    expect(await untilStatus(id, 'error')).toContain('70');
    const last = await sendEther();
    expect(await stage.ask('POST', `/streams/evm/${id}/status`, { status: 'active' })).toMatchObject({
      status: 400,
      body: { message: `Could not POST to ${receiver.url}/webhook. Please check your webhook URL.` },
    });
    receiver.answerWith(() => ({}));
    expect(await stage.ask('POST', `/streams/evm/${id}/status`, { status: 'active' })).toMatchObject({ status: 200 });
    await awaitWebhook(stage, receiver, id, { blockNumber: last, confirmed: false });
    await stage.devnet.mine(CONFIRMATIONS);
    for (const blockNumber of blocks) await awaitWebhook(stage, receiver, id, { blockNumber, confirmed: true });
    await stage.ask('DELETE', `/streams/evm/${id}`, {});
  });

  it('never answered the test gets no stream', async () => {
    const receiver = await stage.receive({ answer: () => ({ status: 500 }) });
    const chainIds = [numberToHex(stage.devnet.chainId)];
    const config = { webhookUrl: `${receiver.url}/no`, description: 'none', chainIds, ...NATIVE };
    expect(await stage.ask('PUT', '/streams/evm', config)).toMatchObject({
      status: 400,
      body: { message: `Could not POST to ${receiver.url}/no. Please check your webhook URL.` },
    });
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a reorganisation before confirmation', () => {
  async function hashOf(blockNumber: bigint): Promise<string> {
    return (await stage.devnet.client.getBlock({ blockNumber })).hash;
  }

  function told(receiver: WebhookReceiver, id: string): [string, boolean, boolean][] {
    return arrivedOf(stage, receiver, id).map(({ parsed }) => [
      parsed.block.hash,
      parsed.confirmed,
      parsed.removed === true,
    ]);
  }

  it('has no confirmed webhook sent of what it took away, and a removed notice where that is asked for', async () => {
    const receiver = await stage.receive();
    const plain = await stage.watch(receiver, NATIVE, [alice]);
    const noticed = await stage.watch(receiver, { ...NATIVE, sendRemoved: true, tag: 'noticed' }, [alice]);
    const kept = await sendEther();
    const lost = await sendEther();
    const [keptHash, lostHash] = [await hashOf(kept), await hashOf(lost)];
    for (const id of [plain, noticed]) await awaitWebhook(stage, receiver, id, { blockNumber: lost, confirmed: false });
    await stage.devnet.reorg(1);
    expect(await hashOf(lost)).not.toBe(lostHash);
    const again = await sendEther();
    await stage.devnet.mine(CONFIRMATIONS);
    for (const id of [plain, noticed]) await awaitWebhook(stage, receiver, id, { blockNumber: again, confirmed: true });
    const againHash = await hashOf(again);
    const expected = [
      [keptHash, false, false],
      [keptHash, true, false],
      [lostHash, false, false],
      [againHash, false, false],
      [againHash, true, false],
    ];
    // What is confirmed of an earlier block may arrive behind it.
    await waitUntil(() => (told(receiver, plain).length === 5 ? null : JSON.stringify(told(receiver, plain))));
    expect(told(receiver, plain).toSorted()).toEqual(expected.toSorted());
    await waitUntil(() => (told(receiver, noticed).length === 6 ? null : JSON.stringify(told(receiver, noticed))));
    expect(told(receiver, noticed).toSorted()).toEqual([...expected, [lostHash, false, true]].toSorted());
  });
});
