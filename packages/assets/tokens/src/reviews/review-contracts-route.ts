import { defineRoute, type RouteModule, textParameter } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { cleanText } from '../abi-text.ts';
import { CONTRACT_TYPES, REPORT_TYPES } from './contract-review.ts';
import { saveReviews } from './save-reviews.ts';

const CONTRACTS_MAX = 25;
const REASON_LENGTH_MAX = 1_000;

/** Stores reports for the operator (docs/api/spam.md#contract-reviews). */
export const reviewContractsRoute: RouteModule = (app, dependencies) => {
  const { database, parameters } = dependencies;
  const contract = z.object({
    contract_address: parameters.address,
    reason: textParameter(`a text of 1 to ${REASON_LENGTH_MAX} characters`, (text) =>
      text.length <= REASON_LENGTH_MAX ? (cleanText(text, REASON_LENGTH_MAX) ?? undefined) : undefined,
    ).openapi({ type: 'string', example: 'Sends people to a page that empties their wallets' }),
    report_type: oneOf(...REPORT_TYPES),
    contract_type: oneOf(...CONTRACT_TYPES),
  });
  defineRoute(app, dependencies, {
    path: '/api/v2.2/contracts-review',
    operationId: 'reviewContracts',
    tags: ['Contracts'],
    summary: 'Report contracts as spam or not spam',
    description: `Up to ${CONTRACTS_MAX} contracts. Reports are stored and take effect when the operator applies them.`,
    query: { chain: parameters.chain },
    body: z.object({
      contracts: z
        .array(contract)
        .min(1, { error: 'at least 1 item' })
        .max(CONTRACTS_MAX, { error: `at most ${CONTRACTS_MAX} items` }),
    }),
    response: {
      description: 'The reports are stored',
      schema: z.object({ message: z.string().openapi({ example: 'Submission successful' }) }),
    },
    errors: [413],
    async answer({ chain, body, requester }) {
      const reviews = body.contracts.map(({ contract_address, contract_type, report_type, reason }) => ({
        ...{ address: contract_address, contractType: contract_type, reportType: report_type, reason },
      }));
      await saveReviews(database, { keyId: requester, chainId: chain.id }, reviews);
      return { message: 'Submission successful' };
    },
  });
};

function oneOf<const Word extends string>(...words: readonly Word[]) {
  return textParameter(words.join(' or '), (text) => words.find((word) => word === text)).openapi({
    type: 'string',
    enum: [...words],
  });
}
