import { ChainsteadError } from '@chainstead/core';

/** A file of ABIs or signatures that holds none that can be decoded by. Nothing was changed. */
export class AbiUnreadableError extends ChainsteadError {
  constructor(place: string, problem: string, remedy: string) {
    super({
      code: 'ABI_UNREADABLE',
      message: `Nothing can be decoded by what is in ${place}: ${problem}`,
      facts: { place },
      remedy,
      retryable: false,
    });
  }
}
