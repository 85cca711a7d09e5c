import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  requesterOf,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { cleanText } from '../abi-text.ts';
import { CONTRACT_TYPES, type ContractReview, REPORT_TYPES } from './contract-review.ts';
import { saveReviews } from './save-reviews.ts';

const DEFAULT_CHAIN = 'eth';
const CONTRACTS_MAX = 25;
const REASON_LENGTH_MAX = 1_000;

/** Stores reports for the operator (docs/api/spam.md#contract-reviews). */
export const reviewContractsRoute: RouteModule = (app, dependencies) => {
  const { chains, database } = dependencies;
  app.openapi(reviewContracts(dependencies), async (c) => {
    const chain = indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN);
    const reviews = c.req.valid('json').contracts.map(
      ({ contract_address, contract_type, report_type, reason }): ContractReview => ({
        ...{ address: contract_address, contractType: contract_type, reportType: report_type, reason },
      }),
    );
    await saveReviews(database, { keyId: requesterOf(c), chainId: chain.id }, reviews);
    return c.json({ message: 'Submission successful' }, 200);
  });
};

function oneOf<const Word extends string>(...words: readonly Word[]) {
  return textParameter(words.join(' or '), (text) => words.find((word) => word === text)).openapi({
    type: 'string',
    enum: [...words],
  });
}

function reviewContracts({ parameters }: ApiDependencies) {
  const contract = z.object({
    contract_address: parameters.address,
    reason: textParameter(`a text of 1 to ${REASON_LENGTH_MAX} characters`, (text) =>
      text.length <= REASON_LENGTH_MAX ? (cleanText(text, REASON_LENGTH_MAX) ?? undefined) : undefined,
    ).openapi({ type: 'string', example: 'Sends people to a page that empties their wallets' }),
    report_type: oneOf(...REPORT_TYPES),
    contract_type: oneOf(...CONTRACT_TYPES),
  });
  return createRoute({
    method: 'post',
    path: '/api/v2.2/contracts-review',
    operationId: 'reviewContracts',
    tags: ['Contracts'],
    summary: 'Report contracts as spam or not spam',
    description: `Up to ${CONTRACTS_MAX} contracts. Reports are stored and take effect when the operator applies them.`,
    request: {
      query: querySchema({ chain: parameters.chain }),
      body: {
        required: true,
        content: {
          'application/json': {
            schema: z.object({
              contracts: z
                .array(contract)
                .min(1, { error: 'at least 1 item' })
                .max(CONTRACTS_MAX, { error: `at most ${CONTRACTS_MAX} items` }),
            }),
          },
        },
      },
    },
    responses: {
      200: {
        description: 'The reports are stored',
        content: {
          'application/json': {
            schema: z.object({ message: z.string().openapi({ example: 'Submission successful' }) }),
          },
        },
      },
      ...errorResponses(400, 401, 413, 429, 500, 503),
    },
  });
}
