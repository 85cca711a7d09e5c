/** A stream's life by the official SDK, against the running program. */
import type { Address } from '@chainstead/core';
import type { Moralis, WebhookReceiver } from '@chainstead/testkit';
import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from './indexed-chain.ts';
import { arrivedOf, awaitWebhook, createStreamStage, type StreamStage } from './stream-stage.ts';

// Processes start slowly on a busy machine.
let stage: StreamStage;
let Streams: Moralis['Streams'];
let receiver: WebhookReceiver;
let alice: Address;
let id: string;
const chain = `0x${(1_337_022).toString(16)}`;

beforeAll(async () => {
  stage = await createStreamStage(1_337_022, { WEBHOOK_RETRIES: '0' });
  ({ Streams } = stage.sdk.Moralis);
  receiver = await stage.receive();
  [alice] = stage.devnet.accounts.slice(5) as [Address];
});
afterAll(() => stage?.close());

async function sendEther(from: Address): Promise<bigint> {
  const { client } = stage.devnet;
  const hash = await client.sendTransaction({ account: from, to: from, value: parseEther('0.001'), chain: null });
  return (await client.waitForTransactionReceipt({ hash })).blockNumber;
}

describe('the official SDK', () => {
  it('adds a stream and an address', async () => {
    const webhookUrl = `${receiver.url}/sdk`;
    const added = await Streams.add({
      webhookUrl,
      description: 'of the SDK',
      tag: 'sdk',
      chains: [chain],
      includeNativeTxs: true,
    });
    ({ id } = added.result);
    expect(added.raw).toMatchObject({
      webhookUrl,
      chainIds: [chain],
      status: 'active',
      statusMessage: 'Stream is active',
    });
    expect(receiver.received).toMatchObject([{ path: '/sdk', body: expect.stringContaining('"streamId":""') }]);
    expect((await Streams.getById({ id })).raw).toEqual(added.raw);
    const all = await Streams.getAll({ limit: 10 });
    expect(all.result.map((stream) => stream.id)).toEqual([id]);
    await Streams.addAddress({ id, address: [alice] });
  });

  it('gets webhooks, updates the stream, pauses and resumes it', async () => {
    const first = await sendEther(alice);
    await awaitWebhook(stage, receiver, id, { blockNumber: first, confirmed: false });
    const updated = await Streams.update({ id, tag: 'renamed', description: 'another' });
    expect(updated.raw).toMatchObject({
      tag: 'renamed',
      description: 'another',
      includeNativeTxs: true,
      chainIds: [chain],
    });

    const paused = await Streams.updateStatus({ id, status: 'paused' });
    expect(paused.raw).toMatchObject({ status: 'paused', statusMessage: 'Stream was paused by the user' });
    const missed = await sendEther(alice);
    await stage.untilFollowed(missed);
    await Streams.updateStatus({ id, status: 'active' });
    const second = await sendEther(alice);
    const { parsed } = await awaitWebhook(stage, receiver, id, { blockNumber: second, confirmed: false });
    expect(parsed.tag).toBe('renamed');
    const blocks = arrivedOf(stage, receiver, id).map((webhook) => webhook.parsed.block.number);
    expect(blocks).not.toContain(String(missed));
  });

  it('reads statistics, failures and attempts, and has a failure sent again', async () => {
    await waitUntil(async () =>
      (await Streams.getStatsById({ streamId: id })).raw.totalWebhooksDelivered >= 2 ? null : 'not counted yet',
    );
    receiver.answerWith(() => ({ status: 500 }));
    const blockNumber = await sendEther(alice);
    const failureOf = async () => {
      const { result } = await Streams.getHistory({ limit: 100 });
      return result.find(({ tinyPayload: { block, confirmed } }) => block === String(blockNumber) && !confirmed);
    };
    await waitUntil(async () => ((await failureOf()) === undefined ? 'no failure yet' : null));
    receiver.answerWith(() => ({}));
    const failure = await failureOf();
    expect(failure).toMatchObject({ streamId: id, errorMessage: 'Request failed with status code 500' });
    await waitUntil(async () => {
      const { totalWebhooksFailed: account } = (await Streams.getStats()).raw;
      const { totalWebhooksFailed: stream } = (await Streams.getStatsById({ streamId: id })).raw;
      return account === stream && stream > 0 ? null : `${account} in all, ${stream} of the stream`;
    });
    const logs = await Streams.getLogs({ limit: 100 });
    expect(logs.result.map(({ deliveryStatus }) => deliveryStatus)).toEqual(
      expect.arrayContaining(['success', 'failed']),
    );

    await Streams.retry({ streamId: id, id: failure?.id ?? '' });
    const told = () =>
      arrivedOf(stage, receiver, id).filter(
        ({ parsed }) => parsed.block.number === String(blockNumber) && !parsed.confirmed,
      );
    await waitUntil(() => (told().length === 2 ? null : `${told().length} arrived`));
    expect(told()[1]?.body).toBe(told()[0]?.body);
  });

  it('reads and changes settings: the new secret signs from then on', async () => {
    expect((await Streams.readSettings()).raw).toEqual({ region: 'us-east-1', secretKey: stage.secret });
    expect((await Streams.setSettings({ region: 'eu-central-1' })).raw).toMatchObject({ region: 'eu-central-1' });
    const secretKey = 'another secret of ours';
    expect(await stage.ask('POST', '/settings', { secretKey })).toMatchObject({ status: 200, body: { secretKey } });
    const before = receiver.received.length;
    await sendEther(alice);
    await receiver.arrived(before + 1);
    const { body, headers } = receiver.received.at(-1) ?? {};
    const signature = String(headers?.['x-signature']);
    expect(() => Streams.verifySignature({ body: JSON.parse(body ?? ''), signature })).toThrow(
      'Signature is not valid',
    );
    expect(String(headers?.['webhook-signature']).split(' ')).toHaveLength(2);
    await stage.ask('POST', '/settings', { secretKey: stage.secret });
  });

  it('deletes the stream, of which nothing is told any more', async () => {
    const deleted = await Streams.delete({ id });
    expect(deleted.raw).toMatchObject({ id, tag: 'renamed' });
    await expect(Streams.getById({ id })).rejects.toThrow(/404.*Stream not found/);
    const other = await stage.receive();
    const witness = await stage.watch(other, { includeNativeTxs: true }, [alice]);
    const blockNumber = await sendEther(alice);
    await awaitWebhook(stage, other, witness, { blockNumber, confirmed: false });
    expect(receiver.received.map(({ body }) => JSON.parse(body).block.number)).not.toContain(String(blockNumber));
    expect((await Streams.getStats()).raw.totalWebhooksDelivered).toBeGreaterThan(2);
  });
});
