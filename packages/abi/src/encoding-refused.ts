import { ChainsteadError } from '@chainstead/core';

/** An ABI encoding that is cut short, or made to cost more than it may. */
export class EncodingRefusedError extends ChainsteadError {
  constructor(reason: string) {
    super({
      code: 'ABI_ENCODING_REFUSED',
      message: `The ABI encoding is refused: ${reason}`,
      facts: { reason },
      retryable: false,
    });
  }
}
