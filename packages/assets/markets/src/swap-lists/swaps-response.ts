import type { Chain } from '@chainstead/chains';
import { decimalAmount, type Fraction, type Hash, multiplyFractions, nearestNumber } from '@chainstead/core';
import type { PageEnvelope } from '@chainstead/http';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import type { TokenFacts } from '@chainstead/tokens/token-book';
import { z } from '@hono/zod-openapi';
import { type Anchors, anchorsOf, isQuotedIn0, pairLabel } from '../anchors/anchors-of-chain.ts';
import type { PoolId } from '../events/pool-event.ts';
import type { Pair } from './get-pair-state.ts';
import {
  baseQuotePrice,
  type ListedSwap,
  SUB_CATEGORIES,
  type SwapSide,
  type SwapSides,
  type SwapsPage,
  type SwapValues,
  viewedSide,
} from './get-swaps.ts';
import { type SwapTransactionType, TRANSACTION_TYPES } from './swaps-page.ts';

const address = (description: string) => z.string().openapi({ pattern: '^0x[0-9a-f]{40}$', description });
const text = (description: string) => z.string().nullable().openapi({ description });
const number = (description: string) => z.number().nullable().openapi({ description });
const PAIR_ADDRESS = z.string().openapi({
  pattern: '^0x([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{104})$',
  description: 'Address of the pool. Uniswap v4 and other pool managers: the 32-byte pool id',
});
const CURSOR = z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' });
const PAGE = z.int().min(0).openapi({ description: 'Page number, from 0' });
const PAGE_SIZE = z.int().min(1).openapi({ description: 'Maximum number of rows on the page' });
const AMOUNT = 'Whole tokens, always positive. null until the decimals are known';

const rowFields = {
  transactionHash: z.string().openapi({ pattern: '^0x[0-9a-f]{64}$', description: 'Hash of the transaction' }),
  transactionIndex: z.int().min(0).openapi({ description: 'Index of the transaction in its block' }),
  logIndex: z.int().min(0).openapi({ description: 'Index of the event log in its block. Chainstead extension' }),
  blockTimestamp: z.iso
    .datetime({ precision: 3 })
    .openapi({ example: '2026-01-01T00:00:23.000Z', description: 'Time of the block. ISO 8601, UTC' }),
  blockNumber: z.int().min(0).openapi({ description: 'Number of the block' }),
  subCategory: z.enum(SUB_CATEGORIES).nullable().openapi({
    description:
      'Position of the trader in the token that transactionType refers to. Purchase: newPosition if the balance before the transaction is 0. Sale: sellAll if the balance after it is 0. null: the balance is unknown, or no trade',
  }),
  walletAddress: address('Sender of the transaction'),
  beneficiaryAddress: address('').nullable().openapi({
    description:
      'The single account that gave the sold token and received the bought one, if it is not the sender. Chainstead extension',
  }),
  baseQuotePrice: text(
    'Quote tokens per base token in this swap, rounded to 17 significant digits. null for liquidity, and for a swap that is no trade',
  ),
  totalValueUsd: number(
    'Amount of the anchor times its price at the end of the block, in US dollars. Without an anchor: amount of the quote token, else of the base token, times its price from pools against anchors. null: unknown, or liquidity. 0 for a swap that is no trade',
  ),
};

const pairRowSchema = z
  .object({
    ...rowFields,
    transactionType: z.enum(TRANSACTION_TYPES).nullable().openapi({
      description:
        'buy: the base token left the pool. sell: it came into the pool. null: a swap that is no trade, because no token was bought for the other one',
    }),
    baseTokenAmount: text(`${AMOUNT}, and for concentrated liquidity without amounts in its event`),
    quoteTokenAmount: text('Like baseTokenAmount'),
    baseTokenPriceUsd: number('US dollars per whole token in this swap. null: unknown'),
    quoteTokenPriceUsd: number('US dollars per whole token in this swap. null: unknown'),
  })
  .openapi('PairSwap');

const pairTokenSchema = z
  .object({
    address: address('Token contract. The wrapped native token stands for the native token'),
    name: text('Name of the token'),
    symbol: text('Symbol of the token'),
    logo: text('Logo from an imported token list'),
    amount: text('Newest stored reserve of the pool in whole tokens. null for pools without reserves'),
    usdPrice: number('US dollars per whole token, by the newest state of the pool. null: unknown'),
    usdAmount: number('Value of the amount in US dollars. null: unknown'),
  })
  .openapi('PairToken');

export const pairSwapsSchema = z
  .object({
    page: PAGE,
    pageSize: PAGE_SIZE,
    cursor: CURSOR,
    exchangeName: text('Name of the exchange'),
    exchangeAddress: address('')
      .nullable()
      .openapi({ description: 'Factory, vault or pool manager of the exchange' }),
    exchangeLogo: text('Always null: not available'),
    pairLabel: text('Symbols of base and quote token. null until both are known'),
    pairAddress: PAIR_ADDRESS,
    baseToken: pairTokenSchema.nullable().openapi({ description: 'null if the pool has more than two tokens' }),
    quoteToken: pairTokenSchema.nullable().openapi({ description: 'null if the pool has more than two tokens' }),
    indexed: indexedSchema,
    result: z.array(pairRowSchema).openapi({ description: 'Swaps and liquidity changes' }),
  })
  .openapi('PairSwaps');

const sideSchema = (name: string) =>
  z
    .object({
      address: address('Token contract. The wrapped native token stands for the native token'),
      name: text('Name of the token'),
      symbol: text('Symbol of the token'),
      logo: text('Logo from an imported token list'),
      amount: text(AMOUNT),
      usdPrice: number('US dollars per whole token in this swap. null: unknown'),
      usdAmount: number('Value of the swap in US dollars. null: unknown'),
      tokenType: z.enum(['token0', 'token1']).openapi({ description: 'Place of the token in the pool' }),
    })
    .openapi(name);

const swapRowSchema = z
  .object({
    ...rowFields,
    transactionType: z.enum(['buy', 'sell']).openapi({
      description: 'buy: the requested token, or the base token, left the pool. sell: it came into the pool',
    }),
    walletAddressLabel: text('Always null: not available'),
    entity: text('Always null: not available'),
    entityLogo: text('Always null: not available'),
    pairAddress: PAIR_ADDRESS,
    pairLabel: text('Symbols of base and quote token. null until both are known'),
    exchangeAddress: address('')
      .nullable()
      .openapi({ description: 'Factory, vault or pool manager of the exchange' }),
    exchangeName: text('Name of the exchange'),
    exchangeLogo: text('Always null: not available'),
    baseToken: address('Base token of the pool'),
    quoteToken: address(
      'Quote token of the pool: a dollar token, else the wrapped native token, else ether, else token 1',
    ),
    bought: sideSchema('BoughtToken').openapi({ description: 'Token that left the pool' }),
    sold: sideSchema('SoldToken').openapi({ description: 'Token that came into the pool' }),
  })
  .openapi('Swap');

const swapsShape = {
  page: PAGE,
  page_size: PAGE_SIZE,
  cursor: CURSOR,
  indexed: indexedSchema,
  result: z.array(swapRowSchema).openapi({ description: 'Swaps' }),
};

export const swapsSchema = z.object(swapsShape).openapi('Swaps');

/** docs/api/swaps.md#swaps-of-a-wallet */
export const walletSwapsSchema = z
  .object({
    status: z
      .enum(['SYNCED', 'SYNCING'])
      .openapi({ description: 'SYNCING while blocks of the wallet are missing' }),
    status_message: z.string().optional().openapi({ description: 'Reason for SYNCING, and whether it will end' }),
    ...swapsShape,
  })
  .openapi('WalletSwaps');

export interface PairOfSwaps {
  readonly pool: PoolId;
  readonly pair: Pair;
  readonly usd: readonly [Fraction | null, Fraction | null];
}

export function showPairSwaps(
  { swaps, indexed }: SwapsPage,
  { page, page_size, cursor }: PageEnvelope,
  { pool, pair, usd }: PairOfSwaps,
  chain: Chain,
): z.infer<typeof pairSwapsSchema> {
  const anchors = anchorsOf(chain);
  const [base, quote] = pairTokens(pair, usd, anchors);
  return {
    page,
    pageSize: page_size,
    cursor,
    exchangeName: pair.exchange,
    exchangeAddress: pair.factory,
    exchangeLogo: null,
    pairLabel: pairLabel(base?.token ?? null, quote?.token ?? null),
    pairAddress: pool,
    baseToken: base?.shown ?? null,
    quoteToken: quote?.shown ?? null,
    indexed: showIndexed(indexed),
    result: swaps.map((row) => {
      const { sides, values } = row;
      return {
        ...commonFields(row),
        baseQuotePrice: row.kind === 0 && sides !== null ? baseQuotePrice(sides) : null,
        transactionType: pairTypeOf(row, sides),
        baseTokenAmount: sides === null ? null : amountOf(sides.base),
        quoteTokenAmount: sides === null ? null : amountOf(sides.quote),
        baseTokenPriceUsd: values?.basePriceUsd ?? null,
        quoteTokenPriceUsd: values?.quotePriceUsd ?? null,
        totalValueUsd: values?.totalValueUsd ?? null,
      };
    }),
  };
}

export function showSwaps(
  { swaps, focus, indexed }: SwapsPage,
  envelope: PageEnvelope,
): z.infer<typeof swapsSchema> {
  return {
    ...envelope,
    indexed: showIndexed(indexed),
    result: swaps.flatMap((row) => {
      const { sides, values } = row;
      const trade = sides?.trade ?? null;
      if (sides === null || trade === null || values === null) return [];
      const viewed = viewedSide(row, sides, focus);
      return {
        ...commonFields(row),
        transactionType: trade.bought === viewed ? ('buy' as const) : ('sell' as const),
        walletAddressLabel: null,
        entity: null,
        entityLogo: null,
        pairAddress: row.pool,
        pairLabel: pairLabel(sides.base.token, sides.quote.token),
        exchangeAddress: row.factory,
        exchangeName: row.exchange,
        exchangeLogo: null,
        baseToken: sides.base.token.address,
        quoteToken: sides.quote.token.address,
        bought: showSide(trade.bought, sides, values),
        sold: showSide(trade.sold, sides, values),
        baseQuotePrice: baseQuotePrice(sides),
        totalValueUsd: values.totalValueUsd,
      };
    }),
  };
}

function commonFields(row: ListedSwap) {
  return {
    transactionHash: row.transaction_hash satisfies Hash,
    transactionIndex: row.transaction_index,
    logIndex: row.log_index,
    blockTimestamp: row.block.block_timestamp,
    blockNumber: row.block_number,
    subCategory: row.subCategory,
    walletAddress: row.wallet,
    beneficiaryAddress: row.beneficiary,
  };
}

function pairTypeOf({ kind }: ListedSwap, sides: SwapSides | null): SwapTransactionType | null {
  if (kind !== 0) return kind === 1 ? 'addLiquidity' : 'removeLiquidity';
  if (sides === null || sides.trade === null) return null;
  return sides.trade.bought === sides.base ? 'buy' : 'sell';
}

function showSide(
  side: SwapSide,
  { base }: SwapSides,
  values: SwapValues,
): z.infer<ReturnType<typeof sideSchema>> {
  const { address: token, name, symbol, logo } = side.token;
  return {
    ...{ address: token, name, symbol, logo },
    amount: amountOf(side),
    usdPrice: side === base ? values.basePriceUsd : values.quotePriceUsd,
    usdAmount: values.totalValueUsd,
    tokenType: side.type,
  };
}

/** Unsigned, in whole tokens. Null: unknown amount or decimals. */
function amountOf({ amount, token: { decimals } }: Pick<SwapSide, 'amount' | 'token'>): string | null {
  return amount === null || decimals === null ? null : decimalAmount(amount.replace('-', ''), decimals);
}

function pairTokens({ tokens, state, tokenOf }: Pair, usd: PairOfSwaps['usd'], anchors: Anchors) {
  if (tokens === null) return [];
  const [reserve0, reserve1] = state?.of === 'reserves' ? [state.reserve0, state.reserve1] : [null, null];
  const shown0 = showPairToken(tokenOf(tokens[0]), reserve0, usd[0]);
  const shown1 = showPairToken(tokenOf(tokens[1]), reserve1, usd[1]);
  return isQuotedIn0(...tokens, anchors) ? [shown1, shown0] : [shown0, shown1];
}

function showPairToken(token: TokenFacts, reserve: bigint | null, usd: Fraction | null) {
  const { address: contract, name, symbol, logo, decimals } = token;
  const amount =
    reserve === null || decimals === null ? null : { numerator: reserve, denominator: 10n ** BigInt(decimals) };
  const shown: z.infer<typeof pairTokenSchema> = {
    ...{ address: contract, name, symbol, logo },
    amount: amountOf({ amount: reserve?.toString() ?? null, token }),
    usdPrice: usd && nearestNumber(usd),
    usdAmount: amount && usd && nearestNumber(multiplyFractions(amount, usd)),
  };
  return { token, shown };
}
