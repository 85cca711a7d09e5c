import type { Chain } from '@chainstead/chains';
import { isDeposit } from '@chainstead/chains/fees';
import { type Address, parseAddress } from '@chainstead/core';
import { type Database, hexText, joinSql, sql } from '@chainstead/db';
import type { StateKind, StateReader } from '@chainstead/node-reads';
import { committedBlock } from '@chainstead/node-reads/requests';
import { readSwapVolume } from '@chainstead/prices/profits';
import { etherQuotes, hasEtherQuotes, readEtherQuote } from '@chainstead/tokens/price-feeds/quotes';
import { z } from 'zod';
import {
  type CountedPlace,
  type CountedTransaction,
  createInsightCount,
  insightCountsSchema,
} from './insight-counts.ts';
import { readWalletPlaces, type WalletPlace } from './wallet-parts.ts';

const questionSchema = z.object({ wallet: z.string().transform((text): Address => parseAddress(text)) });
type Question = z.infer<typeof questionSchema>;

const answerSchema = z.object({
  to: z.int(),
  counts: insightCountsSchema,
  swaps: z
    .object({
      /** Cents; null: unknown. */
      volume: z.string().regex(/^\d+$/).nullable(),
      isComplete: z.boolean(),
    })
    .default({ volume: null, isComplete: false }),
});
type CountedInsight = z.infer<typeof answerSchema>;

/** Takes minutes: no other state read queues behind it. */
export const INSIGHT_COUNTED: StateKind<Question, CountedInsight> = {
  name: 'wallet-insight',
  question: questionSchema,
  answer: answerSchema,
  isSlow: true,
};

const TOGETHER = 500;

export const insightReader: StateReader<Question, CountedInsight> = {
  kind: INSIGHT_COUNTED,
  async read({ chain, database }, { wallet }, signal) {
    const to = (await committedBlock(database, chain))?.number ?? -1;
    const count = createInsightCount(wallet, chain.native.isEther);
    let waiting: WalletPlace[] = [];
    const countWaiting = async (): Promise<void> => {
      for (const place of await lookUp(database, chain, waiting)) count.add(place);
      waiting = [];
    };
    for await (const place of readWalletPlaces(database, chain, wallet, to)) {
      signal.throwIfAborted();
      waiting.push(place);
      if (waiting.length === TOGETHER) await countWaiting();
    }
    await countWaiting();
    const { cents, isComplete } = await readSwapVolume(database, chain, { wallet, lastBlock: to, signal });
    return { to, counts: count.result(), swaps: { volume: cents === null ? null : String(cents), isComplete } };
  },
};

async function lookUp(database: Database, chain: Chain, places: readonly WalletPlace[]): Promise<CountedPlace[]> {
  if (places.length === 0) return [];
  const blocks = [...new Set(places.map(({ block }) => block))];
  const [times, transactions, prices] = await Promise.all([
    readTimes(database, chain, blocks),
    readTransactions(database, chain, places, blocks),
    readPrices(database, chain, blocks),
  ]);
  return places.flatMap((place) => {
    const time = times.get(place.block);
    if (time === undefined) return [];
    const transaction = transactions.get(`${place.block} ${place.index}`) ?? null;
    return [{ place, time, transaction, centsOf: prices.get(place.block) ?? null }];
  });
}

async function readTimes(
  database: Database,
  { id }: Chain,
  blocks: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await database.query<{ block: number; time: number }>(
    sql`SELECT block_number AS block, extract(epoch FROM block_timestamp)::float8 AS time FROM blocks
     WHERE chain_id = ${id} AND block_number = ANY (${blocks}::bigint[])`,
  );
  return new Map(rows.map(({ block, time }) => [block, time]));
}

async function readTransactions(
  database: Database,
  { id }: Chain,
  places: readonly WalletPlace[],
  blocks: readonly number[],
): Promise<ReadonlyMap<string, CountedTransaction>> {
  const keys = places.flatMap(({ parts }) => parts.flatMap(({ transactionKey }) => transactionKey ?? []));
  if (keys.length === 0) return new Map();

  const rows = await database.query<
    Omit<CountedTransaction, 'isMinted' | 'value' | 'fee'> &
      Record<'block' | 'index' | 'type', number> &
      Record<'value' | 'fee', string>
  >(
    sql`SELECT block_number::int8 AS block, transaction_index AS index, ${hexText('transaction_hash')} AS hash, ${hexText('from_address')} AS "from", ${hexText('to_address')} AS "to",
       ${hexText('contract_address')} AS created, status IS DISTINCT FROM 0 AS succeeded, type, value::text,
       (gas_used * gas_price + coalesce(l1_fee, 0))::text AS fee
     FROM transactions WHERE transaction_key = ANY (${keys}::bigint[]) AND chain_id = ${id} AND block_number BETWEEN ${Math.min(...blocks)} AND ${Math.max(...blocks)}`,
  );
  return new Map(
    rows.map(({ block, index, type, value, fee, ...row }) => [
      `${block} ${index}`,
      { ...row, isMinted: isDeposit(type, id), value: BigInt(value), fee: BigInt(fee) },
    ]),
  );
}

/** Wei to cents by block. Empty: no ether price, or another native token. */
async function readPrices(
  database: Database,
  chain: Chain,
  blocks: readonly number[],
): Promise<ReadonlyMap<number, (wei: bigint) => bigint>> {
  if (!chain.native.isEther || !hasEtherQuotes(chain)) return new Map();
  const quotes = etherQuotes(chain, sql`${chain.id}`);
  const atStart = quotes.at({ block: sql`wanted.block`, transaction: sql`0`, log: sql`0` });
  const rows = await database.query<{ block: number; value: string | null; source: number | null }>(
    sql`WITH ${joinSql(quotes.ctes)} SELECT wanted.block, quote.value::text, quote.source FROM unnest(${blocks}::bigint[]) AS wanted(block)
     LEFT JOIN LATERAL ${atStart} AS quote ON true`,
  );
  return new Map(
    rows.flatMap(({ block, ...quote }) => {
      const price = readEtherQuote(chain, quote);
      if (price === null) return [];
      const [numerator, denominator] = [price.numerator * 100n, price.denominator * WEI];
      const centsOf = (wei: bigint): bigint => (2n * wei * numerator + denominator) / (2n * denominator);
      return [[block, centsOf]];
    }),
  );
}

const WEI = 10n ** 18n;
