import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, ZERO_ADDRESS } from '@chainstead/core';
import { factoriesOf, shownToken } from '@chainstead/markets/requests';
import { type PriceMoment, type PricePlace, readPlace } from '../place/price-place.ts';
import { type PriceSources, readNativePrice, readPricesWithBalances } from '../read/prices-with-balances.ts';
import { DAY_SECONDS, dollarsOf, hopTokensOf, isDepthKnown, isInactive } from '../read/token-price.ts';
import type { PriceLimits } from './price-parameters.ts';
import type { Refusal, Refused } from './price-refusals.ts';
import type { FoundPrice } from './price-response.ts';
import { readPricedTokens } from './priced-tokens.ts';

export interface WantedPrice {
  readonly token: Address;
  readonly exchange: string | null;
  readonly toBlock: number | null;
}

/** `read`: in request order. Tokens of one block and exchange are read together. */
export function createPriceReader(given: Omit<PriceSources, 'waitsUntil'>, chain: Chain, options: PriceLimits) {
  const sources = { ...given, waitsUntil: performance.now() + (given.contracts?.balances.waitMs ?? 0) };
  const { reads: database } = sources;
  const { max_token_inactivity: maxDays, min_pair_side_liquidity_usd: minSideDepth } = options;
  const rules = { ...chain.pricing, ...(minSideDepth !== undefined && { minSideDepth }) };
  const places = new Map<string, ReturnType<typeof readPlace>>();
  const natives = new Map<number, Promise<Fraction | null>>();

  const placeAt = (moment: PriceMoment) =>
    remembered(places, JSON.stringify(moment), () => readPlace(database, chain, moment, rules.windowSeconds));
  const nativeAt = (place: PricePlace) =>
    remembered(natives, place.block, () => readNativePrice(sources, chain, place));

  async function readGroup(group: Omit<WantedPrice, 'token'>, tokens: readonly Address[]): Promise<PriceOf> {
    const { exchange, toBlock } = group;
    const factories = exchange === null || exchange === '' ? null : factoriesOf(exchange, chain);
    const { place, indexed } = await placeAt(
      toBlock === null ? { of: 'newest' } : { of: 'block', block: toBlock },
    );
    const refuse = (refusal: Refusal): Refused => ({ refusal, indexed });
    const refuseAs = (of: Exclude<Refusal['of'], 'no-price'>): Refused => refuse({ of });
    if (factories?.length === 0) return async () => refuseAs('unknown-exchange');
    if (toBlock !== null && indexed.toBlock !== null && toBlock > indexed.toBlock)
      return async () => refuseAs('beyond-head');
    if (place === null) return async () => refuse({ of: 'no-price', why: { reason: 'state-unread' } });
    const [prices, { place: earlierPlace }] = await Promise.all([
      readPricesWithBalances(sources, chain, tokens, { factories, rules }, place),
      placeAt({ of: 'time', time: place.time - DAY_SECONDS }),
    ]);
    const priced = tokens.filter((token) => dollarsOf(prices.get(token)) !== null);
    const hopTokens = priced.flatMap((token) => hopTokensOf(prices.get(token)));
    const [facts, earlier] = await Promise.all([
      readPricedTokens(database, chain, [...priced, ...hopTokens]),
      priced.length === 0 || earlierPlace === null
        ? null
        : readPricesWithBalances(sources, chain, priced, { factories, rules }, earlierPlace),
    ]);
    return async (token) => {
      const price = prices.get(token);
      if (price === undefined || price.of === 'nothing') {
        if (shownToken(token, chain) === shownToken(ZERO_ADDRESS, chain)) return refuseAs('no-native-price');
        return refuse({ of: 'no-price', why: price?.why ?? { reason: 'no-pools' } });
      }
      if (maxDays !== undefined && isInactive(price, place, maxDays)) return refuseAs('inactive');
      const { isDecided: isOwnDecided, ...known } = facts(token);
      const isDecided = isOwnDecided && hopTokensOf(price).every((hop) => facts(hop).isDecided);
      // An unproven pool might be the deepest one, and so might one of unknown depth.
      const complete = indexed.complete && isDecided && isDepthKnown(price);
      if (options.final === true && !complete && price.of !== 'anchor') return refuseAs('not-final');
      return {
        ...{ token, place, rules, toBlock, price, ...known },
        indexed: { ...indexed, complete },
        native: await nativeAt(place),
        before: dollarsOf(earlier?.get(token)),
      };
    };
  }

  async function read(wanted: readonly WantedPrice[]): Promise<readonly (FoundPrice | Refused)[]> {
    const keyOf = ({ exchange, toBlock }: WantedPrice): string => JSON.stringify([exchange, toBlock]);
    const groups = Map.groupBy(wanted, keyOf);
    const readers = new Map<string, PriceOf>();
    const found: (FoundPrice | Refused)[] = [];
    for (const price of wanted) {
      const key = keyOf(price);
      const tokens = (groups.get(key) ?? []).map(({ token }) => token);
      const priceOf = readers.get(key) ?? (await readGroup(price, tokens));
      readers.set(key, priceOf);
      found.push(await priceOf(price.token));
    }
    return found;
  }

  return { read, readIndexed: async () => (await placeAt({ of: 'newest' })).indexed };
}

type PriceOf = (token: Address) => Promise<FoundPrice | Refused>;

function remembered<Key, Value>(
  known: Map<Key, Promise<Value>>,
  key: Key,
  read: () => Promise<Value>,
): Promise<Value> {
  const found = known.get(key) ?? read();
  known.set(key, found);
  return found;
}
