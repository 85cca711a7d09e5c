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

/** A dollar token without a feed counts as 1: docs/concepts/prices.md. */
async function readSteps(
  database: ReadDatabase,
  chain: Chain,
  token: Address,
  blocks: readonly BlockTime[],
): Promise<PendingSteps> {
  const feed = feedOf(chain, token);
  const assumed = anchorsOf(chain).dollar.includes(token) ? wholeFraction(1n) : null;
  if (blocks.length === 0) return () => null;
  const numbers = blocks.map(({ block }) => block);
  if (feed !== null) {
    const steps = await readFeedSteps(database, chain, feed, numbers);
    return ({ block, time }) => {
      const price = steps.at(block, time);
      return price === 'absent' ? assumed : price;
    };
  }
  if (assumed !== null || !isEther(chain, token)) return () => assumed;
  const ether = await readEtherPrices(database, chain, numbers);
  return ({ block }) => ether.get(block) ?? 'pending';
}

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
  const steps = await Promise.all(
    anchors.map(async (token) => [token, await readSteps(database, chain, token, blocks)] as const),
  );
  const byToken = new Map(steps.map(([token, priceAt]) => [token, oncePerBlock(priceAt)]));
  const priceOf = (token: Address, at: BlockTime) => byToken.get(token)?.(at) ?? null;
  const isPending = (token: Address, at: BlockTime) => priceOf(token, at) === 'pending';
  const knownPriceOf = (token: Address, at: BlockTime) => {
    const price = priceOf(token, at);
    return price === 'pending' ? null : price;
  };
  return Object.assign(knownPriceOf, { isPending });
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
