import { type Address, cents, decimalAmount, type Fraction, parseAddress } from '@chainstead/core';
import { defineListRoute, querySchema, type RouteModule } from '@chainstead/http';
import { createHasCodeOf } from '@chainstead/node-reads/account-codes';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { percentagesOf } from '../balances/balance-questions.ts';
import { dollarsOfAmount } from '../token-values/token-prices.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { resolveTokenOwners, type TokenOwner } from './resolve-token-owners.ts';
import type { TokenHoldersOptions } from './token-holders-options.ts';

/** By balance. The balances come from the contract. docs/api/tokens.md#token-owners */
export function createTokenOwnersRoute(options: TokenHoldersOptions): RouteModule {
  const { nodeReads, projections, onDemandBackfill, liveMaxAgeMs, readPrices } = options;
  return (app, dependencies) => {
    const { database, logger, parameters } = dependencies;
    const hasCodeOf = createHasCodeOf();
    const sources = {
      database,
      nodeReads,
      logger,
      projections,
      unreported: new Set<string>(),
      liveMaxAgeMs,
    };
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/erc20/{token_address}/owners',
      operationId: 'getTokenOwners',
      tags: ['Tokens'],
      summary: 'List owners of a token',
      description:
        'Accounts with a balance above zero, largest first by default. Balances change between requests: an owner that moves across a page boundary may be missed or repeated.',
      params: z.object({ token_address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        limit: parameters.limit,
        order: parameters.order.openapi({ description: 'Sort order by balance.' }),
        cursor: parameters.cursor,
      }),
      response: { description: 'A page of token owners', schema: tokenOwnersSchema },
      datasets: [erc20Transfers.name],
      cursorName: 'token-owners',
      filter: z.object({ token_address: z.string(), chain: z.string().default('eth') }),
      filterOf: ({ token_address, chain }) => ({ token_address, chain: chain?.key }),
      position: z.object({ balance: z.string().regex(/^\d+$/), account: z.string(), isShort: z.boolean() }),
      firstPage: 1,
      read: async ({ chain, filter, limit, order, position, requester }) => {
        const token = parseAddress(filter.token_address);
        const after = position && { ...position, account: position.account as Address };
        const reported = await resolveTokenOwners(sources, chain, { token, order, limit, after });
        if (!reported.isCovered)
          await onDemandBackfill.requestContract({ database, logger }, chain, token, requester);
        const accounts = reported.owners.map(({ account }) => account);
        const codes = await hasCodeOf(sources, chain, accounts);
        const block = reported.indexed.toBlock;
        const prices = block === null ? null : await readPrices({ database, logger }, chain, [token], block);
        const next = reported.next && {
          position: { ...reported.next },
          upperBound: reported.indexed.toBlock ?? 0,
        };
        return { ...reported, codes, next, price: prices?.get(token) };
      },
      present: ({ owners, indexed, isComplete, totalSupply, decimals, codes, price }, envelope) => {
        const percentOf = totalSupply === null ? () => null : percentagesOf(BigInt(totalSupply));
        return {
          ...envelope,
          indexed: showIndexed({ ...indexed, complete: isComplete }),
          total_supply: totalSupply,
          usd_value_limit: price?.depth ? cents(price.depth) : null,
          result: owners.map((owner) => showOwner(owner, { decimals, percentOf, codes, price: price?.usd })),
        };
      },
    });
  };
}

const ownerSchema = z
  .object({
    owner_address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    owner_address_label: z.string().nullable(),
    entity: z.string().nullable(),
    entity_logo: z.string().nullable(),
    balance: z.string().openapi({ pattern: '^[0-9]+$', description: 'In base units of the token' }),
    balance_formatted: z.string().openapi({ example: '1.5' }),
    usd_value: z.string().nullable().openapi({
      pattern: '^[0-9]+\\.[0-9]{2}$',
      description: 'US dollars of the balance at the last indexed block. null if the token has no price',
    }),
    is_contract: z.boolean().openapi({ description: 'true if the owner is a contract' }),
    percentage_relative_to_total_supply: z
      .number()
      .nullable()
      .openapi({ description: 'null if the supply is unknown or less than the balance' }),
  })
  .openapi('TokenOwner');

/** docs/api/tokens.md#token-owners */
const tokenOwnersSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    total_supply: z
      .string()
      .nullable()
      .openapi({ description: 'As returned by the contract. null until it is read' }),
    usd_value_limit: z.string().nullable().openapi({
      pattern: '^[0-9]+\\.[0-9]{2}$',
      description:
        'US dollars that the pools of the token can pay out. null without a price, or if a feed prices it',
    }),
    result: z.array(ownerSchema),
  })
  .openapi('TokenOwners');

export function showOwner(
  { account, balance, label }: TokenOwner,
  shown: {
    readonly decimals: number | null;
    percentOf(balance: bigint): number | null;
    readonly codes: ReadonlyMap<Address, boolean>;
    /** US dollars per whole token. */
    readonly price: Fraction | undefined;
  },
): z.infer<typeof ownerSchema> {
  const { decimals, percentOf, codes, price } = shown;
  const value = dollarsOfAmount(BigInt(balance), decimals, price);
  return {
    owner_address: account,
    owner_address_label: label.label,
    entity: label.entity,
    entity_logo: label.entityLogo,
    balance,
    balance_formatted: decimalAmount(balance, decimals ?? 0),
    usd_value: value === null ? null : cents(value),
    is_contract: codes.get(account) ?? false,
    percentage_relative_to_total_supply: percentOf(BigInt(balance)),
  };
}
