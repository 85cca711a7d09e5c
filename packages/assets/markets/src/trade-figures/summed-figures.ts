/** A worker sums busy pools. Requests share its result for some minutes. */

import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { StateKind, StateReader, StateReadingContext } from '@chainstead/node-reads';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import { z } from '@hono/zod-openapi';
import type { PoolId } from '../events/pool-event.ts';
import { readBoundary, SWAPS_PER_PART } from '../pool-candles/compute-candles.ts';
import { type FigureLimits, readTradeFigures, type TradeFiguresQuery } from './read-trade-figures.ts';
import { SwapsNotSummedError } from './swaps-not-summed-error.ts';
import type { TradeSums } from './trade-sums.ts';

interface FigureSources {
  readonly reads: ReadDatabase;
  readonly worker: { readonly nodeReads: NodeReadQueue } | null;
  readonly limits?: FigureLimits;
}

export interface SharedFiguresQuery extends TradeFiguresQuery {
  readonly time: number;
  readonly isAligned: boolean;
}

/** Seconds. A worker sums until a multiple, so that requests share figures. */
const SHARED_SECONDS = 300;
const POOLS_MAX = 640;
const WORKER_LIMITS = { swapsMax: 1_000_000, part: SWAPS_PER_PART, tradersMax: 200_000 };

/** A worker's figures end up to 5 minutes earlier. @throws {SwapsNotSummedError} until then */
export async function sumTradeFigures(
  { reads, worker, limits }: FigureSources,
  chain: Chain,
  { time, isAligned, ...query }: SharedFiguresQuery,
): Promise<ReadonlyMap<string, readonly TradeSums[]>> {
  try {
    return await readTradeFigures(reads, chain, query, limits);
  } catch (error) {
    const pools = query.groups.reduce((sum, group) => sum + group.pools.length, 0);
    if (!(error instanceof SwapsNotSummedError) || worker === null || pools > POOLS_MAX) throw error;
    const late = (time + 1) % SHARED_SECONDS;
    const shift = isAligned ? 0 : late;
    const lastBlock = (await readBoundary(reads, chain, time + 1 - late)).before;
    if (lastBlock === null) throw error;
    const spans = query.spans.map(({ from, to }) => ({ from: from - shift, to: to - shift }));
    const question = questionSchema.parse({ ...query, lastBlock, spans });
    const options = { maxAgeMs: 2_000 * SHARED_SECONDS };
    const summed = await worker.nodeReads.request(chain, TRADE_FIGURES, question, options);
    if (summed === null) throw error;
    return new Map(summed);
  }
}

const pool = z.object({
  pool: z.string().transform((text) => text as PoolId),
  token0: z.string().transform((text): Address => parseAddress(text)),
  token1: z.string().transform((text): Address => parseAddress(text)),
  decimals: z.tuple([z.int().nullable(), z.int().nullable()]),
});
const questionSchema = z.object({
  groups: z.array(z.object({ key: z.string(), pools: z.array(z.object({ pool, isReversed: z.boolean() })) })),
  spans: z.array(z.object({ from: z.int(), to: z.int() })),
  lastBlock: z.int(),
  countsTraders: z.boolean().default(true),
});
const bigint = z.string().transform((text) => BigInt(text));
const volume = bigint.nullable();
const count = z.int().nullable();
const sumsSchema = z.object({
  ...{ buys: z.int(), sells: z.int(), buyVolume: volume, sellVolume: volume },
  ...{ buyers: count, sellers: count, wallets: count },
});
const answerSchema = z.array(z.tuple([z.string(), z.array(sumsSchema)]));
type Question = z.infer<typeof questionSchema>;

const TRADE_FIGURES: StateKind<Question, z.infer<typeof answerSchema>> = {
  name: 'trade-figures',
  question: questionSchema,
  answer: answerSchema,
  isSlow: true,
};

export const tradeFiguresReader = {
  kind: TRADE_FIGURES,
  async read({ chain, database }: Pick<StateReadingContext, 'chain' | 'database'>, question: Question) {
    const sums = await readTradeFigures(database, chain, question, WORKER_LIMITS);
    return Array.from(sums, ([key, ofSpans]) => [
      key,
      ofSpans.map(({ buyVolume, sellVolume, ...rest }) => ({
        ...{ ...rest, buyVolume: buyVolume?.toString() ?? null, sellVolume: sellVolume?.toString() ?? null },
      })),
    ]);
  },
} satisfies StateReader<Question, unknown>;
