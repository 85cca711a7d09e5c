import { decimalAmount, decimalFraction, nearestNumber } from '@chainstead/core';
import { DOLLAR } from '@chainstead/markets/requests';
import { indexedSchema, type SyncState, showIndexed, showSyncState } from '@chainstead/pages';
import type { TokenBook, TokenFacts } from '@chainstead/tokens/token-book';
import { z } from '@hono/zod-openapi';
import { compare, joinProfits, type ProfitSum, type ProfitTotals, realizedProfit } from './profit-sum.ts';
import type { TopGainers } from './top-gainers.ts';
import type { WalletProfits } from './wallet-profits.ts';

const decimal = (description: string) => z.string().openapi({ pattern: '^[0-9]+(\\.[0-9]+)?$', description });
const signed = (description: string) => z.string().openapi({ pattern: '^-?[0-9]+(\\.[0-9]+)?$', description });
const count = (description: string) => z.int().min(0).openapi({ description });
const nullable = (description: string) => z.string().nullable().openapi({ description });

const figuresShape = {
  total_tokens_bought: nullable('Bought whole tokens. null: the decimals are unknown'),
  total_tokens_sold: nullable('Sold whole tokens. null: the decimals are unknown'),
  total_usd_invested: decimal('US dollars of all purchases'),
  total_sold_usd: decimal('US dollars of all sales'),
  avg_buy_price_usd: nullable(
    'US dollars per bought token; 0 without a purchase. null: the decimals are unknown',
  ),
  avg_sell_price_usd: nullable('US dollars per sold token; 0 without a sale. null: the decimals are unknown'),
  avg_cost_of_quantity_sold: nullable(
    'US dollars paid per sold token that was bought before; 0 without one. null: the decimals are unknown',
  ),
  realized_profit_usd: signed('US dollars of the sales minus their cost. Negative for a loss'),
  realized_profit_percentage: z.number().openapi({ description: 'Realized profit in percent of the cost' }),
  count_of_trades: count('Number of purchases and sales'),
  total_buys: count('Number of purchases'),
  total_sells: count('Number of sales'),
};

const tokenShape = {
  name: nullable('Name of the token'),
  symbol: nullable('Symbol of the token'),
  logo: nullable('URL of the logo, from imported lists'),
  possible_spam: z.boolean().openapi({ description: 'Whether the token is flagged as spam' }),
};

const stateShape = {
  status: z
    .enum(['SYNCED', 'SYNCING'])
    .openapi({ description: 'SYNCING while blocks of the wallet are missing' }),
  status_message: z.string().optional().openapi({ description: 'Reason for SYNCING, and whether it will end' }),
  trades_without_value: count(
    'Trades of these tokens that are left out because their US dollar value is unknown. Chainstead extension',
  ),
};

export const profitabilitySchema = z
  .object({
    ...stateShape,
    indexed: indexedSchema,
    result: z
      .array(
        z
          .object({
            token_address: z.string().openapi({
              pattern: '^0x[0-9a-f]{40}$',
              description: 'Token. The native token has its wrapped contract',
            }),
            ...tokenShape,
            decimals: nullable('Decimals of the token'),
            ...figuresShape,
          })
          .openapi('TokenProfit'),
      )
      .openapi({ description: 'Tokens with a trade in the window, the highest profit first' }),
  })
  .openapi('Profitability');

export const summarySchema = z
  .object({
    ...stateShape,
    indexed: indexedSchema,
    total_count_of_trades: count('Number of purchases and sales of all tokens'),
    total_trade_volume: decimal('US dollars of all purchases and sales'),
    total_realized_profit_usd: signed('US dollars of all sales minus their cost'),
    total_realized_profit_percentage: z
      .number()
      .openapi({ description: 'Realized profit in percent of the cost' }),
    total_buys: count('Number of purchases'),
    total_sells: count('Number of sales'),
    total_sold_volume_usd: decimal('US dollars of all sales'),
    total_bought_volume_usd: decimal('US dollars of all purchases'),
  })
  .openapi('ProfitabilitySummary');

export const topGainersSchema = z
  .object({
    indexed: indexedSchema,
    ...tokenShape,
    decimals: z.int().nullable().openapi({ description: 'Decimals of the token' }),
    result: z
      .array(
        z
          .object({
            address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$', description: 'Wallet' }),
            ...figuresShape,
          })
          .openapi('TopGainer'),
      )
      .openapi({ description: 'Wallets with a realized profit, the highest first' }),
  })
  .openapi('TopGainers');

export function showProfitability(
  { sums, indexed, unvalued }: WalletProfits,
  state: SyncState,
  tokenOf: TokenBook,
): z.infer<typeof profitabilitySchema> {
  const byProfit = [...sums].sort(
    ([tokenA, a], [tokenB, b]) => compare(realizedProfit(b), realizedProfit(a)) || compare(tokenA, tokenB),
  );
  return {
    ...showSyncState(state),
    trades_without_value: unvalued,
    indexed: showIndexed(indexed),
    result: byProfit.map(([token, sum]) => ({
      token_address: token,
      ...showToken(tokenOf(token)),
      decimals: tokenOf(token).decimals?.toString() ?? null,
      ...showFigures(sum, tokenOf(token).decimals),
    })),
  };
}

export function showSummary(
  { sums, indexed, unvalued }: WalletProfits,
  state: SyncState,
): z.infer<typeof summarySchema> {
  const total = [...sums.values()].reduce(joinProfits, NOTHING);
  const { buys, sells, invested, received } = total;
  return {
    ...showSyncState(state),
    trades_without_value: unvalued,
    indexed: showIndexed(indexed),
    total_count_of_trades: buys + sells,
    total_trade_volume: dollars(invested + received),
    total_realized_profit_usd: signedDollars(realizedProfit(total)),
    total_realized_profit_percentage: percentage(total),
    total_buys: buys,
    total_sells: sells,
    total_sold_volume_usd: dollars(received),
    total_bought_volume_usd: dollars(invested),
  };
}

const NOTHING: ProfitTotals = { buys: 0, sells: 0, invested: 0n, received: 0n, coveredValue: 0n, cost: 0n };

export function showTopGainers(
  { wallets, indexed }: TopGainers,
  facts: TokenFacts,
): z.infer<typeof topGainersSchema> {
  return {
    indexed: showIndexed(indexed),
    ...showToken(facts),
    decimals: facts.decimals,
    result: wallets.map(({ wallet, sum }) => ({ address: wallet, ...showFigures(sum, facts.decimals) })),
  };
}

function showToken({ name, symbol, logo, possibleSpam }: TokenFacts) {
  return { name, symbol, logo, possible_spam: possibleSpam };
}

function showFigures(sum: ProfitSum, decimals: number | null) {
  const tokens = (amount: bigint) => (decimals === null ? null : decimalAmount(amount.toString(), decimals));
  const price = (value: bigint, amount: bigint) => {
    if (decimals === null || amount === 0n) return decimals === null ? null : '0';
    const perToken = { numerator: value * 10n ** BigInt(decimals), denominator: amount * DOLLAR };
    return decimalFraction(perToken, PRICE_DIGITS);
  };
  return {
    total_tokens_bought: tokens(sum.bought),
    total_tokens_sold: tokens(sum.sold),
    total_usd_invested: dollars(sum.invested),
    total_sold_usd: dollars(sum.received),
    avg_buy_price_usd: price(sum.invested, sum.bought),
    avg_sell_price_usd: price(sum.received, sum.sold),
    avg_cost_of_quantity_sold: price(sum.cost, sum.covered),
    realized_profit_usd: signedDollars(realizedProfit(sum)),
    realized_profit_percentage: percentage(sum),
    count_of_trades: sum.buys + sum.sells,
    total_buys: sum.buys,
    total_sells: sum.sells,
  };
}

function dollars(value: bigint): string {
  return decimalAmount(value.toString(), DOLLAR_DECIMALS);
}

const DOLLAR_DECIMALS = DOLLAR.toString().length - 1;

function signedDollars(value: bigint): string {
  return value < 0n ? `-${dollars(-value)}` : dollars(value);
}

const PRICE_DIGITS = 17;

function percentage(sum: Pick<ProfitSum, 'coveredValue' | 'cost'>): number {
  const profit = realizedProfit(sum);
  if (sum.cost === 0n || profit === 0n) return 0;
  const size = nearestNumber({ numerator: 100n * (profit < 0n ? -profit : profit), denominator: sum.cost });
  return profit < 0n ? -size : size;
}
