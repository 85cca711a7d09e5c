import { createEgress } from '@chainstead/egress';
import { startWebhookReceiver } from '@chainstead/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { postWebhook } from './deliver.ts';

function post(url: string, allowPrivate: boolean | readonly string[] = false) {
  const egress = createEgress({
    allowPrivate,
    resolve: async (host) => (host === 'rebound.example' ? ['93.184.216.34', '10.0.0.7'] : ['127.0.0.1']),
  });
  onTestFinished(() => egress.close());
  return postWebhook(egress, { url, headers: { 'content-type': 'application/json' }, body: '{}' });
}

describe('a webhook to a hostile URL', () => {
  test.each([
    ['http://127.0.0.1:80/', '127.0.0.1 resolves to 127.0.0.1, which is loopback'],
    ['http://2130706433/', '127.0.0.1 resolves to 127.0.0.1'],
    ['http://[::ffff:10.0.0.1]/', 'which is'],
    ['http://169.254.169.254/latest/meta-data', '169.254.169.254 resolves to 169.254.169.254'],
    ['http://inside.example/', 'inside.example resolves to 127.0.0.1'],
    ['http://rebound.example/', 'rebound.example resolves to 10.0.0.7'],
    ['file:///etc/passwd', 'neither http: nor https:'],
    ['gopher://example.org/', 'neither http: nor https:'],
    ['//no-protocol', 'is not a URL'],
  ])('%s fails with a reason that says why', async (url, reason) => {
    const outcome = await post(url);
    expect(outcome).toMatchObject({ success: false, httpStatus: null });
    expect(outcome.errorMessage).toContain(reason);
  });

  test('reaches a private network that is allowed, and no other', async () => {
    const receiver = await startWebhookReceiver();
    onTestFinished(() => receiver.close());
    expect(await post(receiver.url, ['127.0.0.0/8'])).toMatchObject({ success: true, httpStatus: 200 });
    expect(await post(receiver.url, ['10.0.0.0/8'])).toMatchObject({ success: false });
  });

  test('that answers endlessly counts by its status', async () => {
    const receiver = await startWebhookReceiver({ answer: () => ({ body: 'x'.repeat(5_000_000) }) });
    onTestFinished(() => receiver.close());
    expect(await post(receiver.url, true)).toMatchObject({ success: true });
  });

  test('that breaks the connection, or has nobody listening, fails with the reason', async () => {
    const receiver = await startWebhookReceiver({ answer: () => ({ status: 'reset' }) });
    expect((await post(receiver.url, true)).errorMessage).toMatch(/failed: (ECONNRESET|UND_ERR_SOCKET)/);
    await receiver.close();
    expect((await post(receiver.url, true)).errorMessage).toContain('ECONNREFUSED');
  });
});
