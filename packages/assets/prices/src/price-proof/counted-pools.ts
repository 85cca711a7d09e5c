import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';

type Candidate = PriceExplanation['candidates'][number];

export type CountedPool = { readonly candidate: Candidate; readonly stated: string };

export function countedPools(explanation: PriceExplanation): readonly CountedPool[] {
  const { candidates, hops } = explanation;
  const ofHops = countedHops(explanation).flatMap((hop) =>
    countedOf(hop.candidates, `explanation.hops[${hops.indexOf(hop)}]`),
  );
  return [...countedOf(candidates, 'explanation'), ...ofHops];
}

export function countedHops({ candidates, hops }: PriceExplanation): PriceExplanation['hops'] {
  const sides = new Set(countedOf(candidates, 'explanation').flatMap(({ candidate }) => tokensOf(candidate)));
  return hops.filter(({ token_address: token }) => sides.has(token));
}

function countedOf(candidates: readonly Candidate[], at: string): readonly CountedPool[] {
  return candidates
    .map((candidate, index) => ({ candidate, stated: `${at}.candidates[${index}]` }))
    .filter(({ candidate: { role } }) => role === 'chosen' || role === 'counted');
}

export function tokensOf({ sides }: Candidate): readonly string[] {
  return sides.map(({ token_address: token }) => token);
}
