import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { anchorsOf, formsOf } from '@chainstead/markets';
import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import { tokensOf } from './counted-pools.ts';
import { PriceProofError } from './proof-error.ts';

/** Neither anchors nor the token, each once, each with a pool of it. @throws PriceProofError */
export function checkHops(explanation: PriceExplanation, token: Address, chain: Chain | null): void {
  const { hops, anchors, candidates } = explanation;
  if (hops.length === 0) return;
  const priced = new Set(anchors.map((anchor) => anchor.token_address));
  const ofChain = chain === null ? null : anchorsOf(chain);
  const known = new Set<string>(Object.values(ofChain ?? {}).flat());
  if (priced.has(token) || known.has(token))
    throw new PriceProofError('explanation.hops', `are not empty, but the token ${token} is an anchor`);
  // A dollar token whose feed has no valid value has no price by pools.
  const dollars = new Set<string>(ofChain?.dollar);
  const forms: readonly string[] = chain === null ? [token] : formsOf(token, chain);
  const traded = new Set(candidates.flatMap(tokensOf));
  const seen = new Set<string>();
  for (const [index, { token_address: hop }] of hops.entries()) {
    const at = `explanation.hops[${index}].token_address`;
    if (forms.includes(hop)) throw new PriceProofError(at, `is ${hop}, which is the priced token`);
    if (priced.has(hop) || dollars.has(hop)) throw new PriceProofError(at, `is ${hop}, which is an anchor`);
    if (seen.has(hop)) throw new PriceProofError(at, `is ${hop}, which is an earlier hop too`);
    if (!traded.has(hop)) throw new PriceProofError(at, `is ${hop}, which no pool of the candidates trades`);
    seen.add(hop);
  }
}
