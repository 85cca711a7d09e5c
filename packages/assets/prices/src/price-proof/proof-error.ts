import { defineError } from '@chainstead/core';

export class PriceProofError extends defineError('PRICE_PROOF_INVALID', (place: string, problem: string) => ({
  message: `The price proof is invalid: ${place} ${problem}`,
  facts: { place },
  remedy: 'Request the price with its proof again, from a source that you trust',
})) {}

export class PriceUnprovenError extends defineError('PRICE_UNPROVEN', (facts: number, blocks: number) => ({
  message: `The price rests on ${facts} facts without a proof and ${blocks} block hashes that are not trusted`,
  facts: { facts, blocks },
  remedy: 'Check the listed facts. Pass trusted hashes with --block-hash and --trusted-hashes',
})) {}
