import type { Chain } from '@chainstead/chains';
import { feedsOf, type PriceFeed } from '@chainstead/chains/price-feeds';
import { type Address, type ChainId, type Hex, isAddress, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, hexText, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import { returnedNumber } from '@chainstead/events/abi';
import { isAnswerOfCall, type UpstreamPool } from '@chainstead/rpc';

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

interface FeedPhase {
  readonly aggregator: Address;
  readonly decimals: number;
}

interface FeedPhasesReader {
  /** Null: the phase is unchanged. Empty: no feed. A feed without phases is an aggregator. */
  read(signal: AbortSignal): Promise<readonly FeedPhase[] | null>;
}

/** Selectors of Chainlink's EACAggregatorProxy. */
export const DECIMALS = '0x313ce567';
export const PHASE_ID = '0x58303b10';
const PHASE_AGGREGATORS = '0xc1597304';

/** uint16: anything larger is no proxy. */
export const PHASE_ID_MAX = 65_535n;
/** Newest phases. Feeds have up to ten; a contract may claim thousands. */
const PHASES_READ_MAX = 100;
export const DECIMALS_MAX = 77n;

export function phaseAggregator(phase: number): Hex {
  return `${PHASE_AGGREGATORS}${phase.toString(16).padStart(64, '0')}`;
}

export function createFeedPhasesReader(pool: UpstreamPool, feed: Pick<PriceFeed, 'proxy'>): FeedPhasesReader {
  let lastPhase: bigint | null = null;

  async function call(data: Hex, signal: AbortSignal): Promise<bigint | null> {
    try {
      const { value } = await pool.request('eth_call', [{ to: feed.proxy, data }, 'latest'], { signal });
      return typeof value === 'string' ? returnedNumber(value) : null;
    } catch (error) {
      // The contract has no such function.
      if (isAnswerOfCall(error)) return null;
      throw error;
    }
  }

  return {
    async read(signal) {
      const phase = await call(PHASE_ID, signal);
      if (phase !== null && phase === lastPhase) return null;
      const decimals = await call(DECIMALS, signal);
      if (decimals === null || decimals > DECIMALS_MAX) return [];
      if (phase === null || phase === 0n || phase > PHASE_ID_MAX)
        return [{ aggregator: feed.proxy, decimals: Number(decimals) }];
      const newest = Number(phase);
      const phases: FeedPhase[] = [];
      for (let id = Math.max(1, newest - PHASES_READ_MAX + 1); id <= newest; id++) {
        const word = await call(phaseAggregator(id), signal);
        if (word === null) continue;
        const text = `0x${word.toString(16).padStart(40, '0')}`;
        if (isAddress(text) && text !== ZERO_ADDRESS)
          phases.push({ aggregator: parseAddress(text), decimals: Number(decimals) });
      }
      lastPhase = phase;
      return phases;
    },
  };
}

export async function readFeedsWithValue(
  database: Pick<Database, 'query'>,
  chainId: ChainId,
): Promise<ReadonlySet<Address>> {
  const rows = await database.query<{ feed: Address }>(
    sql`SELECT DISTINCT ${hexText('phase.feed')} AS feed FROM price_feed_phases AS phase WHERE phase.chain_id = ${chainId} AND (
       EXISTS (SELECT FROM feed_answers AS answer WHERE answer.aggregator = phase.aggregator AND answer.chain_id = phase.chain_id)
       OR EXISTS (SELECT FROM feed_readings AS reading
         WHERE reading.feed = phase.feed AND reading.chain_id = phase.chain_id AND reading.status = 'answer'))`,
  );
  return new Set(rows.map(({ feed }) => feed));
}
