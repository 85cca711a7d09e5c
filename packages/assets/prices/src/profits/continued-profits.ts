/** Continues from stored sums: a worker reads each settled swap of a question once. */
import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { claimTraderSums, readSettledBlock, storeTraderSums } from '@chainstead/markets/requests';
import { subjectCoverage } from '@chainstead/pages';
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

/** Raise it if equal swaps and prices produce other sums. */
const VERSION = 3;
const SECONDS_OF_DAY = 86_400;
const STORED_TOKENS_MAX = 20_000;

/** A window begins with a day (UTC). @param reading swaps per statement, parts per stored sum */
export async function continueWalletProfits(
  database: Database,
  chain: Chain,
  { wallet, tokens, days }: WalletProfitsQuery,
  reading: { readonly signal: AbortSignal; readonly part: number; readonly partsPerStore: number },
): Promise<WalletProfits> {
  const { signal, part, partsPerStore } = reading;
  const { indexed, newestTime } = await readTradesSpan(database, chain, wallet);
  const newest = indexed.toBlock ?? -1;
  const start = windowStart(newestTime, days);
  const rules = { tokens: shownTokens(tokens, chain), windowFrom: start - (start % SECONDS_OF_DAY) };
  const settled = Math.min(newest, (await readSettledBlock(database, chain)) ?? -1);
  const decimals = [...(await readAnchorDecimals(database, chain))];
  const transfersFrom = await firstBlockOfTransfers(database, chain, wallet);
  const question = [VERSION, days, rules.windowFrom, tokens, decimals, transfersFrom];
  const key = { trader: wallet, question };
  const { claim, sums: stored } = await claimTraderSums(database, chain, key, settled);
  const summed = stored === null ? emptyWalletSums(true) : walletSumsSchema.parse(stored);
  let storedLast = summed.last;

  async function store(): Promise<void> {
    const isFinal = summed.unvaluedBlocks.length === 0 && summed.sums.size <= STORED_TOKENS_MAX;
    if (!isFinal || summed.last === storedLast) return;
    await storeTraderSums(database, chain, key, { claim, sums: jsonOf({ ...summed, sums: [...summed.sums] }) });
    storedLast = summed.last;
  }

  async function addUntil(lastBlock: number, eachPart: (number: number) => Promise<void>): Promise<void> {
    const subject = { kind: 'wallet', wallet } as const;
    const range = { subject, after: summed.last, firstBlock: 0, lastBlock, part };
    let number = 0;
    for await (const trades of readTrades(database, chain, range)) {
      signal.throwIfAborted();
      addPart(summed, trades, rules);
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

/** Amounts of trades follow from transfers too: stored sums without them are read again. Null: none are indexed. */
async function firstBlockOfTransfers(database: Database, { id }: Chain, wallet: Address): Promise<number | null> {
  const subject = sql`${addressBytes(wallet)}::bytea`;
  const covered = subjectCoverage({ kind: 'wallet', subject, chainId: id, dataset: 'erc20-transfers' });
  const [row] = await database.select<{ readonly first: number | null }>(
    sql`WITH ${covered} SELECT indexed_from::int8 AS first FROM covered`,
  );
  return row?.first ?? null;
}

export function jsonOf(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? member.toString() : member)),
  );
}

export const addressSchema = z.string().transform((text): Address => parseAddress(text));
const units = z.string().transform((text) => BigInt(text));
const held = z.object({ amount: units, cost: units });
export const sumSchema: z.ZodType<ProfitSum> = z.object({
  ...{ buys: z.int(), bought: units, invested: units, sells: z.int(), sold: units, received: units },
  ...{ inWindow: held, earlier: held, covered: units, coveredValue: units, cost: units },
});
export const sumsSchema = z.array(z.tuple([addressSchema, sumSchema]));

const walletSumsSchema: z.ZodType<WalletSums> = z.object({
  sums: sumsSchema.transform((sums) => new Map(sums)),
  ...{ isWhole: z.boolean(), unvalued: z.int(), unvaluedBlocks: z.array(z.int()) },
  last: z.tuple([z.int(), z.int(), z.int()]).nullable(),
});
