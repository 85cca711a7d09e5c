import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { blockParameter, booleanParameter, type RouteModule, routesFor, withServices } from '@chainstead/http';
import { indexedHeaders } from '@chainstead/pages';
import type { Erc20Services, WalletServices } from '../routes.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { resolveWalletBalances } from './resolve-wallet-balances.ts';
import { asProven, proveResolvedBalances } from './shown-balances.ts';
import { balanceView } from './wallet-balances-response.ts';

export type WalletBalancesOptions = WalletServices &
  Pick<Erc20Services, 'nodeReads' | 'projections' | 'liveMaxAgeMs'>;

/** The hosted API's maximum: there is no cursor. */
const TOKENS_MAX = 2_000;

/** docs/api/wallets.md#token-balances */
const walletBalancesRoute = routesFor<WalletBalancesOptions>().defineRoute({
  path: '/api/v2.2/{address}/erc20',
  operationId: 'getWalletTokenBalances',
  tag: 'Wallets',
  summary: 'List ERC-20 balances by wallet',
  description:
    'Up to 2,000 balances above zero, by last transfer, newest first. A balance is the value returned by the contract plus later transfers; tokens without such a value are omitted. The headers report missing data, and X-Indexed-Unread lists up to 20 tokens whose balance no node returned in time.',
  params: ['address'],
  query: [
    'chain',
    {
      to_block: blockParameter(
        'Returns balances after this block. Blocks below the indexed range need an archive node. Default: the newest block.',
      ),
      exclude_spam: booleanParameter({ default: true, description: 'Omits tokens that are possible spam.' }),
      proof: booleanParameter({
        default: false,
        description:
          'Compares the first 50 balances with the state of the chain, and returns for each whether it is proven.',
      }),
      token_addresses: 'addresses',
    },
  ],
  datasets: [erc20Transfers.name],
  response: { description: 'The ERC-20 balances', schema: balanceView.schema.array().openapi('Erc20Balances') },
  errors: [404],
  async answer({ address: wallet, chain, requester, c, services, ...query }) {
    const context = { ...services, database: query.database, logger: query.logger };
    const reported = await resolveWalletBalances(context, chain, {
      wallet,
      tokens: query.token_addresses ?? null,
      excludeSpam: query.exclude_spam ?? true,
      verifiedOnly: false,
      toBlock: query.to_block ?? null,
      limit: TOKENS_MAX,
      order: null,
      liveMaxAgeMs: services.liveMaxAgeMs,
    });
    if (!reported.isCovered && wallet !== ZERO_ADDRESS)
      await services.onDemandBackfill.requestWallet(context, chain, wallet, requester);
    const proofs = query.proof === true ? await proveResolvedBalances(context, chain, wallet, reported) : null;
    const shown = proofs === null ? reported.balances : asProven(reported.balances, proofs);
    const isDoubted = shown.some(({ token }) => proofs?.get(token)?.reason === 'contradicted');
    const complete = reported.isComplete && !reported.hasNext && !isDoubted;
    const rows = shown.map((balance) => balanceView.show(balance, proofs?.get(balance.token)));
    const headers = {
      ...indexedHeaders({ ...reported.indexed, complete }),
      ...unreadHeader(reported.unread),
    };
    return c.json(rows, 200, headers);
  },
});

export function createWalletBalancesRoute(services: WalletBalancesOptions): RouteModule {
  return withServices(services, [walletBalancesRoute]);
}

const UNREAD_NAMED_MAX = 20;

function unreadHeader(tokens: readonly Address[]): Readonly<Record<string, string>> {
  return tokens.length === 0 ? {} : { 'x-indexed-unread': tokens.slice(0, UNREAD_NAMED_MAX).join(',') };
}
