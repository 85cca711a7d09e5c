import { ChainsteadError } from '@chainstead/core';

/** A file of ABIs or signatures without any decodable entry. Nothing was changed. */
export class AbiUnreadableError extends ChainsteadError {
  constructor(place: string, problem: string, remedy: string) {
    super({
      code: 'ABI_UNREADABLE',
      message: `No ABI or signature could be imported from ${place}: ${problem}`,
      facts: { place },
      remedy,
      retryable: false,
    });
  }
}
