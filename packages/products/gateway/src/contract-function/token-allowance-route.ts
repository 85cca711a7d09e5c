import { addressParameter, type RouteModule, routesFor } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { encodeCall } from './call/encode-call.ts';
import { findFunction } from './call/find-function.ts';
import { type ContractFunctionOptions, callsOff, onOfferedChains } from './contract-function-route.ts';
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

const allowanceSchema = z
  .object({
    allowance: z
      .string()
      .openapi({ example: '1000000', description: 'Base units, as returned by the contract.' }),
  })
  .openapi('TokenAllowance');

const getTokenAllowance = routesFor<ContractFunctionOptions>().defineRoute({
  path: '/api/v2.2/erc20/{address}/allowance',
  operationId: 'getTokenAllowance',
  tag: 'Tokens',
  summary: 'Get the ERC-20 allowance of a spender',
  description:
    'Calls `allowance(owner, spender)` on a node within the request, at the newest block, under the limits of JSON-RPC calls. A contract without it returns 400 with the reason.',
  params: ['address'],
  query: [
    'chain',
    {
      owner_address: addressParameter().openapi({ description: 'Owner of the tokens.' }),
      spender_address: addressParameter().openapi({ description: 'Account that may transfer the tokens.' }),
    },
  ],
  response: { description: 'The allowance', schema: allowanceSchema },
  async answer({ services, address, chain, owner_address: owner, spender_address: spender, requester: keyId }) {
    const { call, budget } = services;
    const params = { owner, spender };
    const requested = findFunction(ABI, 'allowance', params);
    if (!budget.mayCall) throw callsOff();
    const answer = await budget.run(keyId, () =>
      call({
        chain,
        keyId,
        timeoutMs: CALL_MS_MAX,
        bytesMax: ANSWER_BYTES_MAX,
        method: 'eth_call',
        params: [{ to: address, data: encodeCall(requested, params) }, 'latest'],
      }),
    );
    return { allowance: String(readAnswer(answer, { requested, errors: [], chain: chain.name })) };
  },
});

export const tokenAllowanceRoute = (services: ContractFunctionOptions): RouteModule =>
  onOfferedChains(services, getTokenAllowance);
