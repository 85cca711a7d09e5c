import { ApiError, NotFoundError } from '@chainstead/http';

/** A 404 in the provider's words (docs/provider-contract.md#create-and-update). */
export function notFound(what: 'Stream' | 'Address' | 'History' | 'Stat' | 'Block'): NotFoundError {
  return new NotFoundError(`${what} not found`);
}

/** A 400: the webhook URL did not answer its test, or leads to an address of a kind (`range`) that is not reached. */
export class WebhookTestError extends ApiError {
  constructor(webhookUrl: string, range: string | null) {
    super({
      code: 'WEBHOOK_TEST_FAILED',
      status: 400,
      message: `Could not POST to ${webhookUrl}. Please check your webhook URL.${range === null ? '' : notReached(range)}`,
    });
  }
}

function notReached(range: string): string {
  return ` It leads to an address that webhooks do not reach (${range}): the server's operator can allow it with WEBHOOK_ALLOW_PRIVATE.`;
}

/** A 429: this key has replays enough under way. */
export class TooManyJobsError extends ApiError {
  constructor(limit: number) {
    super({
      code: 'HISTORICAL_JOBS_LIMITED',
      status: 429,
      message: `${limit} historical jobs of this key are under way: ask again when one of them is done`,
      details: { limit },
      headers: { 'retry-after': '60' },
      retryable: true,
    });
  }
}

/** A 400: a replay over more blocks than one job may have. */
export class RangeTooLongError extends ApiError {
  constructor(blocks: number, limit: number) {
    super({
      code: 'HISTORICAL_RANGE_TOO_LONG',
      status: 400,
      message: `The range has ${blocks} blocks, a historical job may have ${limit} (HISTORICAL_JOB_BLOCKS): split it`,
      details: { blocks, limit },
    });
  }
}

/** A 429: this key has asked for more webhooks than have been sent yet. */
export class TooManyReplaysError extends ApiError {
  constructor(waiting: number, limit: number) {
    super({
      code: 'REPLAYS_LIMITED',
      status: 429,
      message: `${waiting} webhooks that this key asked for are waiting to be sent, the limit is ${limit} (REPLAYS_PER_KEY): ask again when some have arrived`,
      details: { waiting, limit },
      headers: { 'retry-after': '60' },
      retryable: true,
    });
  }
}

/** A 400: this key has as many streams as it may. */
export class TooManyStreamsError extends ApiError {
  constructor(streams: number, limit: number) {
    super({
      code: 'STREAMS_LIMITED',
      status: 400,
      message: `This key has ${streams} streams, the limit is ${limit} (STREAMS_PER_KEY): delete one first`,
      details: { streams, limit },
    });
  }
}

/** A 400: a stream would watch too many addresses. */
export class TooManyAddressesError extends ApiError {
  constructor(addresses: number, limit: number) {
    super({
      code: 'STREAM_ADDRESSES_LIMITED',
      status: 400,
      message: `The stream would watch ${addresses} addresses, the limit is ${limit} (ADDRESSES_PER_STREAM): use another stream for some of them`,
      details: { addresses, limit },
    });
  }
}

/** A 400: the streams of a key would watch too many addresses. */
export class TooManyKeyAddressesError extends ApiError {
  constructor(addresses: number, limit: number) {
    super({
      code: 'KEY_ADDRESSES_LIMITED',
      status: 400,
      message: `The streams of this key would watch ${addresses} addresses together, the limit is ${limit} (ADDRESSES_PER_KEY): remove some first`,
      details: { addresses, limit },
    });
  }
}

/** A 429: the webhook URL was tested too often. */
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

/** A 400: something in a list of addresses is none. */
export class InvalidAddressError extends ApiError {
  constructor(details: Readonly<Record<string, unknown>>) {
    super({ code: 'STREAM_ADDRESS_INVALID', status: 400, message: 'Invalid address provided', details });
  }
}

/** A 400: a terminated stream is left as it is, unless the request says otherwise. */
export class StreamTerminatedError extends ApiError {
  constructor() {
    super({
      code: 'STREAM_TERMINATED',
      status: 400,
      message: 'Stream is terminated. Resume it with status active and resumeTerminated true, or create a new stream.',
    });
  }
}

/** A 400: the stream is not on the chain that the path names. */
export class StreamChainError extends ApiError {
  constructor(chain: string) {
    super({ code: 'STREAM_CHAIN_MISMATCH', status: 400, message: `The stream is not on chain ${chain}` });
  }
}
