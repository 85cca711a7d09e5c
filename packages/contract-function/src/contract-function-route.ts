import type { CallDirectly, DirectAnswer } from '@chainstead/gateway';
import {
  type ApiDependencies,
  bodyBounds,
  errorResponses,
  InvalidParameterError,
  indexedChain,
  type OnDemandBudget,
  querySchema,
  type RouteModule,
  releaseBody,
  requesterOf,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { blockParameter } from './call-block.ts';
import { ContractCallError, ContractCallsOffError } from './contract-call-error.ts';
import { encodeCall } from './encode-call.ts';
import { type AskedFunction, type CallParams, findFunction } from './find-function.ts';
import { readAnswer } from './read-answer.ts';

export interface ContractFunctionOptions {
  /** Makes a node call within this request, under the limits of the gateway's clients. */
  readonly call: CallDirectly;
  /** Shared with other routes that have nodes asked. */
  readonly budget: OnDemandBudget;
}

export const DEFAULT_CHAIN = 'eth';
const ENTRIES_MAX = 2_000;
/** Of one call, failover included. Milliseconds. */
const CALL_MS_MAX = 10_000;
/** Of a node's answer, two characters a byte. */
const ANSWER_BYTES_MAX = 2_097_152;

/**
 * `POST /api/v2.2/{address}/function`: calls a function of a contract by an ABI that comes with the request
 * (docs/provider-contract.md#contract-functions).
 */
export function contractFunctionRoute({ call, budget }: ContractFunctionOptions): RouteModule {
  return (app, dependencies) => {
    const { chains } = dependencies;
    app.openapi(runContractFunction(dependencies), async (c) => {
      const query = c.req.valid('query');
      const { address } = c.req.valid('param');
      // The gateway says which chains it offers: not only those that are indexed.
      const chain = query.chain ?? chains.find(DEFAULT_CHAIN) ?? indexedChain(chains, DEFAULT_CHAIN);
      if (query.block !== undefined && query.to_block !== undefined) throw twoBlocks();
      const { asked, data, errors } = readCall(c.req.valid('json'), query.function_name);
      releaseBody(c);
      if (!budget.mayCall) throw callsOff();
      const block = query.block ?? (query.to_block === undefined ? 'latest' : `0x${query.to_block.toString(16)}`);
      const keyId = requesterOf(c);
      const bounds = { chain, keyId, timeoutMs: CALL_MS_MAX, bytesMax: ANSWER_BYTES_MAX };
      const answer = await budget.run(keyId, async () => {
        const called = await call({ ...bounds, method: 'eth_call', params: [{ to: address, data }, block] });
        if (!isSilent(called, asked)) return called;
        const code = await call({ ...bounds, method: 'eth_getCode', params: [address, block] });
        if (code.kind === 'result' && code.value === NOTHING) throw new ContractCallError('returned no data');
        return called;
      });
      return c.json(readAnswer(answer, { asked, errors, chain: chain.name }), 200);
    });
  };
}

/** What is needed of a body: the node is waited for without the rest. */
function readCall({ abi, params = {} }: z.infer<typeof bodySchema>, name: string) {
  const asked = findFunction(abi, name, params);
  return { asked, data: encodeCall(asked, params), errors: abi.filter(isError) };
}

function isError(entry: unknown): boolean {
  return Object(entry).type === 'error';
}

const NOTHING = '0x';

/** Whether nothing was returned of nothing that is declared: a contract that did so, or an address without one. */
function isSilent(called: DirectAnswer, { outputs }: AskedFunction): boolean {
  return outputs.length === 0 && called.kind === 'result' && called.value === NOTHING;
}

function twoBlocks(): InvalidParameterError {
  return new InvalidParameterError({
    parameter: 'to_block',
    message: 'block and to_block are the same: give one of them',
  });
}

export function callsOff(): ContractCallsOffError {
  return new ContractCallsOffError(
    "Contracts can't be called here: ON_DEMAND_MAX_CALLS=0 keeps requests from asking nodes",
    'ON_DEMAND_MAX_CALLS',
  );
}

const paramsSchema = z
  .custom<CallParams>((given) => typeof given === 'object' && given !== null, { error: 'must be an object' })
  .openapi({
    type: 'object',
    additionalProperties: true,
    description: 'By names of inputs, or their places where they have none. Arrays and tuples as JSON, or as its text.',
    example: { account: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045' },
  })
  .optional();

const bodyMembers = {
  abi: z
    .array(z.unknown())
    .min(1, { error: 'at least 1 item' })
    .max(ENTRIES_MAX, { error: `at most ${ENTRIES_MAX} items` })
    .openapi({
      description: `The contract's ABI, or the part of it that is needed: up to ${ENTRIES_MAX} entries`,
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

/** An ABI of so many entries, and values of a call in hexadecimal digits. */
const BODY_BOUNDS = bodyBounds({ bytesMax: 1_048_576, valuesMax: 60_000 });

const NAME_LENGTH_MAX = 1_024;

const functionName = z
  .string()
  .min(1, { error: 'at least 1 character' })
  .max(NAME_LENGTH_MAX, { error: `at most ${NAME_LENGTH_MAX} characters` })
  .openapi({ description: 'A name, or a signature such as balanceOf(address)', example: 'balanceOf' });

function runContractFunction({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'post',
    path: '/api/v2.2/{address}/function',
    operationId: 'runContractFunction',
    tags: ['Utils'],
    summary: 'Calls a function of a contract, changing nothing',
    description:
      'A node is asked within the request, under the limits of JSON-RPC calls. One value is answered as it is, several as an object by places and names, none as null. A revert is a 400 with its reason.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        function_name: functionName,
        block: blockParameter,
        to_block: parameters.toBlock.openapi({ description: 'The same as block, as a number.' }),
      }),
      body: { required: true, content: { 'application/json': { schema: bodySchema } } },
    },
    ...BODY_BOUNDS,
    responses: {
      200: {
        description: 'What the function returned',
        content: { 'application/json': { schema: z.unknown().openapi({ example: '1000000' }) } },
      },
      ...errorResponses(400, 401, 413, 429, 500, 503),
    },
  });
}
