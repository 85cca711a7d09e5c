import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  requesterOf,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { encodeCall } from './call/encode-call.ts';
import { findFunction } from './call/find-function.ts';
import { type ContractFunctionOptions, callsOff, DEFAULT_CHAIN } from './contract-function-route.ts';
import { readAnswer } from './result/read-answer.ts';

const ABI = [
  {
    type: 'function',
    name: 'allowance',
    inputs: ['owner', 'spender'].map((name) => ({ name, type: 'address' })),
    outputs: [{ name: '', type: 'uint256' }],
  },
];
const CALL_MS_MAX = 10_000;
/** Two characters a byte. Some contracts return more than they declare. */
const ANSWER_BYTES_MAX = 65_536;

export function tokenAllowanceRoute({ call, budget }: ContractFunctionOptions): RouteModule {
  return (app, dependencies) => {
    const { chains } = dependencies;
    app.openapi(getTokenAllowance(dependencies), async (c) => {
      const query = c.req.valid('query');
      const { address } = c.req.valid('param');
      const chain = query.chain ?? chains.find(DEFAULT_CHAIN) ?? indexedChain(chains, DEFAULT_CHAIN);
      const params = { owner: query.owner_address, spender: query.spender_address };
      const requested = findFunction(ABI, 'allowance', params);
      if (!budget.mayCall) throw callsOff();
      const keyId = requesterOf(c);
      const answer = await budget.run(keyId, () =>
        call({
          ...{ chain, keyId, timeoutMs: CALL_MS_MAX, bytesMax: ANSWER_BYTES_MAX, method: 'eth_call' },
          params: [{ to: address, data: encodeCall(requested, params) }, 'latest'],
        }),
      );
      return c.json({ allowance: String(readAnswer(answer, { requested, errors: [], chain: chain.name })) }, 200);
    });
  };
}

const allowanceSchema = z
  .object({
    allowance: z.string().openapi({ example: '1000000', description: 'Base units, as returned by the contract.' }),
  })
  .openapi('TokenAllowance');

function getTokenAllowance({ parameters }: ApiDependencies) {
  const account = (description: string) => parameters.address.openapi({ description });
  return createRoute({
    method: 'get',
    path: '/api/v2.2/erc20/{address}/allowance',
    operationId: 'getTokenAllowance',
    tags: ['Tokens'],
    summary: 'Get the ERC-20 allowance of a spender',
    description:
      'Calls `allowance(owner, spender)` on a node within the request, at the newest block, under the limits of JSON-RPC calls. A contract without it returns 400 with the reason.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        owner_address: account('Owner of the tokens.'),
        spender_address: account('Account that may transfer the tokens.'),
      }),
    },
    responses: {
      200: { description: 'The allowance', content: { 'application/json': { schema: allowanceSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
