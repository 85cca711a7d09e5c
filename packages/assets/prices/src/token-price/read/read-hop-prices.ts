import type { Chain } from '@chainstead/chains';
import type { PricingRules } from '@chainstead/chains/pricing-rules';
import { type Address, addFractions, compareFractions, type Fraction, wholeFraction } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { anchorsOf, formsOf } from '@chainstead/markets/requests';
import { hopRules, type PriceDecision } from '../decide/decide-price.ts';
import type { UnknownDepth } from '../decide/pool-candidate.ts';
import type { PricePlace } from '../place/price-place.ts';
import { type PoolOfToken, readHopPools } from '../pools/hop-pools.ts';
import {
  type HopPrice,
  isWithoutPools,
  type NoPrice,
  type PriceConditions,
  pricedFactories,
  priceFrom,
  readDirectPrices,
  readHistories,
  readTokenFacts,
  type TokenPrice,
  type TokenPrices,
  tokensWithPools,
  withPlausibleValue,
} from './token-price.ts';

type WithoutPrice = Extract<TokenPrice, { of: 'nothing' }>;

/**
 * By pools against a token with a direct price, the *hop*: enough dollars on the anchors' side,
 * and not new. @param direct no pool of unknown depth may change these results
 */
async function readHopPrices(
  database: ReadDatabase,
  chain: Chain,
  direct: ReadonlyMap<Address, WithoutPrice>,
  { factories, rules: given }: Pick<PriceConditions, 'factories' | 'rules'>,
  place: PricePlace,
): Promise<ReadonlyMap<Address, TokenPrice>> {
  const pools = await readPoolsByToken(database, chain, [...direct.keys()], factories, place);
  const hopTokens = [...new Set([...pools.values()].flat().map(({ hop }) => hop))];
  if (hopTokens.length === 0) return direct;
  const rules = hopRules(given);
  const conditions = { factories: null, rules };
  const hopPrices = await readDirectPrices(database, chain, hopTokens, conditions, place);
  const hops = new Map(
    [...hopPrices].flatMap(([token, price]) => {
      const hop = hopOf(token, price, rules, place);
      return typeof hop === 'string' ? [] : [[token, hop] as const];
    }),
  );
  const through = [...pools].map(([token, own]) => ({ token, own: own.filter(({ hop }) => hops.has(hop)) }));
  const unique = new Map(through.flatMap(({ own }) => own.map(({ pool }) => [pool.pool, pool] as const)));
  const [histories = []] = await readHistories(database, chain, [...unique.values()], [place]);
  const old = histories.filter((pool) => !isNew(pool.states, rules.windowSeconds, place.time));
  const facts = await readTokenFacts(database, chain, old);
  const usdOf = new Map([...hops].map(([token, { price }]) => [token, price.usd]));
  return new Map(
    [...direct].map(([token, without]): readonly [Address, TokenPrice] => {
      const own = pools.get(token) ?? [];
      const considered = [...new Set(own.map(({ hop }) => hop))];
      const unknowns = considered.flatMap((hop) => unknownOf(hopPrices.get(hop)));
      const waiting = mergeUnknown(unknowns);
      if (!waiting.isFinal) {
        const why = without.why.reason === 'no-pools' ? ({ reason: 'state-unread' } as const) : without.why;
        return [token, { ...without, why, unknown: waiting, hopTokens: considered }];
      }
      const ids = new Set<string>(own.filter(({ hop }) => hops.has(hop)).map(({ pool }) => pool.pool));
      const ofToken = old.filter(({ pool }) => ids.has(pool));
      const price = priceFrom(ofToken, { anchors: usdOf, decimals: facts.decimals, rules }, place);
      const unknown = mergeUnknown([...unknowns, ...unknownOf(price)]);
      if (price.of !== 'pools' || !unknown.isFinal) {
        return [
          token,
          { of: 'nothing', why: whyNot(without, own.length, price), unknown, hopTokens: considered },
        ];
      }
      const sides = new Set(price.pools.flatMap(({ history: { token0, token1 } }) => [token0, token1]));
      const used = considered.flatMap((hop) => (sides.has(hop) ? (hops.get(hop) ?? []) : []));
      const found = { ...price, unknown, hops: used, hopTokens: considered };
      return [token, withPlausibleValue(token, found, facts)];
    }),
  );
}

function whyNot({ why }: WithoutPrice, pools: number, through: TokenPrice): WithoutPrice['why'] {
  if (why.reason !== 'no-pools') return why;
  if (through.of === 'nothing' && !isWithoutPools(through)) return through.why;
  return pools === 0 ? why : { reason: 'no-anchor' };
}

type HopPool = { readonly pool: PoolOfToken; readonly hop: Address };

async function readPoolsByToken(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
  wanted: PriceConditions['factories'],
  place: PricePlace,
): Promise<ReadonlyMap<Address, readonly HopPool[]>> {
  const formsByToken = new Map(tokens.map((token) => [token, formsOf(token, chain)] as const));
  const byForm = await readHopPools(database, chain, [...new Set([...formsByToken.values()].flat())]);
  const factories = new Set(pricedFactories(chain, wanted));
  return new Map(
    [...formsByToken].map(([token, forms]): readonly [Address, readonly HopPool[]] => {
      const lists = forms.map((form) => byForm.get(form) ?? null);
      if (lists.includes(null)) return [token, []];
      const pools = lists.flatMap((list) => list ?? []).filter(({ factory }) => factories.has(factory));
      const all = pools.flatMap((pool) => {
        const hop = forms.includes(pool.token0) ? pool.token1 : pool.token0;
        return forms.includes(hop) ? [] : [{ pool, hop }];
      });
      const otherTokens = all.map(({ hop }) => hop);
      const allowed = new Set(tokensWithPools(otherTokens, chain, place));
      return [token, all.filter(({ hop }) => allowed.has(hop))];
    }),
  );
}

/** No final price by pools, only new pools, or pools with too few dollars. */
type NoHop = 'no-price' | 'too-young' | 'too-shallow';

export function hopOf(
  token: Address,
  price: TokenPrice,
  { hopMinDepth, windowSeconds }: PricingRules,
  { time }: Pick<PricePlace, 'time'>,
): HopPrice | NoHop {
  if (price.of !== 'pools' || !price.unknown.isFinal) return 'no-price';
  // New pools have a say only if the token has no others.
  const chosen = price.pools.find(({ history }) => history.pool === price.decision.pool);
  if (chosen === undefined || isNew(chosen.history.states, windowSeconds, time)) return 'too-young';
  const depth = countedDepth(price.decision);
  return compareFractions(depth, hopMinDepth) < 0 ? 'too-shallow' : { token, price, depth };
}

/** Whether too little of a pool's past is known for hops. @param time Unix seconds of the price */
export function isNew(
  [first]: readonly { readonly since: number }[],
  windowSeconds: number,
  time: number,
): boolean {
  return first === undefined || time - first.since < windowSeconds;
}

/** US dollars on the known side that have lasted, of pools with a say. */
export function countedDepth({ candidates }: PriceDecision): Fraction {
  return candidates
    .filter(({ role }) => role === 'chosen' || role === 'counted')
    .reduce((sum, { weight }) => addFractions(sum, weight), wholeFraction(0n));
}

function unknownOf(price: TokenPrice | undefined): readonly UnknownDepth[] {
  return price === undefined || price.of === 'anchor' ? [] : [price.unknown];
}

function mergeUnknown(all: readonly UnknownDepth[]): UnknownDepth {
  return {
    isFinal: all.every(({ isFinal }) => isFinal),
    unread: all.flatMap(({ unread }) => unread),
    moved: all.flatMap(({ moved }) => moved),
    old: all.flatMap(({ old }) => old),
  };
}

/** A direct price exists, but is not shown. A push must not change how a token is priced. */
const DIRECT: readonly NoPrice['reason'][] = ['implausible', 'unsettled'];

/** {@link readDirectPrices}, else through another token. Few statements for many tokens. */
export async function readTokenPrices(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
  conditions: PriceConditions,
  place: PricePlace,
): Promise<TokenPrices> {
  const direct = await readDirectPrices(database, chain, tokens, conditions, place);
  return addHopPrices(database, chain, direct, conditions, place);
}

export async function addHopPrices(
  database: ReadDatabase,
  chain: Chain,
  direct: TokenPrices,
  conditions: PriceConditions,
  place: PricePlace,
): Promise<TokenPrices> {
  // A token with a feed is priced by it, or by pools against other anchors.
  const fed = new Set(Object.values(anchorsOf(chain)).flat());
  const open = new Map<Address, Extract<TokenPrice, { of: 'nothing' }>>();
  for (const token of tokensWithPools([...direct.keys()], chain, place)) {
    const price = direct.get(token);
    if (price?.of !== 'nothing' || fed.has(token) || !price.unknown.isFinal) continue;
    if (!DIRECT.includes(price.why.reason)) open.set(token, price);
  }
  if (open.size === 0) return direct;
  return new Map([...direct, ...(await readHopPrices(database, chain, open, conditions, place))]);
}
