import { defineApiError } from '@chainstead/http';

export class TooManyReplaysError extends defineApiError('REPLAYS_LIMITED', (waiting: number, limit: number) => ({
  status: 429,
  message: `This key has ${waiting} webhooks in the replay queue, the limit is ${limit} (REPLAYS_PER_KEY): retry when some have been sent`,
  details: { waiting, limit },
  headers: { 'retry-after': '60' },
  retryable: true,
})) {}

export class TooManyStreamsError extends defineApiError('STREAMS_LIMITED', (streams: number, limit: number) => ({
  status: 400,
  message: `This key has ${streams} streams, the limit is ${limit} (STREAMS_PER_KEY): delete one first`,
  details: { streams, limit },
})) {}

export class StreamConfigsTooLargeError extends defineApiError(
  'STREAM_CONFIGS_LIMITED',
  (bytes: number, limit: number) => ({
    status: 400,
    message: `ABIs, filters and triggers in the streams of this key would have ${bytes} bytes in total, the limit is ${limit}: shorten filters, or delete a stream`,
    details: { bytes, limit },
  }),
) {}

export class TooManyAddressesError extends defineApiError(
  'STREAM_ADDRESSES_LIMITED',
  (addresses: number, limit: number) => ({
    status: 400,
    message: `The stream would watch ${addresses} addresses, the limit is ${limit} (ADDRESSES_PER_STREAM): move some to another stream`,
    details: { addresses, limit },
  }),
) {}

export class TooManyKeyAddressesError extends defineApiError(
  'KEY_ADDRESSES_LIMITED',
  (addresses: number, limit: number) => ({
    status: 400,
    message: `The streams of this key would watch ${addresses} addresses in total, the limit is ${limit} (ADDRESSES_PER_KEY): remove some first`,
    details: { addresses, limit },
  }),
) {}
