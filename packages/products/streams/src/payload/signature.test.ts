import { describe, expect, test } from 'vitest';
import { TEST_BODY } from './render-body.ts';
import { type SignedDelivery, signBody, webhookHeaders } from './signature.ts';

const DELIVERY: SignedDelivery = {
  body: '{"test": 2432232314}',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  sentAt: new Date(1_614_265_330_999),
  secrets: { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', previous: null },
  queueSize: 3,
  region: 'eu-central-1',
  confirmed: true,
  records: 7,
};

describe('x-signature', () => {
  test('of the test body is the golden vector of the interface', () => {
    expect(signBody(TEST_BODY, 'k9'.repeat(32))).toBe(
      '0x3c4b2e6b07e386f97198eb2dc639f7901f00a5d3ec1b8c8effe4838920d71829',
    );
  });

  test('takes body and secret as UTF-8', () => {
    expect(signBody('{"tag":"ü🦄"}', 'ß')).toBe(signBody('{"tag":"ü🦄"}ß', ''));
    expect(signBody('{"tag":"ü"}', 's')).not.toBe(signBody('{"tag":"u"}', 's'));
  });
});

describe('webhook headers', () => {
  test('are the provider’s and those of Standard Webhooks, whose own test vector they give', () => {
    expect(webhookHeaders(DELIVERY)).toEqual({
      'content-type': 'application/json',
      'x-signature': signBody(DELIVERY.body, DELIVERY.secrets.current),
      'x-queue-size': '3',
      'x-region': 'eu-central-1',
      'x-records-charged': '7',
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('charge nothing for unconfirmed webhooks', () => {
    expect(webhookHeaders({ ...DELIVERY, confirmed: false })['x-records-charged']).toBe('0');
  });

  test('carry a signature of each secret while a rotation lasts, the current one first', () => {
    const current = 'new secret';
    const secrets = { current, previous: DELIVERY.secrets.current };
    const rotating = webhookHeaders({ ...DELIVERY, secrets });
    const [first, second, ...others] = (rotating['webhook-signature'] ?? '').split(' ');
    expect(first).toBe(
      webhookHeaders({ ...DELIVERY, secrets: { current, previous: null } })['webhook-signature'],
    );
    expect(second).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
    expect(others).toEqual([]);
    expect(rotating['x-signature']).toBe(signBody(DELIVERY.body, current));
  });

  test('a secret that is not in the standard’s form is the key itself', () => {
    const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
    const plain = 'plain secret of an account';
    const standard = `whsec_${Buffer.from(plain).toString('base64')}`;
    const signature = (current: string) =>
      webhookHeaders({ ...DELIVERY, secrets: { current, previous: null } })['webhook-signature'];
    expect(signature(plain)).toBe(signature(standard));
    expect(signature(key.toString('latin1'))).not.toBe(signature(DELIVERY.secrets.current));
  });
});
