import { defineError } from '@chainstead/core';

/** Characters: 32 MiB. */
export const BODY_LENGTH_MAX = 33_554_432;

/** Longer webhooks are not built ahead, and share a limit of memory. Characters. */
export const LONG_BODY_LENGTH = 262_144;

export class WebhookTooLargeError extends defineError(
  'WEBHOOK_TOO_LARGE',
  (
    match: { readonly streamId: string; readonly chainId: number; readonly blockNumber: number },
    length: number,
  ) => {
    const { streamId, chainId, blockNumber } = match;
    return {
      message: `The webhook of stream ${streamId} for block ${blockNumber} of chain ${chainId} has ${length} characters, more than the maximum of ${BODY_LENGTH_MAX}`,
      facts: { stream_id: streamId, chain_id: chainId, block: blockNumber, length },
      remedy: 'Narrow the stream by addresses, topic0 or filters, or read the logs of the block from a node',
    };
  },
) {}
