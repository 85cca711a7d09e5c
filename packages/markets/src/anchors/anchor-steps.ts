import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, wholeFraction, ZERO_ADDRESS } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { hasEtherQuotes, readEtherPrices, readFeedSteps } from '@chainstead/price-feeds';
import { anchorsOf } from './anchors-of-chain.ts';

/** A block and its time in Unix seconds. */
export interface BlockTime {
  readonly block: number;
  readonly time: number;
}

/** Whether a token may have a price in some block: it is an anchor with a feed, a dollar token, or ether with a pool. */
export function isPriceable(chain: Chain, token: Address): boolean {
  const { dollar } = anchorsOf(chain);
  return feedOf(chain, token) !== null || dollar.includes(token) || (isEther(chain, token) && hasEtherQuotes(chain));
}

/** Returns US dollars per whole token at the end of a block; null: unknown. `pending`: it may get known. */
type PendingSteps = (at: BlockTime) => Fraction | 'pending' | null;

/**
 * Returns prices of a token in many blocks, by the rules of anchors (docs/concepts/prices.md). A token has the price of its feed. A dollar token
 * without a feed, or with no contract at the address of its feed, counts as 1.
 */
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

function known(price: Fraction | 'pending' | null): Fraction | null {
  return price === 'pending' ? null : price;
}

/** Prices of anchors at the ends of blocks. */
export interface AnchorBook {
  /** Returns US dollars per whole token; null: no anchor, or its price is unknown. */
  (token: Address, at: BlockTime): Fraction | null;
  /** Whether the price is not known yet: another anchor must not take the place of this one, as its price would be replaced later. */
  isPending(token: Address, at: BlockTime): boolean;
}

/** Returns prices of those tokens that are anchors, in many blocks. */
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
  return Object.assign((token: Address, at: BlockTime) => known(priceOf(token, at)), {
    isPending: (token: Address, at: BlockTime) => priceOf(token, at) === 'pending',
  });
}

/** Swaps of a block are neighbors, and a price takes longer to find than a swap to add. */
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
