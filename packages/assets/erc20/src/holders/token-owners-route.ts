import { type Address, cents, parseAddress } from '@chainstead/core';
import { defineListRoute, querySchema, type RouteModule } from '@chainstead/http';
import { createHasCodeOf } from '@chainstead/node-reads/account-codes';
import { showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { percentagesOf } from '../balances/percent-of-supply.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { resolveTokenOwners } from './resolve-token-owners.ts';
import type { TokenHoldersOptions } from './token-holders-options.ts';
import { showOwner, tokenOwnersSchema } from './token-owners-response.ts';

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
