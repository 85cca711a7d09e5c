import { readKept, showIndexed, type WalletHistory } from '@chainstead/answers';
import { type Address, parseAddress } from '@chainstead/core';
import {
  type ApiDependencies,
  ApiError,
  errorResponses,
  indexedChain,
  NotIndexedError,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import type { StateQuestions } from '@chainstead/state';
import type { KeptSubjects } from '@chainstead/sync';
import { createRoute, z } from '@hono/zod-openapi';
import { createAllowancesQuestion } from './ask-allowances.ts';
import { erc20Approvals } from './dataset.ts';
import { getWalletApprovals, type WalletApproval } from './get-wallet-approvals.ts';
import { erc20WalletApprovals } from './wallet-approvals.ts';
import { showApprovals, walletApprovalsSchema } from './wallet-approvals-response.ts';

export interface WalletApprovalsOptions {
  readonly kept: KeptSubjects;
  /** How long a request waits until it is known what the wallet approved, and what of it is left. Milliseconds. */
  readonly waitMs: number;
  readonly walletHistory: Pick<WalletHistory, 'requestWallet'>;
  readonly questions: StateQuestions;
}

/**
 * `GET /api/v2.2/wallets/{address}/approvals`: whom a wallet allows to move its ERC-20 tokens (docs/provider-contract.md#wallet-approvals). What counts is what
 * the token says now; events only tell which tokens and spenders to ask about.
 */
export function createWalletApprovalsRoute(options: WalletApprovalsOptions): RouteModule {
  const { kept, walletHistory, waitMs } = options;
  const askTokens = createAllowancesQuestion(options);
  return (app, dependencies) => {
    const { chains, database, limits, logger, paging, reads } = dependencies;
    const runs = paging.forRoute({
      route: 'wallet-approvals',
      filter: z.object({ address: z.string(), chain: z.string() }),
      position: positionSchema,
      defaults: { address: '', chain: 'eth' },
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const page = runs.open({
        cursor: query.cursor,
        limit: query.limit,
        order: undefined,
        filter: { address: c.req.valid('param').address, chain: query.chain?.key },
      });
      const { filter, position } = page;
      const chain = indexedChain(chains, filter.chain);
      if (!chains.keeps(erc20Approvals.name)) throw notKept();
      const wallet = parseAddress(filter.address);
      await kept.keep(chain, { dataset: erc20Approvals, state: erc20WalletApprovals }, wallet, waitMs);
      const reading = {
        wallet,
        limit: page.limit,
        after:
          position === null
            ? null
            : { ...position, token: position.token as Address, spender: position.spender as Address },
        pinnedBlock: page.upperBound,
      };
      const found = await readKept(dependencies, (from) => getWalletApprovals(from, chain, reading));
      const present = await askTokens(reads, chain, wallet, found.approvals);
      if (!found.isCovered)
        await walletHistory.requestWallet({ database, logger }, chain, wallet, c.get('principal')?.id ?? 'open');
      const last = found.approvals.at(-1);
      return c.json(
        {
          page: page.page + 1,
          page_size: page.limit,
          limit: page.limit,
          cursor:
            found.hasNext && last !== undefined
              ? runs.next(page, {
                  position: placeOf(last),
                  upperBound:
                    page.upperBound ?? Math.max(found.indexed.toBlock ?? 0, found.approvals[0]?.blockNumber ?? 0),
                })
              : null,
          indexed: showIndexed(found.indexed),
          result: showApprovals(present),
        },
        200,
      );
    });
  };
}

const PAGE_SIZE_DEFAULT = 100;

const positionSchema = z.object({
  blockNumber: z.int(),
  transactionIndex: z.int(),
  logIndex: z.int(),
  token: z.string(),
  spender: z.string(),
});

function placeOf({
  blockNumber,
  transactionIndex,
  logIndex,
  token,
  spender,
}: WalletApproval): z.infer<typeof positionSchema> {
  return { blockNumber, transactionIndex, logIndex, token: token.address, spender: spender.address };
}

/** An empty list would say that nothing is approved. */
function notKept(): ApiError {
  const { code, message, details } = NotIndexedError.ofDataset(erc20Approvals.name);
  return new ApiError({ code, status: 404, message, details: { ...details, status: 'not-indexed' } });
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/approvals',
    operationId: 'getWalletApprovals',
    tags: ['Wallets'],
    summary: "A wallet's ERC-20 approvals",
    description:
      'Whom a wallet allows to move how much of its ERC-20 tokens, newest approval first. Approvals that were taken back or used up are left out, so a page may be short.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({ chain: parameters.chain, limit: parameters.limit, cursor: parameters.cursor }),
    },
    responses: {
      200: {
        description: 'A page of approvals',
        content: { 'application/json': { schema: walletApprovalsSchema } },
      },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
