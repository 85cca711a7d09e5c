import { z } from 'zod';
import { indexedWords, routeError, toolError, toolResult } from '../results/tool-result.ts';
import { type ApiOperation, DATE_DESCRIPTION, RANGE_DESCRIPTION } from './operation-schema.ts';
import { fillArguments, type OperationContext, request } from './operation-tool.ts';
import type { Tool } from './tool.ts';

export const TRADES_OPERATION = 'getSwapsByTokenAddress';

const PAGE_ROWS = 100;
const PAGES_MAX = 20;
const WALLETS_DEFAULT = 10;
const WALLETS_MAX = 50;
const sideShape = z.looseObject({ amount: z.string().nullish(), symbol: z.string().nullish() });
const pageShape = z.looseObject({
  cursor: z.string().nullish(),
  result: z.array(
    z.looseObject({
      walletAddress: z.string(),
      blockTimestamp: z.string(),
      totalValueUsd: z.number().nullish(),
      bought: sideShape.nullish(),
      sold: sideShape.nullish(),
    }),
  ),
});
const argumentShape = z.object({
  side: z.enum(['buy', 'sell']).default('buy'),
  limit: z.coerce.number().int().min(1).max(WALLETS_MAX).default(WALLETS_DEFAULT),
});

type Swap = z.infer<typeof pageShape>['result'][number];

export function topTradersTool(operation: ApiOperation, context: OperationContext): Tool {
  return {
    name: 'token_top_traders',
    description: 'Wallets that bought or sold most of a token in a time, by amount.',
    inputSchema: {
      type: 'object',
      properties: {
        address: { type: 'string', description: 'Token' },
        chain: { type: 'string', description: 'Such as eth' },
        side: { type: 'string', enum: ['buy', 'sell'], description: 'Default buy' },
        range: { type: 'string', description: `${RANGE_DESCRIPTION}. Default: last 24 hours` },
        from_date: { type: 'string', description: DATE_DESCRIPTION },
        to_date: { type: 'string', description: 'Last time' },
        limit: { type: 'integer', description: `Wallets, default ${WALLETS_DEFAULT}, at most ${WALLETS_MAX}` },
      },
      required: ['address'],
      additionalProperties: false,
    },
    async call(given, caller) {
      const { data: own, error } = argumentShape.safeParse(given);
      const hasDates = given.from_date !== undefined || given.to_date !== undefined;
      const range = given.range ?? (hasDates ? undefined : 'last 24 hours');
      const filled = fillArguments(operation, { ...given, ...(range !== undefined && { range }) }, context);
      if (own === undefined || filled === null)
        return toolError({
          code: 'INVALID_PARAMETER',
          message: own === undefined ? `${error.issues[0]?.path.join()} is not valid` : 'range is not valid',
          remedy: `side is buy or sell, limit 1 to ${WALLETS_MAX}. ${RANGE_DESCRIPTION}.`,
        });
      const asked = { ...filled, limit: PAGE_ROWS, transaction_types: [own.side] };
      const swaps: Swap[] = [];
      let coverage: string | null = null;
      let cursor: string | null | undefined;
      for (let page = 0; page === 0 || (typeof cursor === 'string' && page < PAGES_MAX); page++) {
        const response = await request(context.api, operation, page === 0 ? asked : { ...asked, cursor }, caller);
        if (response.status !== 200) return routeError(response.status, response.body);
        const { result, cursor: next } = pageShape.parse(response.body);
        coverage = indexedWords(response.body, response.header) ?? coverage;
        swaps.push(...result);
        cursor = next;
      }
      const isPart = typeof cursor === 'string';
      const since = swaps.at(-1)?.blockTimestamp ?? '';
      const notes = isPart
        ? [
            `Only the newest ${swaps.length} swaps are counted, since ${since}. Choose a shorter time for all of them.`,
          ]
        : [`All ${swaps.length} swaps of the time are counted.`];
      return toolResult(coverage ?? (await context.coverage(undefined)), notes, {
        ...(asked as object),
        swaps: swaps.length,
        result: topWallets(swaps, own.side).slice(0, own.limit),
      });
    },
  };
}

interface Trader {
  readonly wallet: string;
  swaps: number;
  /** In units of 10^-{@link DIGITS} tokens. */
  amount: bigint;
  usd: number;
}

const DIGITS = 36;

function topWallets(swaps: readonly Swap[], side: 'buy' | 'sell'): object[] {
  const traders = new Map<string, Trader>();
  for (const swap of swaps) {
    const { walletAddress: wallet, totalValueUsd } = swap;
    const trader = traders.get(wallet) ?? { wallet, swaps: 0, amount: 0n, usd: 0 };
    traders.set(wallet, trader);
    trader.swaps++;
    trader.amount += unitsOf((side === 'buy' ? swap.bought : swap.sold)?.amount ?? '0');
    trader.usd += totalValueUsd ?? 0;
  }
  return [...traders.values()]
    .toSorted(
      (one, other) =>
        Number(other.amount > one.amount) - Number(other.amount < one.amount) || other.usd - one.usd,
    )
    .map(({ wallet, swaps: count, amount, usd }) => {
      const digits = amount.toString().padStart(DIGITS + 1, '0');
      const decimal = `${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`.replace(/\.?0+$/, '');
      return { wallet, swaps: count, amount: decimal, usd: Math.round(usd * 100) / 100 };
    });
}
function unitsOf(decimal: string): bigint {
  const { whole = '0', rest = '' } = /^-?(?<whole>\d+)(?:\.(?<rest>\d+))?$/.exec(decimal)?.groups ?? {};
  return BigInt(whole + rest.slice(0, DIGITS).padEnd(DIGITS, '0'));
}
