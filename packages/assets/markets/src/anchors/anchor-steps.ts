import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, wholeFraction, ZERO_ADDRESS } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { hasEtherQuotes, readEtherPrices, readFeedSteps } from '@chainstead/tokens/price-feeds/quotes';
import { anchorsOf } from './anchors-of-chain.ts';

/** Time in Unix seconds. */
export interface BlockTime {
  readonly block: number;
  readonly time: number;
}

export function isPriceable(chain: Chain, token: Address): boolean {
  const { dollar } = anchorsOf(chain);
  return (
    feedOf(chain, token) !== null || dollar.includes(token) || (isEther(chain, token) && hasEtherQuotes(chain))
  );
}

type PendingSteps = (at: BlockTime) => Fraction | 'pending' | null;

export interface AnchorBook {
  /** US dollars per whole token; null: no anchor, or its price is unknown. */
  (token: Address, at: BlockTime): Fraction | null;
  /** Another anchor must not take the place of a pending one: its price would be replaced later. */
  isPending(token: Address, at: BlockTime): boolean;
}

export async function readAnchorBook(
  database: ReadDatabase,
  chain: Chain,
  tokens: Iterable<Address>,
  blocks: readonly BlockTime[],
): Promise<AnchorBook> {
  const anchors = [...new Set(tokens)].filter((token) => isPriceable(chain, token));
  const stepsOf = await readSteps(database, chain, anchors, blocks);
  const byToken = new Map(anchors.map((token) => [token, oncePerBlock(stepsOf(token))]));
  const priceOf = (token: Address, at: BlockTime) => byToken.get(token)?.(at) ?? null;
  const isPending = (token: Address, at: BlockTime) => priceOf(token, at) === 'pending';
  const knownPriceOf = (token: Address, at: BlockTime) => {
    const price = priceOf(token, at);
    return price === 'pending' ? null : price;
  };
  return Object.assign(knownPriceOf, { isPending });
}

/** A dollar token without a feed counts as 1: docs/concepts/prices.md. */
async function readSteps(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
  blocks: readonly BlockTime[],
): Promise<(token: Address) => PendingSteps> {
  if (blocks.length === 0) return () => () => null;
  const numbers = blocks.map(({ block }) => block);
  const feeds = new Map(tokens.flatMap((token) => feedOf(chain, token) ?? []).map((feed) => [feed.proxy, feed]));
  const isAssumed = (token: Address) => anchorsOf(chain).dollar.includes(token);
  const isQuoted = (token: Address) =>
    feedOf(chain, token) === null && !isAssumed(token) && isEther(chain, token);
  const [steps, ether] = await Promise.all([
    readFeedSteps(database, chain, [...feeds.values()], numbers),
    tokens.some(isQuoted) ? readEtherPrices(database, chain, numbers) : new Map<number, Fraction>(),
  ]);
  return (token) => {
    const feed = feedOf(chain, token);
    const assumed = isAssumed(token) ? wholeFraction(1n) : null;
    if (isQuoted(token)) return ({ block }) => ether.get(block) ?? 'pending';
    if (feed === null) return () => assumed;
    return ({ block, time }) => {
      const price = steps.get(feed.proxy)?.at(block, time) ?? null;
      return price === 'absent' ? assumed : price;
    };
  };
}

function oncePerBlock(priceAt: PendingSteps): PendingSteps {
  let [block, price]: [number, ReturnType<PendingSteps>] = [-1, null];
  return (at) => {
    if (at.block !== block) [block, price] = [at.block, priceAt(at)];
    return price;
  };
}

function feedOf(chain: Chain, token: Address) {
  const isNative = anchorsOf(chain).native.includes(token);
  const own = chain.tokenFeeds.find(({ tokens }) => tokens.includes(isNative ? ZERO_ADDRESS : token));
  return own ?? (isEther(chain, token) ? chain.etherPrice.feed : null);
}

function isEther(chain: Chain, token: Address): boolean {
  const { native, ether } = anchorsOf(chain);
  return ether.includes(token) || (chain.native.isEther && native.includes(token));
}
