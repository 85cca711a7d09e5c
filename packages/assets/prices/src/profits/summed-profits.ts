import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { StateKind, StateReader, StateReadingContext } from '@chainstead/node-reads';
import { type NodeReadQueue, StateUnavailableError } from '@chainstead/node-reads/requests';
import { z } from '@hono/zod-openapi';
import { addressSchema, continueWalletProfits, jsonOf, sumSchema, sumsSchema } from './continued-profits.ts';
import { readTopGainers, type TopGainers } from './top-gainers.ts';
import { hasMoreTrades } from './trades/read-trades.ts';
import { readWalletProfits, type WalletProfits, type WalletProfitsQuery } from './wallet-profits.ts';

export type ProfitLimits = { readonly requestMax: number };

export const PROFIT_LIMITS: ProfitLimits = { requestMax: 20_000 };

const TOKEN_TRADES_MAX = 100_000;

const WALLET_READING = { part: 10_000, partsPerStore: 10 };

/** Milliseconds for which requests share a worker's result. */
const SHARED_MS = { wallet: 30_000, token: 300_000 };

export interface ProfitSources {
  readonly reads: ReadDatabase;
  readonly nodeReads: NodeReadQueue;
  readonly limits?: ProfitLimits;
}

/** @throws {StateUnavailableError} 503 while a worker sums its swaps */
export async function sumWalletProfits(
  { reads, nodeReads, limits = PROFIT_LIMITS }: ProfitSources,
  chain: Chain,
  query: WalletProfitsQuery,
): Promise<WalletProfits> {
  const { wallet, tokens, days } = query;
  if (!(await hasMoreTrades(reads, chain, { kind: 'wallet', wallet }, limits.requestMax)))
    return readWalletProfits(reads, chain, query, { swapsMax: limits.requestMax });
  const question = { wallet, days, tokens: tokens === null ? null : [...tokens].sort() };
  const found = await nodeReads.request(chain, WALLET_PROFITS, question, { maxAgeMs: SHARED_MS.wallet });
  if (found === null) throw beingSummed(`the profits of the wallet on ${chain.key}`, limits);
  return { ...found, sums: new Map(found.sums) };
}

/** @throws {StateUnavailableError} 503 while a worker sums its trades */
export async function sumTopGainers(
  { reads, nodeReads, limits = PROFIT_LIMITS }: ProfitSources,
  chain: Chain,
  question: { readonly token: Address; readonly days: number | null },
): Promise<TopGainers> {
  const subject = { kind: 'token', token: question.token } as const;
  if (!(await hasMoreTrades(reads, chain, subject, limits.requestMax)))
    return readTopGainers(reads, chain, question, { tradesMax: limits.requestMax });
  const found = await nodeReads.request(chain, TOP_GAINERS, question, { maxAgeMs: SHARED_MS.token });
  if (found === null) throw beingSummed(`the profits in the token on ${chain.key}`, limits);
  return found;
}

function beingSummed(subject: string, { requestMax }: ProfitLimits): StateUnavailableError {
  return new StateUnavailableError(
    `${subject} are being summed from more than ${requestMax} swaps: retry in a moment`,
  );
}

const days = z.int().nullable();
const indexedSchema = z.object({
  ...{ fromBlock: z.int().nullable(), toBlock: z.int().nullable(), complete: z.boolean() },
});

const walletQuestion = z.object({ wallet: addressSchema, days, tokens: z.array(addressSchema).nullable() });
const walletAnswer = z.object({
  sums: sumsSchema,
  ...{ indexed: indexedSchema, known: indexedSchema },
  ...{ unvalued: z.int(), unvaluedBlocks: z.array(z.int()) },
});

const WALLET_PROFITS: StateKind<z.infer<typeof walletQuestion>, z.infer<typeof walletAnswer>> = {
  name: 'wallet-profits',
  question: walletQuestion,
  answer: walletAnswer,
  isSlow: true,
};

type SumContext = Pick<StateReadingContext, 'chain' | 'database'>;

/** Integers as text: stored as JSON. */
export const walletProfitsReader = {
  kind: WALLET_PROFITS,
  async read({ chain, database }: SumContext, question: z.infer<typeof walletQuestion>, signal: AbortSignal) {
    const reading = { ...WALLET_READING, signal };
    const { sums, ...found } = await continueWalletProfits(database, chain, question, reading);
    return jsonOf({ ...found, sums: [...sums] });
  },
} satisfies StateReader<z.infer<typeof walletQuestion>, unknown>;

const gainersQuestion = z.object({ token: addressSchema, days });
const gainersAnswer = z.object({
  wallets: z.array(z.object({ wallet: addressSchema, sum: sumSchema })),
  indexed: indexedSchema,
});

const TOP_GAINERS: StateKind<z.infer<typeof gainersQuestion>, z.infer<typeof gainersAnswer>> = {
  name: 'top-gainers',
  question: gainersQuestion,
  answer: gainersAnswer,
  isSlow: true,
};

export const topGainersReader = {
  kind: TOP_GAINERS,
  read: async ({ chain, database }: SumContext, question: z.infer<typeof gainersQuestion>, signal: AbortSignal) =>
    jsonOf(await readTopGainers(database, chain, question, { tradesMax: TOKEN_TRADES_MAX, signal })),
} satisfies StateReader<z.infer<typeof gainersQuestion>, unknown>;
