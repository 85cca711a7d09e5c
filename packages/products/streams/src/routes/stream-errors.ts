import { type Address, isAddress, parseAddress } from '@chainstead/core';
import { ApiError, defineApiError, NotFoundError } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { Stream } from '../stream.ts';

/** docs/api/streams-reference.md#create-and-update */
export function notFound(what: 'Stream' | 'Address' | 'History' | 'Stat' | 'Block'): NotFoundError {
  return new NotFoundError(`${what} not found`);
}

export function existing(stream: Stream | null): Stream {
  if (stream === null) throw notFound('Stream');
  return stream;
}

/** A 400: the webhook URL failed its test, or resolves to a blocked kind of address (`range`). */
export class WebhookTestError extends defineApiError(
  'WEBHOOK_TEST_FAILED',
  (webhookUrl: string, range: string | null) => {
    const blocked = ` It leads to an address that webhooks do not reach (${range}): the server's operator can allow it with WEBHOOK_ALLOW_PRIVATE.`;
    return {
      status: 400,
      message: `Could not POST to ${webhookUrl}. Please check your webhook URL.${range === null ? '' : blocked}`,
    };
  },
) {}

export class WebhookTestsLimitedError extends ApiError {
  constructor() {
    super({
      code: 'WEBHOOK_TESTS_LIMITED',
      status: 429,
      message: 'Too many webhook validation requests. Please slow down.',
      headers: { 'retry-after': '60' },
      retryable: true,
    });
  }
}

class InvalidAddressError extends defineApiError(
  'STREAM_ADDRESS_INVALID',
  (details: Readonly<Record<string, unknown>>) => ({ status: 400, message: 'Invalid address provided', details }),
) {}

export class StreamTerminatedError extends defineApiError('STREAM_TERMINATED', () => ({
  status: 400,
  message:
    'Stream is terminated. Resume it with status active and resumeTerminated true, or create a new stream.',
})) {}

export class StreamChainError extends defineApiError('STREAM_CHAIN_MISMATCH', (chain: string) => ({
  status: 400,
  message: `The stream is not on chain ${chain}`,
})) {}

/** docs/api/streams-reference.md#create-and-update */
export const ADDRESSES_MAX = 50_000;

export const addressList = z
  .array(z.unknown())
  .max(ADDRESSES_MAX)
  .openapi({ type: 'array', items: { type: 'string' } });

const NAMED_MAX = 10;
const SHOWN_LENGTH_MAX = 60;

/** Lower case, each once. @throws InvalidAddressError naming the first bad items */
export function givenAddresses(given: string | readonly unknown[], member: string): readonly Address[] {
  if (typeof given === 'string') {
    if (!isAddress(given)) throw new InvalidAddressError(detail(`requestBody.${member}`, given));
    return [parseAddress(given)];
  }
  const bad = [...given.entries()].filter(([, item]) => !isAddress(item)).slice(0, NAMED_MAX);
  if (bad.length > 0)
    throw new InvalidAddressError(
      Object.assign({}, ...bad.map(([index, item]) => detail(`requestBody.${member}.$${index}`, item))),
    );
  return [...new Set(given.map(parseAddress))];
}

function detail(key: string, item: unknown): Readonly<Record<string, unknown>> {
  const value = typeof item === 'string' ? { value: item.slice(0, SHOWN_LENGTH_MAX) } : {};
  return { [key]: { message: 'must be a hexadecimal address (0x and 40 digits)', ...value } };
}
