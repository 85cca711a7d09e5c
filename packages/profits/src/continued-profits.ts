/** Profits of a wallet that continue from stored sums, so that a worker reads each settled swap of a question once. */
import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { claimTraderSums, readSettledBlock, storeTraderSums } from '@chainstead/markets';
import { z } from '@hono/zod-openapi';
import type { ProfitSum } from './profit-sum.ts';
import { readAnchorDecimals, readTrades, readTradesSpan } from './trades/read-trades.ts';
import {
  addPart,
  emptyWalletSums,
  profitsOf,
  shownTokens,
  type WalletProfits,
  type WalletProfitsQuery,
  type WalletSums,
  windowStart,
} from './wallet-profits.ts';

export interface ContinuedReading {
  readonly signal: AbortSignal;
  /** Swaps per statement. */
  readonly part: number;
  /** Parts after which sums are stored: a reading that is aborted continues from there. */
  readonly partsPerStore: number;
}

/** Raise it if the same swaps and prices produce other sums. */
const VERSION = 2;
const SECONDS_OF_DAY = 86_400;
/** Tokens above which sums are not stored: they are one row. */
const STORED_TOKENS_MAX = 20_000;

/**
 * Returns the profits of a wallet from all its swaps. A window begins with a day (UTC), so that sums of one day continue.
 *
 * Sums of settled swaps are stored until these or their prices change ({@link claimTraderSums}), unless a swap may get its value later.
 */
export async function continueWalletProfits(
  database: Database,
  chain: Chain,
  { wallet, tokens, days }: WalletProfitsQuery,
  { signal, part, partsPerStore }: ContinuedReading,
): Promise<WalletProfits> {
  const { indexed, newestTime } = await readTradesSpan(database, chain, wallet);
  const newest = indexed.toBlock ?? -1;
  const start = windowStart(newestTime, days);
  const rules = { tokens: shownTokens(tokens, chain), windowFrom: start - (start % SECONDS_OF_DAY) };
  const settled = Math.min(newest, (await readSettledBlock(database, chain)) ?? -1);
  const decimals = [...(await readAnchorDecimals(database, chain))];
  const key = { trader: wallet, question: [VERSION, days, rules.windowFrom, tokens, decimals] };
  const { claim, sums: stored } = await claimTraderSums(database, chain, key, settled);
  const summed = stored === null ? emptyWalletSums(true) : walletSumsOf(stored);
  let storedLast = summed.last;

  async function store(): Promise<void> {
    const isFinal = summed.unvaluedBlocks.length === 0 && summed.sums.size <= STORED_TOKENS_MAX;
    if (!isFinal || summed.last === storedLast) return;
    await storeTraderSums(database, chain, key, { claim, sums: jsonOf({ ...summed, sums: [...summed.sums] }) });
    storedLast = summed.last;
  }

  async function addUntil(lastBlock: number, eachPart: (number: number) => Promise<void>): Promise<void> {
    const reading = {
      subject: { kind: 'wallet', wallet } as const,
      after: summed.last,
      firstBlock: 0,
      lastBlock,
      part,
    };
    let number = 0;
    for await (const one of readTrades(database, chain, reading)) {
      signal.throwIfAborted();
      addPart(summed, one, rules);
      await eachPart(++number);
    }
  }

  await addUntil(settled, async (number) => {
    if (number % partsPerStore === 0) await store();
  });
  await store();
  await addUntil(newest, async () => undefined);
  return profitsOf(summed, indexed);
}

/** Returns a value with integers as text, as JSON stores it. */
export function jsonOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? one.toString() : one)));
}

export const addressSchema = z.string().transform((text): Address => parseAddress(text));
const units = z.string().transform((text) => BigInt(text));
const held = z.object({ amount: units, cost: units });
export const sumSchema: z.ZodType<ProfitSum> = z.object({
  ...{ buys: z.int(), bought: units, invested: units, sells: z.int(), sold: units, received: units },
  ...{ inWindow: held, earlier: held, covered: units, coveredValue: units, cost: units },
});
export const sumsSchema = z.array(z.tuple([addressSchema, sumSchema]));

const walletSumsSchema = z.object({
  sums: sumsSchema,
  ...{ isWhole: z.boolean(), unvalued: z.int(), unvaluedBlocks: z.array(z.int()) },
  last: z.tuple([z.int(), z.int(), z.int()]).nullable(),
});

function walletSumsOf(stored: unknown): WalletSums {
  const { sums, ...rest } = walletSumsSchema.parse(stored);
  return { ...rest, sums: new Map(sums) };
}
