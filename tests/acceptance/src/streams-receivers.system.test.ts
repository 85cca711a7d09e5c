/** Webhooks of the running program to a receiver that is gone for a while, and through a reorg. */
import type { Address } from '@chainstead/core';
import type { WebhookReceiver } from '@chainstead/testkit';
import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { waitUntil } from './indexed-chain.ts';
import { arrivedOf, awaitWebhook, CONFIRMATIONS, createStreamStage, type StreamStage } from './stream-stage.ts';

const RETRIES = 3;
let stage: StreamStage;
let alice: Address;
let bob: Address;

beforeAll(async () => {
  stage = await createStreamStage(1_337_021, { WEBHOOK_RETRIES: '200ms,200ms,200ms' });
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
const attempts = z.object({ result: z.array(z.looseObject({ id: z.string() })) });
const stats = z.object({ totalWebhooksDelivered: z.number(), totalWebhooksFailed: z.number() });

async function untilStats(streamId: string, delivered: number, failed: number): Promise<void> {
  await waitUntil(async () => {
    const now = stats.parse((await stage.ask('GET', `/stats/${streamId}`)).body);
    if (now.totalWebhooksDelivered === delivered && now.totalWebhooksFailed === failed) return null;
    return `${JSON.stringify(now)}\n${stage.program.output()}`;
  });
}

it('leaves failures of a receiver that is gone, which are replayed as they were once it is there again', async () => {
  const gone = await stage.receive();
  const id = await stage.watch(gone, NATIVE, [alice]);
  await gone.close();
  const blockNumber = await sendEther();
  await untilStats(id, 0, RETRIES + 1);
  const { result } = attempts.parse((await stage.ask('GET', `/history?limit=100&streamId=${id}`)).body);
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

describe('a reorganisation before confirmation', () => {
  async function hashOf(blockNumber: bigint): Promise<string> {
    return (await stage.devnet.client.getBlock({ blockNumber })).hash;
  }

  function reported(receiver: WebhookReceiver, id: string): [string, boolean, boolean][] {
    return arrivedOf(stage, receiver, id).map(({ parsed }) => [
      parsed.block.hash,
      parsed.confirmed,
      parsed.removed === true,
    ]);
  }

  // Invariant: STREAM-REMOVED
  it('has no confirmed webhook sent of what it took away, and a removed notice where that is asked for', async () => {
    const receiver = await stage.receive();
    const plain = await stage.watch(receiver, NATIVE, [alice]);
    const noticed = await stage.watch(receiver, { ...NATIVE, sendRemoved: true, tag: 'noticed' }, [alice]);
    const kept = await sendEther();
    const lost = await sendEther();
    const [keptHash, lostHash] = [await hashOf(kept), await hashOf(lost)];
    for (const id of [plain, noticed])
      await awaitWebhook(stage, receiver, id, { blockNumber: lost, confirmed: false });
    await stage.devnet.reorg(1);
    expect(await hashOf(lost)).not.toBe(lostHash);
    const again = await sendEther();
    await stage.devnet.mine(CONFIRMATIONS);
    for (const id of [plain, noticed])
      await awaitWebhook(stage, receiver, id, { blockNumber: again, confirmed: true });
    const againHash = await hashOf(again);
    const expected = [
      [keptHash, false, false],
      [keptHash, true, false],
      [lostHash, false, false],
      [againHash, false, false],
      [againHash, true, false],
    ];
    // What is confirmed of an earlier block may arrive behind it.
    await waitUntil(() =>
      reported(receiver, plain).length === 5 ? null : JSON.stringify(reported(receiver, plain)),
    );
    expect(reported(receiver, plain).toSorted()).toEqual(expected.toSorted());
    await waitUntil(() =>
      reported(receiver, noticed).length === 6 ? null : JSON.stringify(reported(receiver, noticed)),
    );
    expect(reported(receiver, noticed).toSorted()).toEqual([...expected, [lostHash, false, true]].toSorted());
  });
});
