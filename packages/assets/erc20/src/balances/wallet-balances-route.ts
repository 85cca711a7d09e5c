import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { booleanParameter, defineRoute, type RouteModule } from '@chainstead/http';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import { indexedHeaders } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { erc20Transfers } from '../transfers/dataset.ts';
import { resolveWalletBalances } from './resolve-wallet-balances.ts';
import { asProven, proveResolvedBalances } from './shown-balances.ts';
import { showBalance, walletBalancesSchema } from './wallet-balances-response.ts';

export interface WalletBalancesOptions {
  readonly nodeReads: NodeReadQueue;
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
  /** `BALANCE_MAX_AGE_MS`. */
  readonly liveMaxAgeMs: number;
}

/** The hosted API's maximum: there is no cursor. */
const TOKENS_MAX = 2_000;

/** docs/api/wallets.md#token-balances */
export function createWalletBalancesRoute(options: WalletBalancesOptions): RouteModule {
  const { nodeReads, projections, onDemandBackfill, liveMaxAgeMs } = options;
  return (app, dependencies) => {
    const { database, logger, parameters } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/{address}/erc20',
      operationId: 'getWalletTokenBalances',
      tags: ['Wallets'],
      summary: 'List ERC-20 balances by wallet',
      description:
        'Up to 2,000 balances above zero, by last transfer, newest first. A balance is the value returned by the contract plus later transfers; tokens without such a value are omitted. The headers report missing data, and X-Indexed-Unread lists up to 20 tokens whose balance no node returned in time.',
      params: { address: parameters.address },
      query: {
        chain: parameters.chain,
        to_block: parameters.toBlock.openapi({
          description:
            'Returns balances after this block. Blocks below the indexed range need an archive node. Default: the newest block.',
        }),
        exclude_spam: booleanParameter({ default: true, description: 'Omits tokens that are possible spam.' }),
        proof: booleanParameter({
          default: false,
          description:
            'Compares the first 50 balances with the state of the chain, and returns for each whether it is proven.',
        }),
      },
      lists: { token_addresses: parameters.addresses },
      datasets: [erc20Transfers.name],
      response: { description: 'The ERC-20 balances', schema: walletBalancesSchema },
      errors: [404],
      async answer({ address: wallet, chain, requester, c, ...query }) {
        const reported = await resolveWalletBalances({ database, nodeReads, projections, logger }, chain, {
          wallet,
          tokens: query.token_addresses ?? null,
          excludeSpam: query.exclude_spam ?? true,
          verifiedOnly: false,
          toBlock: query.to_block ?? null,
          limit: TOKENS_MAX,
          order: null,
          liveMaxAgeMs,
        });
        if (!reported.isCovered && wallet !== ZERO_ADDRESS)
          await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
        const proofs =
          query.proof === true
            ? await proveResolvedBalances({ database, nodeReads, logger }, chain, wallet, reported)
            : null;
        const shown = proofs === null ? reported.balances : asProven(reported.balances, proofs);
        const isDoubted = shown.some(({ token }) => proofs?.get(token)?.reason === 'contradicted');
        const complete = reported.isComplete && !reported.hasNext && !isDoubted;
        const rows = shown.map((balance) => showBalance(balance, proofs?.get(balance.token)));
        const headers = {
          ...indexedHeaders({ ...reported.indexed, complete }),
          ...unreadHeader(reported.unread),
        };
        return c.json(rows, 200, headers);
      },
    });
  };
}

const UNREAD_NAMED_MAX = 20;

function unreadHeader(tokens: readonly Address[]): Readonly<Record<string, string>> {
  return tokens.length === 0 ? {} : { 'x-indexed-unread': tokens.slice(0, UNREAD_NAMED_MAX).join(',') };
}
