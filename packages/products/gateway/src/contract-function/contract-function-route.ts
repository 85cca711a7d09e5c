import { toQuantity } from '@chainstead/core';
import {
  blockParameter,
  InvalidParameterError,
  type OnDemandBudget,
  type RouteModule,
  type RouteOf,
  releaseBody,
  routesFor,
  textParameter,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { CallDirectly } from '../index.ts';
import { encodeCall } from './call/encode-call.ts';
import { type CallParams, findFunction } from './call/find-function.ts';
import { ContractCallError, ContractCallsOffError } from './result/contract-call-error.ts';
import { readAnswer } from './result/read-answer.ts';

export interface ContractFunctionOptions {
  readonly call: CallDirectly;
  readonly budget: OnDemandBudget;
}

const ENTRIES_MAX = 2_000;
const CALL_MS_MAX = 10_000;
const ANSWER_BYTES_MAX = 2_097_152;

const { defineRoute } = routesFor<ContractFunctionOptions>();

/** The gateway may offer more chains than are indexed. */
export const onOfferedChains =
  (services: ContractFunctionOptions, route: RouteOf<ContractFunctionOptions>): RouteModule =>
  (app, api) =>
    route(app, { ...api, services, chains: { ...api.chains, isIndexed: () => true } });

/** docs/api/transactions.md#contract-functions */
export const contractFunctionRoute = (services: ContractFunctionOptions): RouteModule =>
  onOfferedChains(services, runContractFunction);

function readCall({ abi, params = {} }: z.infer<typeof bodySchema>, name: string) {
  const requested = findFunction(abi, name, params);
  const errors = abi.filter((entry) => Object(entry).type === 'error');
  return { requested, data: encodeCall(requested, params), errors };
}

const NOTHING = '0x';

export function callsOff(): ContractCallsOffError {
  return new ContractCallsOffError(
    "Contracts can't be called here: ON_DEMAND_MAX_CALLS=0 prevents requests from calling nodes",
    'ON_DEMAND_MAX_CALLS',
  );
}

const paramsSchema = z
  .custom<CallParams>((given) => typeof given === 'object' && given !== null, { error: 'must be an object' })
  .openapi({
    type: 'object',
    additionalProperties: true,
    description:
      'Arguments by input name, or by position if the input has no name. Arrays and tuples are JSON values or JSON text.',
    example: { account: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045' },
  })
  .optional();

const bodyMembers = {
  abi: z
    .array(z.unknown())
    .min(1, { error: 'at least 1 item' })
    .max(ENTRIES_MAX, { error: `at most ${ENTRIES_MAX} items` })
    .openapi({
      description: `ABI of the contract, or the required part of it: up to ${ENTRIES_MAX} entries`,
      example: [
        {
          type: 'function',
          name: 'balanceOf',
          stateMutability: 'view',
          inputs: [{ name: 'account', type: 'address' }],
          outputs: [{ name: '', type: 'uint256' }],
        },
      ],
    }),
  params: paramsSchema,
};
const bodySchema = z.object(bodyMembers);

const NAME_LENGTH_MAX = 1_024;

const functionName = z
  .string()
  .min(1, { error: 'at least 1 character' })
  .max(NAME_LENGTH_MAX, { error: `at most ${NAME_LENGTH_MAX} characters` })
  .openapi({ description: 'Function name, or a signature such as balanceOf(address)', example: 'balanceOf' });

type CallBlock = string | { readonly blockHash: string };

const BLOCK = `a block number (a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, decimal or hexadecimal with 0x), a block hash (0x and 64 hexadecimal digits), latest, safe, finalized, earliest or pending`;
const TAGS: ReadonlySet<string> = new Set(['latest', 'safe', 'finalized', 'earliest', 'pending']);

const callBlock = textParameter(BLOCK, parseBlock)
  .optional()
  .openapi({
    type: 'string',
    description: `Reads the state after this block. Default: latest. Values: ${BLOCK}.`,
  });

const runContractFunction = defineRoute({
  path: '/api/v2.2/{address}/function',
  operationId: 'runContractFunction',
  tag: 'Contracts',
  summary: 'Call a read-only contract function',
  description:
    'Calls a node within the request; the limits of JSON-RPC calls apply. Returns a single value as it is, several values as an object by position and name, and no value as null. A revert returns 400 with its reason.',
  params: ['address'],
  query: [
    'chain',
    {
      function_name: functionName,
      block: callBlock,
      to_block: blockParameter('Same as block, as a number.'),
    },
  ],
  body: bodySchema,
  bodyBounds: { bytesMax: 1_048_576, valuesMax: 60_000 },
  response: {
    description: 'The return value of the function',
    schema: z.unknown().openapi({ example: '1000000' }),
  },
  errors: [413],
  async answer(request) {
    const { services, address, chain, block: at, to_block: toBlock, requester: keyId, c } = request;
    if (at !== undefined && toBlock !== undefined) {
      const message = 'block and to_block are the same: give one of them';
      throw new InvalidParameterError({ parameter: 'to_block', message });
    }
    const { requested, data, errors } = readCall(request.body, request.function_name);
    releaseBody(c);
    const { call, budget } = services;
    if (!budget.mayCall) throw callsOff();
    const block = at ?? (toBlock === undefined ? 'latest' : toQuantity(toBlock));
    const bounds = { chain, keyId, timeoutMs: CALL_MS_MAX, bytesMax: ANSWER_BYTES_MAX };
    const answer = await budget.run(keyId, async () => {
      const called = await call({ ...bounds, method: 'eth_call', params: [{ to: address, data }, block] });
      // Nothing declared or returned: by a contract, or by an address without one.
      if (requested.outputs.length > 0 || called.kind !== 'result' || called.value !== NOTHING) return called;
      const code = await call({ ...bounds, method: 'eth_getCode', params: [address, block] });
      if (code.kind === 'result' && code.value === NOTHING) throw new ContractCallError('returned no data');
      return called;
    });
    return readAnswer(answer, { requested, errors, chain: chain.name });
  },
});

function parseBlock(given: string): CallBlock | undefined {
  const text = given.toLowerCase();
  if (TAGS.has(text)) return text;
  if (/^0x[0-9a-f]{64}$/.test(text)) return { blockHash: text };
  const number = /^(?:\d{1,16}|0x[0-9a-f]{1,14})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? toQuantity(number) : undefined;
}
