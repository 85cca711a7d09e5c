import { ApiError, defineApiError, NotFoundError } from '@chainstead/http';
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

export class InvalidAddressError extends defineApiError(
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
