import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';

type Candidate = PriceExplanation['candidates'][number];

/** A pool that a price follows from. */
export interface CountedPool {
  readonly candidate: Candidate;
  /** Its place in the document. */
  readonly stated: string;
}

/** Returns the pools that a price follows from: those of the token that count, then those of each hop that these are priced with. */
export function countedPools({ candidates, hops }: PriceExplanation): readonly CountedPool[] {
  const own = countedOf(candidates, 'explanation');
  const sides = new Set(own.flatMap(({ candidate }) => tokensOf(candidate)));
  return [
    ...own,
    ...hops.flatMap((hop, place) =>
      sides.has(hop.token_address) ? countedOf(hop.candidates, `explanation.hops[${place}]`) : [],
    ),
  ];
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
