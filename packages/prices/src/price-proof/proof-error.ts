import { ChainsteadError } from '@chainstead/core';

/** A price proof that does not hold. Code `PRICE_PROOF_INVALID`. */
export class PriceProofError extends ChainsteadError {
  /** @param place the part of the document that failed @param problem a clause without its subject */
  constructor(place: string, problem: string) {
    super({
      code: 'PRICE_PROOF_INVALID',
      message: `The price proof is invalid: ${place} ${problem}`,
      facts: { place },
      remedy: 'Request the price with its proof again, from a source that you trust',
      retryable: false,
    });
  }
}
