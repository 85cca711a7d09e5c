import { decimalAmount, decimalFraction, nearestNumber } from '@chainstead/core';
import { each, fieldsOf, indexedBlocks, view, wire } from '@chainstead/http';
import { DOLLAR } from '@chainstead/markets/requests';
import { type SyncState, syncFields } from '@chainstead/pages';
import type { TokenBook, TokenFacts } from '@chainstead/tokens/token-book';
import { z } from '@hono/zod-openapi';
import { compare, joinProfits, type ProfitSum, type ProfitTotals, realizedProfit } from './profit-sum.ts';
import type { TopGainers } from './top-gainers.ts';
import type { WalletProfits } from './wallet-profits.ts';

interface Profit {
  readonly sum: ProfitSum;
  readonly facts: TokenFacts;
}

const { address, count, flag, integer, numeral, text } = wire;
/** US dollars. */
const decimal = wire.wire(z.string().openapi({ pattern: '^[0-9]+(\\.[0-9]+)?$' }), dollars);
const signed = wire.wire(z.string().openapi({ pattern: '^-?[0-9]+(\\.[0-9]+)?$' }), (value: bigint) =>
  value < 0n ? `-${dollars(-value)}` : dollars(value),
);
const percent = wire.wire(z.number(), percentage);

const figureFields = fieldsOf<Profit>()({
  total_tokens_bought: text.orNull('Bought whole tokens. null: the decimals are unknown', ({ sum, facts }) =>
    wholeTokens(sum.bought, facts),
  ),
  total_tokens_sold: text.orNull('Sold whole tokens. null: the decimals are unknown', ({ sum, facts }) =>
    wholeTokens(sum.sold, facts),
  ),
  total_usd_invested: decimal('US dollars of all purchases', ({ sum }) => sum.invested),
  total_sold_usd: decimal('US dollars of all sales', ({ sum }) => sum.received),
  avg_buy_price_usd: text.orNull(
    'US dollars per bought token; 0 without a purchase. null: the decimals are unknown',
    ({ sum, facts }) => averagePrice(sum.invested, sum.bought, facts),
  ),
  avg_sell_price_usd: text.orNull(
    'US dollars per sold token; 0 without a sale. null: the decimals are unknown',
    ({ sum, facts }) => averagePrice(sum.received, sum.sold, facts),
  ),
  avg_cost_of_quantity_sold: text.orNull(
    'US dollars paid per sold token that was bought before; 0 without one. null: the decimals are unknown',
    ({ sum, facts }) => averagePrice(sum.cost, sum.covered, facts),
  ),
  realized_profit_usd: signed('US dollars of the sales minus their cost. Negative for a loss', ({ sum }) =>
    realizedProfit(sum),
  ),
  realized_profit_percentage: percent('Realized profit in percent of the cost', ({ sum }) => sum),
  count_of_trades: count('Number of purchases and sales', ({ sum }) => sum.buys + sum.sells),
  total_buys: count('Number of purchases', ({ sum }) => sum.buys),
  total_sells: count('Number of sales', ({ sum }) => sum.sells),
});

const tokenFields = fieldsOf<Pick<Profit, 'facts'>>()({
  name: text.orNull('Name of the token', ({ facts }) => facts.name),
  symbol: text.orNull('Symbol of the token', ({ facts }) => facts.symbol),
  logo: text.orNull('URL of the logo, from imported lists', ({ facts }) => facts.logo),
  possible_spam: flag('Whether the token is flagged as spam', ({ facts }) => facts.possibleSpam),
});

interface FoundProfits {
  readonly found: WalletProfits & { readonly state: SyncState };
}

const walletFields = fieldsOf<FoundProfits>()({
  ...syncFields('SYNCING while blocks of the wallet are missing'),
  trades_without_value: count(
    'Trades of these tokens that are left out because their US dollar value is unknown. Chainstead extension',
    ({ found }) => found.unvalued,
  ),
  indexed: indexedBlocks(({ found }) => found.indexed),
});

const tokenView = view('TokenProfit', (profit: Profit) => profit, {
  token_address: address('Token. The native token has its wrapped contract', ({ facts }) => facts.address),
  ...tokenFields,
  decimals: numeral.orNull('Decimals of the token', ({ facts }) => facts.decimals),
  ...figureFields,
});

export const profitabilityView = view(
  'Profitability',
  (profits: WalletProfits, state: SyncState, tokenOf: TokenBook) => ({ found: { ...profits, state }, tokenOf }),
  {
    ...walletFields,
    result: each(tokenView)('Tokens with a trade in the window, the highest profit first', ({ found, tokenOf }) =>
      [...found.sums]
        .sort(
          ([tokenA, a], [tokenB, b]) => compare(realizedProfit(b), realizedProfit(a)) || compare(tokenA, tokenB),
        )
        .map(([token, sum]) => ({ sum, facts: tokenOf(token) })),
    ),
  },
);

const NOTHING: ProfitTotals = { buys: 0, sells: 0, invested: 0n, received: 0n, coveredValue: 0n, cost: 0n };

export const summaryView = view(
  'ProfitabilitySummary',
  (profits: WalletProfits, state: SyncState) => {
    const total = [...profits.sums.values()].reduce(joinProfits, NOTHING);
    return { found: { ...profits, state }, total };
  },
  {
    ...walletFields,
    total_count_of_trades: count(
      'Number of purchases and sales of all tokens',
      ({ total }) => total.buys + total.sells,
    ),
    total_trade_volume: decimal(
      'US dollars of all purchases and sales',
      ({ total }) => total.invested + total.received,
    ),
    total_realized_profit_usd: signed('US dollars of all sales minus their cost', ({ total }) =>
      realizedProfit(total),
    ),
    total_realized_profit_percentage: percent('Realized profit in percent of the cost', ({ total }) => total),
    total_buys: count('Number of purchases', ({ total }) => total.buys),
    total_sells: count('Number of sales', ({ total }) => total.sells),
    total_sold_volume_usd: decimal('US dollars of all sales', ({ total }) => total.received),
    total_bought_volume_usd: decimal('US dollars of all purchases', ({ total }) => total.invested),
  },
);

const gainerView = view('TopGainer', (gainer: Profit & Pick<TopGainers['wallets'][number], 'wallet'>) => gainer, {
  address: address('Wallet', ({ wallet }) => wallet),
  ...figureFields,
});

export const topGainersView = view(
  'TopGainers',
  (found: TopGainers, facts: TokenFacts) => ({ ...found, facts }),
  {
    indexed: indexedBlocks(),
    ...tokenFields,
    decimals: integer.orNull('Decimals of the token', ({ facts }) => facts.decimals),
    result: each(gainerView)('Wallets with a realized profit, the highest first', ({ wallets, facts }) =>
      wallets.map((gainer) => ({ ...gainer, facts })),
    ),
  },
);

function wholeTokens(amount: bigint, { decimals }: TokenFacts): string | null {
  return decimals === null ? null : decimalAmount(amount.toString(), decimals);
}

/** US dollars per whole token. @param value `DOLLAR` units @param amount base units */
function averagePrice(value: bigint, amount: bigint, { decimals }: TokenFacts): string | null {
  if (decimals === null) return null;
  if (amount === 0n) return '0';
  const perToken = { numerator: value * 10n ** BigInt(decimals), denominator: amount * DOLLAR };
  return decimalFraction(perToken, PRICE_DIGITS);
}

const PRICE_DIGITS = 17;

function dollars(value: bigint): string {
  return decimalAmount(value.toString(), DOLLAR_DECIMALS);
}

const DOLLAR_DECIMALS = DOLLAR.toString().length - 1;

function percentage(sum: Pick<ProfitSum, 'coveredValue' | 'cost'>): number {
  const profit = realizedProfit(sum);
  if (sum.cost === 0n || profit === 0n) return 0;
  const size = nearestNumber({ numerator: 100n * (profit < 0n ? -profit : profit), denominator: sum.cost });
  return profit < 0n ? -size : size;
}
