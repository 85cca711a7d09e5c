import type { Chain } from '@chainstead/chains';
import type { PriceFeed } from '@chainstead/chains/price-feeds';
import { type Address, type Fraction, wholeFraction, ZERO_ADDRESS } from '@chainstead/core';
import { joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { anchorsOf } from '@chainstead/markets/requests';
import { type FeedState, type FeedValue, readFeedValues } from '@chainstead/tokens/price-feeds';
import { etherQuotes, hasEtherQuotes, readEtherQuote } from '@chainstead/tokens/price-feeds/quotes';

export interface AnchorPrice {
  readonly token: Address;
  /** US dollars per whole token. */
  readonly usd: Fraction;
  readonly source: AnchorSource;
}

export type AnchorSource =
  | ({ readonly of: 'feed'; readonly proxy: Address } & Omit<FeedValue, 'usd'>)
  | { readonly of: 'pool' }
  /** A dollar token without a feed, or with no contract at its address. */
  | { readonly of: 'assumed' };

export interface AnchorPrices {
  readonly anchors: readonly AnchorPrice[];
  readonly pending: readonly Address[];
  /** US dollars per ether; null: unknown. */
  readonly ether: Fraction | null;
}

/** Left out: anchors whose feed has no value in the indexed run, or one that is too old or zero. */
export async function readAnchorPrices(
  database: ReadDatabase,
  chain: Chain,
  at: { readonly block: number; readonly time: number },
): Promise<AnchorPrices> {
  const states = await readFeedValues(database, chain, at);
  const ether = await readEther(database, chain, at.block, states);
  const anchors = anchorsOf(chain);
  const dollars = new Set(anchors.dollar);
  const ethers = new Set(etherForms(chain));
  const feedOf = (token: Address) => tokenFeedOf(chain, token);
  const all = [...anchors.dollar, ...anchors.native, ...anchors.ether, ...anchors.other];
  const { feed: etherFeed } = chain.etherPrice;
  // Swaps that price ether without a feed don't get old: a price may get known.
  const isEtherPending =
    etherFeed === null ? ether === null && hasEtherQuotes(chain) : states.get(etherFeed.proxy)?.of === 'pending';
  const pending = all.filter((token) => {
    const feed = feedOf(token);
    if (feed !== undefined) return states.get(feed.proxy)?.of === 'pending';
    return ethers.has(token) && isEtherPending;
  });
  const priced = all.flatMap((token) => {
    const feed = feedOf(token);
    if (feed === undefined && ethers.has(token)) return ether === null ? [] : [{ ...ether, token }];
    const state = feed === undefined ? undefined : states.get(feed.proxy);
    if (state?.of === 'value' && feed !== undefined) return [{ ...fromFeed(feed.proxy, state.value), token }];
    const isAssumed = dollars.has(token) && (state === undefined || state.of === 'absent');
    return isAssumed ? [{ token, usd: wholeFraction(1n), source: { of: 'assumed' } as const }] : [];
  });
  return { anchors: priced, pending, ether: ether?.usd ?? null };
}

/** The anchor's own feed, or that of ether; null: none. */
export function feedOfAnchor(chain: Chain, token: Address): PriceFeed | null {
  return tokenFeedOf(chain, token) ?? (etherForms(chain).includes(token) ? chain.etherPrice.feed : null);
}

function tokenFeedOf(chain: Chain, token: Address) {
  const isNative = anchorsOf(chain).native.includes(token);
  return chain.tokenFeeds.find(({ tokens }) => tokens.includes(isNative ? ZERO_ADDRESS : token));
}

function etherForms(chain: Chain): readonly Address[] {
  const { native, ether } = anchorsOf(chain);
  return [...(chain.native.isEther ? native : []), ...ether];
}

export function anchorPrices({ anchors }: Pick<AnchorPrices, 'anchors'>): ReadonlyMap<Address, Fraction> {
  return new Map(anchors.map(({ token, usd }) => [token, usd]));
}

type FoundPrice = Omit<AnchorPrice, 'token'>;

function fromFeed(proxy: Address, { usd, ...origin }: FeedValue): FoundPrice {
  return { usd, source: { of: 'feed', proxy, ...origin } };
}

async function readEther(
  database: ReadDatabase,
  chain: Chain,
  block: number,
  states: ReadonlyMap<Address, FeedState>,
): Promise<FoundPrice | null> {
  const { feed } = chain.etherPrice;
  if (feed !== null) {
    const state = states.get(feed.proxy);
    return state?.of === 'value' ? fromFeed(feed.proxy, state.value) : null;
  }
  if (!hasEtherQuotes(chain)) return null;
  const quotes = etherQuotes(chain, sql`${chain.id}::bigint`);
  const end = { block: sql`${block}::bigint`, transaction: INT4_MAX, log: INT4_MAX };
  const [row] = await database.select<{ value: string | null; source: number | null }>(
    sql`WITH ${joinSql(quotes.ctes)} SELECT value::text, source FROM ${quotes.at(end)} AS quote`,
  );
  const usd = row === undefined ? null : readEtherQuote(chain, row);
  return usd === null ? null : { usd, source: { of: 'pool' } };
}

const INT4_MAX = rawSql(2_147_483_647);
