import { createHmac } from 'node:crypto';
import { type Hash, keccak256Hex } from '@chainstead/core';

/**
 * `x-signature` of a body: keccak256 of body and secret as UTF-8, lower-case hexadecimal (docs/provider-contract.md#signature). The receiver
 * parses the body and hashes what JSON.stringify makes of it, so the body must be exactly that.
 */
export function signBody(body: string | Uint8Array, secret: string): Hash {
  return keccak256Hex(Buffer.concat([typeof body === 'string' ? Buffer.from(body) : body, Buffer.from(secret)]));
}

/** The secrets that sign at a moment. */
export interface SigningSecrets {
  readonly current: string;
  /** Signs beside the current one while a rotation lasts; null when none does. */
  readonly previous: string | null;
}

export interface SignedDelivery {
  /** The exact text that is sent, or its UTF-8: encoded once for all signatures and the request. */
  readonly body: string | Uint8Array;
  /** The same on every attempt and replay; without a full stop. */
  readonly id: string;
  /** Of this attempt. */
  readonly sentAt: Date;
  readonly secrets: SigningSecrets;
  /** Deliveries of the stream that wait. */
  readonly queueSize: number;
  readonly region: string;
  readonly confirmed: boolean;
  readonly records: number;
}

/**
 * All headers of a webhook: the provider's (docs/provider-contract.md#signature; unconfirmed ones are not charged) and those of Standard
 * Webhooks 1.0.0 (https://www.standardwebhooks.com). `x-signature` has room for one signature, the current secret's.
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
      .map((secret) => standardSignature(`${id}.${timestamp}.`, body, secret))
      .join(' '),
  };
}

function standardSignature(prefix: string, body: string | Uint8Array, secret: string): string {
  return `v1,${createHmac('sha256', standardKey(secret)).update(prefix).update(body).digest('base64')}`;
}

const STANDARD_PREFIX = 'whsec_';

/** `whsec_` and base64 is how Standard Webhooks writes a key of bytes; any other secret is the key itself, as UTF-8. */
function standardKey(secret: string): Buffer {
  return secret.startsWith(STANDARD_PREFIX)
    ? Buffer.from(secret.slice(STANDARD_PREFIX.length), 'base64')
    : Buffer.from(secret);
}
