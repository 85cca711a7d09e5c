import { createHmac } from 'node:crypto';
import { type Hash, keccak256Hex } from '@chainstead/core';

/** Receivers hash the `JSON.stringify` text of the parsed body, which must equal the body. */
export function signBody(body: string | Uint8Array, secret: string): Hash {
  return keccak256Hex(Buffer.concat([typeof body === 'string' ? Buffer.from(body) : body, Buffer.from(secret)]));
}

export interface SigningSecrets {
  readonly current: string;
  /** Also signs during a rotation; null outside of one. */
  readonly previous: string | null;
}

export interface SignedDelivery {
  /** Exact text, or its UTF-8 bytes, encoded once. */
  readonly body: string | Uint8Array;
  /** The same for every attempt and replay; no full stop in it. */
  readonly id: string;
  readonly sentAt: Date;
  readonly secrets: SigningSecrets;
  readonly queueSize: number;
  readonly region: string;
  readonly confirmed: boolean;
  readonly records: number;
}

/**
 * Headers of the hosted API (docs/api/webhooks-verify.md#verify-x-signature) and of Standard
 * Webhooks 1.0.0 (https://www.standardwebhooks.com). `x-signature` is from the current secret.
 */
export function webhookHeaders(delivery: SignedDelivery): Readonly<Record<string, string>> {
  const { body, id, secrets, confirmed } = delivery;
  const timestamp = String(Math.floor(delivery.sentAt.getTime() / 1000));
  return {
    'content-type': 'application/json',
    'x-signature': signBody(body, secrets.current),
    'x-queue-size': String(delivery.queueSize),
    'x-region': delivery.region,
    'x-records-charged': confirmed ? String(delivery.records) : '0',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': [secrets.current, secrets.previous]
      .filter((secret) => secret !== null)
      .map((secret) => createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`).update(body))
      .map((hmac) => `v1,${hmac.digest('base64')}`)
      .join(' '),
  };
}

const STANDARD_PREFIX = 'whsec_';

/** `whsec_` and base64 hold a binary key; any other secret is the key, as UTF-8. */
function standardKey(secret: string): Buffer {
  return secret.startsWith(STANDARD_PREFIX)
    ? Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64')
    : Buffer.from(secret);
}
