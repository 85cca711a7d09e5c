import { type Address, cents, decimalAmount, type Fraction } from '@chainstead/core';
import { orderParameter, routesFor, view, wire } from '@chainstead/http';
import type { createHasCodeOf } from '@chainstead/node-reads/account-codes';
import { z } from '@hono/zod-openapi';
import { percentagesOf } from '../balances/balance-questions.ts';
import type { ContractServices, Erc20Services } from '../routes.ts';
import { dollarsOfAmount } from '../token-values/token-prices.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { resolveTokenOwners, type TokenOwner } from './resolve-token-owners.ts';

interface Services
  extends ContractServices,
    Pick<Erc20Services, 'nodeReads' | 'projections' | 'liveMaxAgeMs' | 'readPrices'> {
  readonly hasCodeOf: ReturnType<typeof createHasCodeOf>;
  /** Tokens whose owners no node returned. */
  readonly unreported: Set<string>;
}

interface RelatedToOwners {
  readonly decimals: number | null;
  percentOf(balance: bigint): number | null;
  readonly codes: ReadonlyMap<Address, boolean>;
  /** US dollars per whole token. */
  readonly price: Fraction | undefined;
}

const { address, flag, text } = wire;
const usd = wire.wire(z.string().openapi({ pattern: '^[0-9]+\\.[0-9]{2}$' }), cents).orNull;

export const ownerView = view(
  'TokenOwner',
  ({ account, balance, label }: TokenOwner, related: RelatedToOwners) => ({
    ...label,
    ...{ account, balance, related },
  }),
  {
    owner_address: address.of('account'),
    owner_address_label: text.orNull.of('label'),
    entity: text.orNull(),
    entity_logo: text.orNull.of('entityLogo'),
    balance: text({ pattern: '^[0-9]+$', description: 'In base units of the token' }),
    balance_formatted: text({ example: '1.5' }, ({ balance, related: { decimals } }) =>
      decimalAmount(balance, decimals ?? 0),
    ),
    usd_value: usd(
      'US dollars of the balance at the last indexed block. null if the token has no price',
      ({ balance, related: { decimals, price } }) => dollarsOfAmount(BigInt(balance), decimals, price),
    ),
    is_contract: flag(
      'true if the owner is a contract',
      ({ account, related: { codes } }) => codes.get(account) ?? false,
    ),
    percentage_relative_to_total_supply: wire
      .wire(z.number())
      .orNull('null if the supply is unknown or less than the balance', ({ balance, related }) =>
        related.percentOf(BigInt(balance)),
      ),
  },
);

/** By balance. The balances come from the contract. docs/api/tokens.md#token-owners */
export const tokenOwnersRoute = routesFor<Services>().defineListRoute({
  path: '/api/v2.2/erc20/{token_address}/owners',
  operationId: 'getTokenOwners',
  tag: 'Tokens',
  summary: 'List owners of a token',
  description:
    'Accounts with a balance above zero, largest first by default. Balances change between requests: an owner that moves across a page boundary may be missed or repeated.',
  params: [{ token_address: 'address' }],
  query: ['chain', 'limit', { order: orderParameter('Sort order by balance.') }],
  name: 'TokenOwners',
  response: 'A page of token owners',
  datasets: [erc20Transfers.name],
  position: z.object({
    balance: z.string().regex(/^\d+$/),
    account: z.custom<Address>(),
    isShort: z.boolean(),
  }),
  firstPage: 1,
  async read({ chain, token_address: token, query, requester, services, ...request }) {
    const sources = { ...services, ...request };
    const { owners, next, indexed, ...reported } = await resolveTokenOwners(sources, chain, { ...query, token });
    if (!reported.isCovered) await services.onDemandBackfill.requestContract(request, chain, token, requester);
    const accounts = owners.map(({ account }) => account);
    const block = indexed.toBlock;
    const codes = await services.hasCodeOf(sources, chain, accounts);
    const price = block === null ? null : (await services.readPrices(request, chain, [token], block)).get(token);
    const { totalSupply, decimals, isComplete } = reported;
    return {
      rows: owners,
      next: next && { position: { ...next }, upperBound: block ?? 0 },
      indexed: { ...indexed, complete: isComplete },
      depth: price?.depth ?? null,
      percentOf: totalSupply === null ? () => null : percentagesOf(BigInt(totalSupply)),
      ...{ totalSupply, decimals, codes, price: price?.usd },
    };
  },
  view: ownerView,
  row: (owner, related) => [owner, related],
  fields: ({ result, ...standard }) => ({
    ...standard,
    total_supply: text.orNull(
      'As returned by the contract. null until it is read',
      ({ found: { totalSupply } }) => totalSupply,
    ),
    usd_value_limit: usd(
      'US dollars that the pools of the token can pay out. null without a price, or if a feed prices it',
      ({ found: { depth } }) => depth,
    ),
    result,
  }),
});
