import type { Chain } from '@chainstead/chains';
import { type Address, multiplyFractions, roundedUnits } from '@chainstead/core';
import { joinSql, type ReadDatabase, sql } from '@chainstead/db';
import { type PackedTexts, readPackedPage } from '@chainstead/db/packed-rows';
import {
  type AnchorBook,
  anchorsOf,
  type BlockTime,
  DOLLAR,
  nativeTokenOf,
  pairOf,
  readAnchorBook,
  readCoveredBlocks,
  SWAPS_DATASET,
  shownToken,
  soldToken,
} from '@chainstead/markets/requests';
import {
  areTablesSpread,
  InconsistentPageError,
  type Indexed,
  type IndexedColumns,
  pageRange,
  readConsistentPage,
  readIndexed,
  traderSubject,
} from '@chainstead/pages';
import { readTokenBook } from '@chainstead/tokens/token-book';
import { type Amounts, movesKey, ownAmounts, readMoves } from './own-amounts.ts';
import {
  cutStatement,
  type PoolEntry,
  TOKEN_SWAPS,
  type TradePosition,
  type TradesSubject,
  tradesStatement,
  WALLET_SWAPS,
} from './trades-statement.ts';

export interface Trade {
  readonly pool: TradedPool;
  /** Null: it is no contract. */
  readonly address: Address | null;
  readonly block: number;
  readonly transaction: number;
  /** Unix seconds. */
  readonly time: number;
  readonly isSold0: boolean;
  /** Base units that the pool sent and received. */
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** `DOLLAR` units; null: unknown. */
  readonly value: bigint | null;
  /** Sender and beneficiary, or the requested wallet. */
  readonly parties: readonly Party[];
}

export interface Party {
  readonly wallet: Address;
  /** Base units that it received and sent. */
  readonly amounts: Amounts;
}

export interface TradesPart {
  readonly trades: readonly Trade[];
  /** Tokens of pools that may have a proof later. Null: unknown tokens. */
  readonly undecided: readonly (Address | null)[];
  readonly last: TradePosition | null;
}

/** With the time of the newest block. @param wallet adds its on-demand backfill; null: none */
export async function readTradesSpan(
  database: ReadDatabase,
  chain: Chain,
  wallet: Address | null,
): Promise<{ readonly indexed: Indexed; readonly newestTime: number | null }> {
  const chainId = sql`${chain.id}::bigint`;
  const of = wallet === null ? SWAPS_DATASET : traderSubject(wallet, SWAPS_DATASET, chainId);
  const { ctes, complete } = pageRange(chain, chainId, of, UNBOUNDED, null);
  const [row] = await database.select<IndexedColumns & { readonly time: number | null }>(
    sql`WITH ${joinSql(ctes)} SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete,
       (SELECT extract(epoch FROM block_timestamp)::float8 FROM blocks WHERE chain_id = ${chainId}
         AND block_number <= (SELECT indexed_to FROM covered) ORDER BY block_number DESC LIMIT 1) AS time FROM covered`,
  );
  return { indexed: readIndexed(row), newestTime: row?.time ?? null };
}

const UNBOUNDED = { fromBlock: null, toBlock: null, fromDate: null, toDate: null, pinnedBlock: null };

export async function firstBlockOfNewest(
  database: ReadDatabase,
  chain: Chain,
  subject: TradesSubject,
  { lastBlock, tradesMax }: { readonly lastBlock: number; readonly tradesMax: number },
): Promise<number> {
  const statement = cutStatement(chain, subject, lastBlock, tradesMax + 1);
  const [row] = await database.select<{ readonly blockNumber: number }>(statement);
  return row === undefined ? 0 : row.blockNumber + 1;
}

export async function hasMoreTrades(
  database: ReadDatabase,
  chain: Chain,
  subject: TradesSubject,
  trades: number,
): Promise<boolean> {
  return (await firstBlockOfNewest(database, chain, subject, { lastBlock: BLOCK_MAX, tradesMax: trades })) > 0;
}

const BLOCK_MAX = 2_147_483_647;

export interface TradesReading {
  readonly subject: TradesSubject;
  /** @default from `firstBlock` */
  readonly after?: TradePosition | null;
  readonly firstBlock: number;
  readonly lastBlock: number;
  /** Swaps per statement and turn of the event loop. @default 2,500 */
  readonly part?: number;
}

/** Null: unknown. */
export async function readAnchorDecimals(
  database: ReadDatabase,
  chain: Chain,
): Promise<ReadonlyMap<Address, number | null>> {
  const { dollar, native, ether, other } = anchorsOf(chain);
  const anchors = [...dollar, ...native, ...ether, ...other];
  const tokenOf = await readTokenBook(database, chain, anchors, nativeTokenOf(chain));
  return new Map(anchors.map((token) => [token, tokenOf(token).decimals]));
}

/** In parts, oldest first: a request holds one part at a time. */
export async function* readTrades(
  database: ReadDatabase,
  chain: Chain,
  { subject, after: from = null, firstBlock, lastBlock, part = PART }: TradesReading,
): AsyncGenerator<TradesPart> {
  const isSpread = await areTablesSpread(database);
  // Elsewhere only swaps of requested wallets are known.
  const covered = subject.kind === 'token' ? await readCoveredBlocks(database, chain) : null;
  const decimals = await readAnchorDecimals(database, chain);
  const decimalsOf = (token: Address) => decimals.get(token) ?? null;
  let after: TradePosition | null = from;
  // A transaction is settled whole: its trades may be in two parts.
  let open: readonly Trade[] = [];
  for (;;) {
    const query = { subject, after, firstBlock, lastBlock, limit: part };
    const found: Awaited<ReturnType<typeof readPart>> = await readPart(database, chain, query, isSpread);
    const pools = new Map<number, Pick<Trade, 'pool' | 'address'>>();
    for (const [number, token0, token1, isTraded, , key] of found.pools)
      if (isTraded && token0 !== null && token1 !== null)
        pools.set(number, {
          pool: tradedPoolOf(`0x${token0}` as Address, `0x${token1}` as Address, chain, decimalsOf),
          address: key.length === ADDRESS_DIGITS ? (`0x${key}` as Address) : null,
        });
    const swaps = covered === null ? found.swaps : found.swaps.filter(({ block }) => covered.has(block));
    const read = [...open, ...(await valueSwaps(database, chain, subject, swaps, pools))];
    after = found.last ?? after;
    const isEnd = found.count < part;
    const isOpen = ({ block, transaction }: Trade) => !isEnd && block === after?.[0] && transaction === after[1];
    const first = read.findIndex(isOpen);
    const closed = first === -1 ? read : read.slice(0, first);
    open = first === -1 ? [] : read.slice(first);
    yield {
      trades: await withOwnAmounts(database, chain, closed, isSpread),
      undecided: undecidedTokens(found.pools, chain),
      last: after === null || isEnd ? after : [after[0], after[1], BEFORE_LOGS],
    };
    if (isEnd) return;
  }
}

/** Position before the first log of a transaction. */
const BEFORE_LOGS = -1;
const ADDRESS_DIGITS = 40;

async function withOwnAmounts(
  database: ReadDatabase,
  chain: Chain,
  trades: readonly Trade[],
  isSpread: boolean,
): Promise<readonly Trade[]> {
  const wanted = trades.flatMap(({ parties, ...place }) => parties.map(({ wallet }) => ({ ...place, wallet })));
  const moves = await readMoves(database, chain, wanted, isSpread);
  if (moves.size === 0) return trades;
  const groups = Map.groupBy(trades, ({ block, transaction }) => `${block} ${transaction}`);
  return [...groups.values()].flatMap((ofTransaction) => {
    const amounts = new Map<Address, ReadonlyMap<Trade, Amounts>>();
    for (const wallet of new Set(ofTransaction.flatMap(({ parties }) => parties.map((party) => party.wallet)))) {
      const own = ofTransaction.filter(({ parties }) => parties.some((party) => party.wallet === wallet));
      const [place] = own;
      const moved = place === undefined ? undefined : moves.get(movesKey({ ...place, wallet }));
      if (moved === undefined) continue;
      const settled = ownAmounts(own, moved);
      amounts.set(wallet, new Map(own.map((trade, index) => [trade, settled[index] ?? [0n, 0n]])));
    }
    return ofTransaction.map((trade) => ({
      ...trade,
      parties: trade.parties.map((party) => ({
        ...party,
        amounts: amounts.get(party.wallet)?.get(trade) ?? party.amounts,
      })),
    }));
  });
}

const PART = 2_500;

type PartFacts = PackedTexts & { count: number; last: TradePosition | null; pools: readonly PoolEntry[] | null };

interface FoundSwap {
  readonly block: number;
  readonly time: number;
  readonly transaction: number;
  readonly pool: number;
  readonly amount0: string;
  readonly amount1: string;
  readonly wallet?: Address;
  readonly beneficiary?: Address | null;
}

function readPart(
  database: ReadDatabase,
  chain: Chain,
  query: Parameters<typeof tradesStatement>[1],
  isSpread: boolean,
) {
  return readConsistentPage(async () => {
    const packed = query.subject.kind === 'wallet' ? WALLET_SWAPS : TOKEN_SWAPS;
    const { rows, page } = await readPackedPage<FoundSwap, PartFacts>(database, packed, (select) =>
      tradesStatement(chain, query, { select }, isSpread),
    );
    const torn = rows.find(({ time }) => time === -1);
    if (torn !== undefined) throw new InconsistentPageError(torn.block);
    return { swaps: rows, pools: page.pools ?? [], count: page.count, last: page.last };
  });
}

async function valueSwaps(
  database: ReadDatabase,
  chain: Chain,
  subject: TradesSubject,
  swaps: readonly FoundSwap[],
  pools: ReadonlyMap<number, Pick<Trade, 'pool' | 'address'>>,
): Promise<readonly Trade[]> {
  const anchors = [...pools.values()].flatMap(({ pool }) => pool.anchors.map(({ token }) => token));
  const book = await readAnchorBook(database, chain, anchors, swaps);
  return swaps.flatMap((swap) => {
    const place = pools.get(swap.pool);
    if (place === undefined) return [];
    const [amount0, amount1] = [BigInt(swap.amount0), BigInt(swap.amount1)];
    const sold = soldToken(amount0, amount1);
    if (sold === null) return [];
    const { block, time, transaction } = swap;
    const amounts: Amounts = [amount0 < 0n ? -amount0 : amount0, amount1 < 0n ? -amount1 : amount1];
    const wallets = subject.kind === 'wallet' ? [subject.wallet] : [swap.wallet, swap.beneficiary];
    const parties = new Set(wallets.filter((wallet) => wallet !== undefined && wallet !== null));
    return {
      ...{ ...place, block, time, transaction, isSold0: sold === 0 },
      ...{ amount0: amounts[0], amount1: amounts[1] },
      value: valueOfSwap(place.pool, { ...swap, amount0, amount1 }, book),
      parties: [...parties].map((wallet) => ({ wallet, amounts })),
    };
  });
}

function undecidedTokens(pools: readonly PoolEntry[], chain: Chain): readonly (Address | null)[] {
  return pools
    .filter(([, , , , isUndecided]) => isUndecided)
    .flatMap(([, token0, token1]) =>
      [token0, token1].map((token) => (token === null ? null : shownToken(`0x${token}` as Address, chain))),
    );
}

interface TradedPool {
  readonly token0: Address;
  readonly token1: Address;
  readonly isCounted0: boolean;
  readonly isCounted1: boolean;
  readonly anchors: readonly { readonly token: Address; readonly isToken0: boolean; readonly decimals: number }[];
}

/** Dollar tokens never count; wrapped native only against these. @param decimalsOf null: unknown */
function tradedPoolOf(
  token0: Address,
  token1: Address,
  chain: Chain,
  decimalsOf: (token: Address) => number | null,
): TradedPool {
  const { dollar, native } = anchorsOf(chain);
  const isCounted = (token: Address, other: Address) =>
    !dollar.includes(token) && (!native.includes(token) || dollar.includes(other));
  const { quote, base } = pairOf(token0, token1, chain);
  return {
    token0: shownToken(token0, chain),
    token1: shownToken(token1, chain),
    isCounted0: isCounted(token0, token1),
    isCounted1: isCounted(token1, token0),
    anchors: [quote, base].flatMap((token) => {
      const decimals = decimalsOf(token);
      return decimals === null ? [] : [{ token, isToken0: token === token0, decimals }];
    }),
  };
}

/** `DOLLAR` units, rounded half up, by the anchor's price in that block. Null: not known yet. */
function valueOfSwap(
  { anchors }: TradedPool,
  swap: BlockTime & { readonly amount0: bigint; readonly amount1: bigint },
  book: AnchorBook,
): bigint | null {
  for (const { token, isToken0, decimals } of anchors) {
    const price = book(token, swap);
    if (price === null && book.isPending(token, swap)) return null;
    if (price === null) continue;
    const amount = isToken0 ? swap.amount0 : swap.amount1;
    const whole = { numerator: amount < 0n ? -amount : amount, denominator: 10n ** BigInt(decimals) };
    return roundedUnits(multiplyFractions(whole, price), DOLLAR);
  }
  return null;
}
