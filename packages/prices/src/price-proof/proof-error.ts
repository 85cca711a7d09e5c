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

/** A price that follows from its document, with facts that nothing proves. Code `PRICE_UNPROVEN`. */
export class PriceUnprovenError extends ChainsteadError {
  /** @param facts number of facts without a proof @param blocks number of block hashes to compare */
  constructor(facts: number, blocks: number) {
    super({
      code: 'PRICE_UNPROVEN',
      message: `The price rests on ${facts} facts without a proof and ${blocks} block hashes that are not trusted`,
      facts: { facts, blocks },
      remedy: 'Check the listed facts. Pass trusted hashes with --block-hash and --trusted-hashes',
      retryable: false,
    });
  }
}
