import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';

type Candidate = PriceExplanation['candidates'][number];

/** A pool that a price follows from. */
export interface CountedPool {
  readonly candidate: Candidate;
  /** Its place in the document. */
  readonly stated: string;
}

/** Returns the pools that a price follows from: those of the token that count, then those of each hop that these are priced with. */
export function countedPools(explanation: PriceExplanation): readonly CountedPool[] {
  const { candidates, hops } = explanation;
  const ofHops = countedHops(explanation).flatMap((hop) =>
    countedOf(hop.candidates, `explanation.hops[${hops.indexOf(hop)}]`),
  );
  return [...countedOf(candidates, 'explanation'), ...ofHops];
}

/** Returns the hops that the pools of the token that count are priced with. */
export function countedHops({ candidates, hops }: PriceExplanation): PriceExplanation['hops'] {
  const sides = new Set(countedOf(candidates, 'explanation').flatMap(({ candidate }) => tokensOf(candidate)));
  return hops.filter(({ token_address: token }) => sides.has(token));
}

function countedOf(candidates: readonly Candidate[], at: string): readonly CountedPool[] {
  return candidates.flatMap((candidate, place) =>
    candidate.role === 'chosen' || candidate.role === 'counted'
      ? [{ candidate, stated: `${at}.candidates[${place}]` }]
      : [],
  );
}

/** Tokens of a pool. */
export function tokensOf({ sides }: Candidate): readonly string[] {
  return sides.map(({ token_address: token }) => token);
}
