import { createEgress } from '@chainstead/egress';
import { notedLimits } from '@chainstead/http/testing';
import { startWebhookReceiver } from '@chainstead/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { receiveWebhook } from '../payload/testing/received-webhook.ts';
import type { StreamSettings } from '../records/settings.ts';
import { createProbeWebhook, createTestWebhook, type TestWebhookOptions } from './test-webhook.ts';
import { movedClock, stageConfig } from './testing/delivery-stage.ts';

/** Database time, far from the local time. */
const SENT_AT = 1_700_000_000_000;
const SETTINGS: StreamSettings = { region: 'eu-central-1', secretKey: 'k9'.repeat(32), previousSecretKey: null };

function tester(changes: Partial<TestWebhookOptions> & { readonly allowPrivate?: boolean } = {}) {
  const egress = createEgress({ allowPrivate: changes.allowPrivate ?? true });
  onTestFinished(() => egress.close());
  const send = createTestWebhook(
    createProbeWebhook({ egress, settings: async () => SETTINGS, sentAt: async () => SENT_AT, ...changes }),
  );
  return (webhookUrl: string, key = 'key') => send(stageConfig({ webhookUrl }), key);
}

async function receive(options: Parameters<typeof startWebhookReceiver>[0] = {}) {
  const receiver = await startWebhookReceiver(options);
  onTestFinished(() => receiver.close());
  return receiver;
}

describe('the test webhook', () => {
  test('is the body of the interface to the byte, signed with its golden vector, and the SDK takes it', async () => {
    const receiver = await receive();
    expect(await tester()(`${receiver.url}/hook`)).toEqual({ ok: true });
    const [webhook] = receiver.received;
    expect(webhook?.body).toBe(
      '{"abi":[],"block":{"number":"","hash":"","timestamp":""},"txs":[],"txsInternal":[],"logs":[],"chainId":"","confirmed":true,"retries":0,"tag":"","streamId":"","erc20Approvals":[],"erc20Transfers":[],"nftTokenApprovals":[],"nftApprovals":{"ERC721":[],"ERC1155":[]},"nftTransfers":[],"nativeBalances":[]}',
    );
    expect(webhook?.headers).toMatchObject({
      'x-signature': '0x3c4b2e6b07e386f97198eb2dc639f7901f00a5d3ec1b8c8effe4838920d71829',
      'content-type': 'application/json',
      'x-region': 'eu-central-1',
      'x-records-charged': '0',
      'webhook-timestamp': '1700000000',
    });
    await receiveWebhook(webhook?.body ?? '');
  });

  test.each([404, 500, 302])('fails for an answer with status %i', async (status) => {
    const receiver = await receive({ answer: () => ({ status, headers: { location: '/elsewhere' } }) });
    expect(await tester()(receiver.url)).toEqual({ ok: false, reason: 'unreachable' });
    expect(receiver.received).toHaveLength(1);
  });

  test.each([
    ['http://127.0.0.1:9/', 'loopback'],
    ['http://169.254.169.254/latest', 'linkLocal'],
  ])('is not sent to %s, which nobody may have asked for, and says why', async (url, range) => {
    expect(await tester({ allowPrivate: false })(url)).toEqual({ ok: false, reason: 'not-allowed', range });
  });

  test.each(['ftp://example.org/', 'nonsense'])('fails for %s', async (url) => {
    expect(await tester({ allowPrivate: false })(url)).toEqual({ ok: false, reason: 'unreachable' });
  });

  test('is sent only so often to one host, whatever the rest of its URL and whoever asks', async () => {
    const receiver = await receive();
    const other = await receive();
    const clock = movedClock();
    const limits = notedLimits(clock);
    const send = tester({ limits, perHost: 3 });
    const results = await Promise.all([1, 2, 3, 4].map((n) => send(`${receiver.url}/${n}?n=${n}`, `key ${n}`)));
    expect(results.filter(({ ok }) => ok)).toHaveLength(3);
    expect(results).toContainEqual({ ok: false, reason: 'too-many' });
    expect(await send(other.url)).toEqual({ ok: true });
    clock.advance(60_001);
    expect(await send(`${receiver.url}/a`)).toEqual({ ok: true });
    expect(receiver.received).toHaveLength(4);
    // The limit store contains no host name.
    expect([...limits.buckets].join()).not.toContain(new URL(receiver.url).host);
  });

  test('is sent only so often for one key, to whatever hosts', async () => {
    const receivers = await Promise.all([receive(), receive(), receive()]);
    const send = tester({ perKey: 2 });
    const results = await Promise.all(receivers.map(({ url }) => send(url, 'greedy')));
    expect(results.filter(({ ok }) => ok)).toHaveLength(2);
    expect(await send(receivers[2]?.url ?? '', 'modest')).toEqual({ ok: true });
  });
});
