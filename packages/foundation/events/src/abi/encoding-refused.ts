import { defineError } from '@chainstead/core';

/** An ABI encoding that is cut short, or made to cost more than it may. */
export class EncodingRefusedError extends defineError('ABI_ENCODING_REFUSED', (reason: string) => ({
  message: `The ABI encoding is refused: ${reason}`,
  facts: { reason },
})) {}
