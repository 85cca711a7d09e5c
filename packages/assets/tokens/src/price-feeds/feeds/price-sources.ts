import type { Chain } from '@chainstead/chains';
import { feedsOf, type PriceFeed } from '@chainstead/chains/price-feeds';
import { ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, hexText, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import type { FeedPhase } from './feed-phases.ts';

/** Writes the chain's configured sources, and deletes the others. */
export async function seedPriceSources(database: Database, chain: Chain): Promise<void> {
  const feeds = feedsOf(chain);
  for (const table of ['price_feed_phases', 'feed_readings'])
    await database.query(
      sql`DELETE FROM ${rawSql(table)} WHERE chain_id = ${chain.id} AND NOT feed = ANY (${feeds.map(({ proxy }) => addressBytes(proxy))}::bytea[])`,
    );
  for (const feed of feeds) {
    const seeds = feed.aggregators.map((aggregator) => ({ aggregator, decimals: feed.decimals }));
    await insertPhases(database, chain, feed, seeds, sql`NOTHING`);
    const [isEther, tokens] = [isEtherFeed(chain, feed), sql`${tokensOf(chain, feed)}::bytea[]`];
    await database.query(
      sql`UPDATE price_feed_phases SET is_ether = ${isEther}, tokens = ${tokens}
       WHERE chain_id = ${chain.id} AND feed = ${addressBytes(feed.proxy)} AND (is_ether <> ${isEther} OR tokens <> ${tokens})`,
    );
  }
  const tokens = paymentTokensOf(chain);
  if (await arePaymentTokens(database, chain, tokens)) return;
  const addresses = tokens.map(({ address }) => addressBytes(address));
  await database.query(
    sql`DELETE FROM payment_tokens WHERE chain_id = ${chain.id} AND NOT token_address = ANY (${addresses}::bytea[])`,
  );
  await database.query(
    sql`INSERT INTO payment_tokens (token_address, chain_id, symbol, decimals, is_ether)
     SELECT address, ${chain.id}, symbol, decimals, is_ether
     FROM unnest(${addresses}::bytea[], ${tokens.map(({ symbol }) => symbol)}::text[], ${tokens.map(({ decimals }) => decimals)}::smallint[], ${tokens.map(({ isEther }) => isEther)}::boolean[]) AS reported(address, symbol, decimals, is_ether) ORDER BY address
     ON CONFLICT (token_address, chain_id) DO UPDATE
       SET symbol = excluded.symbol, decimals = excluded.decimals, is_ether = excluded.is_ether`,
  );
}

/** A write goes to every node of a cluster: one that is away would stop the worker's start. */
async function arePaymentTokens(
  database: Database,
  chain: Chain,
  tokens: ReturnType<typeof paymentTokensOf>,
): Promise<boolean> {
  const known = await database.query<{ text: string }>(
    sql`SELECT concat_ws(' ', ${hexText('token_address')}, symbol, decimals, is_ether) AS text FROM payment_tokens WHERE chain_id = ${chain.id}`,
  );
  const reported = tokens.map(
    ({ address, symbol, decimals, isEther }) => `${address} ${symbol} ${decimals} ${isEther ? 't' : 'f'}`,
  );
  return new Set(reported).symmetricDifference(new Set(known.map(({ text }) => text))).size === 0;
}

/** Decimals of the proxy win over the chain's facts. */
export async function saveFeedPhases(
  database: Pick<Transaction, 'query'>,
  chain: Chain,
  feed: PriceFeed,
  phases: readonly FeedPhase[],
): Promise<void> {
  await insertPhases(
    database,
    chain,
    feed,
    phases,
    sql`UPDATE SET decimals = excluded.decimals, updated_at = now()`,
  );
}

async function insertPhases(
  database: Pick<Transaction, 'query'>,
  chain: Chain,
  feed: PriceFeed,
  phases: readonly FeedPhase[],
  onConflict: Sql,
): Promise<void> {
  const unique = [...new Map(phases.map((phase) => [phase.aggregator, phase])).values()];
  await database.query(
    sql`INSERT INTO price_feed_phases (feed, chain_id, aggregator, decimals, is_ether, tokens)
     SELECT ${addressBytes(feed.proxy)}, ${chain.id}, aggregator, decimals, ${isEtherFeed(chain, feed)}, ${tokensOf(chain, feed)}::bytea[]
     FROM unnest(${unique.map(({ aggregator }) => addressBytes(aggregator))}::bytea[], ${unique.map(({ decimals }) => decimals)}::smallint[]) AS reported(aggregator, decimals) ORDER BY aggregator
     ON CONFLICT (feed, chain_id, aggregator) DO ${onConflict}`,
  );
}

function isEtherFeed({ etherPrice }: Chain, { proxy }: PriceFeed): boolean {
  return etherPrice.feed?.proxy === proxy;
}

/** Contracts that the feed values, without the native token. */
function tokensOf(chain: Chain, feed: PriceFeed): readonly Buffer[] {
  const own = chain.tokenFeeds.find(({ proxy }) => proxy === feed.proxy)?.tokens ?? [];
  const others = new Set(chain.tokenFeeds.flatMap(({ tokens }) => tokens));
  const ether = paymentTokensOf(chain).flatMap(({ address, isEther }) =>
    isEther && isEtherFeed(chain, feed) && !others.has(address) ? [address] : [],
  );
  const tokens = [...own, ...ether].map((token) => (token === ZERO_ADDRESS ? chain.wrappedNative : token));
  return [...new Set(tokens)].flatMap((token) => (token === null ? [] : [addressBytes(token)]));
}

function paymentTokensOf({ native, wrappedNative, bridgedEther }: Chain) {
  const { symbol, decimals, isEther } = native;
  return [
    { address: ZERO_ADDRESS, symbol, decimals, isEther },
    ...(wrappedNative === null ? [] : [{ address: wrappedNative, symbol: `W${symbol}`, decimals, isEther }]),
    ...(bridgedEther === null ? [] : [{ address: bridgedEther, symbol: 'WETH', decimals: 18, isEther: true }]),
  ];
}
