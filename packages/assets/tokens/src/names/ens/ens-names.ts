import { type Address, type Hex, parseAddress } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import { decodeAbi, EncodingRefusedError } from '@chainstead/events/abi';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import { encodeFunctionData, getAddress, namehash, numberToHex, parseAbi, toFunctionSelector, toHex } from 'viem';
import { packetToBytes } from 'viem/ens';
import { NAME_CHAINS, type NameContracts, type NameNodes } from '../name-chains.ts';
import { type NameAnswer, NO_NAME } from '../name-question.ts';
import type { Names } from '../name-service.ts';
import { normalName } from '../normal-name.ts';
import { createGatewayRequest } from './gateway-request.ts';
import { followLookup, isLookup, LOCAL_BATCH_GATEWAY } from './off-chain-lookup.ts';

const RESOLVER = parseAbi([
  'function resolveWithGateways(bytes name, bytes data, string[] gateways) view returns (bytes, address)',
  'function reverseWithGateways(bytes reverseName, uint256 coinType, string[] gateways) view returns (string, address, address)',
]);
const [RESOLVE, REVERSE] = RESOLVER;
const ADDRESS_OF = parseAbi(['function addr(bytes32 node) view returns (address)']);
const GATEWAYS = [LOCAL_BATCH_GATEWAY];
const COIN_TYPE = 60n;
const ANSWER = { outputBytesMax: 8_192 };
const NOBODY = `0x${'0'.repeat(40)}`;

/** Reverts with an unknown result. Other reverts mean that no record exists. */
const UNREPORTED: ReadonlySet<string> = new Set(
  [
    'DNSDecodingFailed(bytes)',
    'DNSEncodingFailed(string)',
    'HttpError(uint16,string)',
    'InvalidBatchGatewayResponse()',
    'Error(string)',
    'Panic(uint256)',
  ].map((error) => toFunctionSelector(error)),
);
const SELECTOR_LENGTH = 10;

type At = { readonly block: number; readonly signal: AbortSignal };

/** Null: Ethereum is not among the chains. */
export function createEnsNames(
  nodes: readonly NameNodes[],
  gateways: Egress | null,
  contracts: NameContracts,
): Names | null {
  const ethereum = nodes.find(({ chain }) => NAME_CHAINS.ens.includes(chain.key));
  if (ethereum === undefined) return null;
  const { pool, chain } = ethereum;

  const newestAt = async (signal: AbortSignal): Promise<At> => ({
    block: (await pool.getHead({ signal })).value.number,
    signal,
  });

  /** @param read throws EncodingRefusedError for an incorrectly encoded response: no name */
  async function ask(at: At, data: Hex, read: (returned: Hex) => string | null): Promise<NameAnswer> {
    const answer = await callEns({ ...at, pool, gateways }, contracts.universalResolver, data);
    const asOf = { chainId: chain.id, block: at.block };
    if (answer === 'off-chain') return { ...NO_NAME, asOf, offChain: true };
    if (answer === 'nowhere') return { ...NO_NAME, asOf };
    if ('reverted' in answer) {
      if (UNREPORTED.has(answer.reverted.slice(0, SELECTOR_LENGTH)))
        throw new StateUnavailableError(
          `A gateway of a name on ${chain.name} returned no response: retry in a moment`,
        );
      return { ...NO_NAME, asOf };
    }
    try {
      return { ...NO_NAME, asOf, answer: read(answer.returned) };
    } catch (error) {
      if (error instanceof EncodingRefusedError) return { ...NO_NAME, asOf };
      throw error;
    }
  }

  function addressAt(name: string, at: At): Promise<NameAnswer> {
    const question = encodeFunctionData({ abi: ADDRESS_OF, args: [namehash(name)] });
    const args = [toHex(packetToBytes(name)), question, GATEWAYS] as const;
    return ask(
      at,
      encodeFunctionData({ abi: RESOLVER, functionName: 'resolveWithGateways', args }),
      (returned) => {
        const [record] = decodeAbi(RESOLVE.outputs, returned, ANSWER);
        if (record === '0x') return null;
        const [address] = decodeAbi(ADDRESS_OF[0].outputs, record, ANSWER);
        return address === NOBODY ? null : getAddress(address);
      },
    );
  }

  return {
    addressOf: async (name, signal) => addressAt(name, await newestAt(signal)),
    async nameOf(text, signal) {
      const address = parseAddress(text);
      // Both ways at one block: a name may change hands meanwhile.
      const at = await newestAt(signal);
      const args = [address, COIN_TYPE, GATEWAYS] as const;
      const question = encodeFunctionData({ abi: RESOLVER, functionName: 'reverseWithGateways', args });
      const reported = await ask(
        at,
        question,
        (returned) => decodeAbi(REVERSE.outputs, returned, ANSWER)[0] || null,
      );
      if (reported.answer === null) return reported;
      const none = { ...NO_NAME, asOf: reported.asOf };
      // It looks like another name.
      if (normalName(reported.answer) !== reported.answer) return none;
      const back = await addressAt(reported.answer, at);
      if (back.offChain) return back;
      return back.answer?.toLowerCase() === address ? reported : none;
    },
  };
}

interface EnsCallOptions {
  readonly pool: UpstreamPool;
  /** Null: off-chain names are not resolved. */
  readonly gateways: Egress | null;
  readonly block: number;
  readonly signal: AbortSignal;
}

/** `off-chain`: a gateway would have to be queried. `nowhere`: no data. */
type EnsAnswer = { readonly returned: Hex } | { readonly reverted: Hex } | 'off-chain' | 'nowhere';

/** Per question: resolvers may send a client from lookup to lookup. */
const CALLS_MAX = 16;
const RESULT_LENGTH_MAX = 524_288;

/** EIP-3668. @throws UpstreamsExhaustedError, RequestAbortedError, StateUnavailableError */
async function callEns(options: EnsCallOptions, to: Address, data: Hex): Promise<EnsAnswer> {
  const { gateways, signal } = options;
  const ask = gateways === null ? null : createGatewayRequest(gateways, signal);
  let next: Hex | null = data;
  for (let calls = 0; calls < CALLS_MAX && next !== null; calls += 1) {
    const answer = await callOnce(options, to, next);
    if (typeof answer === 'string' || !('reverted' in answer) || !isLookup(answer.reverted)) return answer;
    if (ask === null) return 'off-chain';
    next = await followLookup(answer.reverted, to, ask);
  }
  return 'nowhere';
}

async function callOnce({ pool, block, signal }: EnsCallOptions, to: Address, data: Hex): Promise<EnsAnswer> {
  try {
    const { value } = await pool.request('eth_call', [{ data, to }, numberToHex(block)], {
      signal,
      minBlock: block,
    });
    const returned = shortHex(value);
    return returned === null ? 'nowhere' : { returned };
  } catch (error) {
    if (!(error instanceof RpcCallError)) throw error;
    const { rpcData } = error;
    const text = typeof rpcData === 'object' && rpcData !== null && 'data' in rpcData ? rpcData.data : rpcData;
    const reverted = shortHex(typeof text === 'string' ? /0x[0-9a-f]*$/i.exec(text)?.[0] : undefined);
    return reverted === null ? 'nowhere' : { reverted };
  }
}

function shortHex(value: unknown): Hex | null {
  if (typeof value !== 'string' || value.length > RESULT_LENGTH_MAX) return null;
  return /^0x(?:[0-9a-f]{2})*$/i.test(value) ? (value.toLowerCase() as Hex) : null;
}
