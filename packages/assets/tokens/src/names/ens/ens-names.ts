import { type Address, type Hex, parseAddress } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import { decodeAbi, EncodingRefusedError } from '@chainstead/events/abi';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import {
  concatHex,
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionData,
  getAddress,
  namehash,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  toFunctionSelector,
  toHex,
} from 'viem';
import { packetToBytes } from 'viem/ens';
import {
  NAME_CHAINS,
  type NameAnswer,
  type NameContracts,
  type NameNodes,
  type Names,
  NO_NAME,
} from '../name-chains.ts';
import { normalName } from '../resolve-routes.ts';

const RESOLVER = parseAbi([
  'function resolveWithGateways(bytes name, bytes data, string[] gateways) view returns (bytes, address)',
  'function reverseWithGateways(bytes reverseName, uint256 coinType, string[] gateways) view returns (string, address, address)',
]);
const [RESOLVE, REVERSE] = RESOLVER;
const ADDRESS_OF = parseAbi(['function addr(bytes32 node) view returns (address)']);
/** The client itself answers several lookups in one (ENSIP-21). */
export const LOCAL_BATCH_GATEWAY = 'x-batch-gateway:true';

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

interface GatewayQuery {
  readonly sender: string;
  readonly urls: readonly string[];
  readonly data: Hex;
}

/** @throws GatewayAnswerError */
export type AskGateway = (query: GatewayQuery) => Promise<Hex>;

/** Per question, including gateways that can't be queried. */
const REQUESTS_MAX = 8;
const URL_LENGTH_MAX = 16_384;
const TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_MAX = 131_072;

/** Does not contain the URL: the text goes into a call. */
class GatewayAnswerError extends Error {}

/** Contracts write the URLs (EIP-3668): only the guarded client requests them. */
export function createGatewayRequest(egress: Egress, signal: AbortSignal): AskGateway {
  let requests = 0;
  return async ({ data, sender, urls }) => {
    for (const template of urls) {
      requests += 1;
      if (requests > REQUESTS_MAX) break;
      const url = filledUrl(template, sender.toLowerCase(), data);
      if (url === null) continue;
      const answer = await requestGateway(
        egress,
        { url, data, sender, isGet: template.includes('{data}') },
        signal,
      );
      if (answer === 'refused') break;
      if (answer !== null) return answer;
    }
    throw new GatewayAnswerError('No gateway gave an answer');
  };
}

/** Null: too long. Measured first: a short URL may name long data many times. */
function filledUrl(template: string, sender: string, data: Hex): string | null {
  if (template.length > URL_LENGTH_MAX) return null;
  const grown = (name: string, value: string): number =>
    (template.split(name).length - 1) * (value.length - name.length);
  if (template.length + grown('{sender}', sender) + grown('{data}', data) > URL_LENGTH_MAX) return null;
  return template.replaceAll('{sender}', sender).replaceAll('{data}', data);
}

/** Null: the next one may answer. `refused`: EIP-3668 forbids to query another. */
async function requestGateway(
  egress: Egress,
  { url, data, sender, isGet }: { url: string; data: Hex; sender: string; isGet: boolean },
  signal: AbortSignal,
): Promise<Hex | 'refused' | null> {
  try {
    const { status, body } = await egress.request({
      url,
      method: isGet ? 'GET' : 'POST',
      ...(!isGet && {
        body: JSON.stringify({ data, sender: sender.toLowerCase() }),
        headers: { 'content-type': 'application/json' },
      }),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: RESPONSE_BYTES_MAX,
      signal,
    });
    if (status >= 400 && status < 500) return 'refused';
    return status === 200 ? dataIn(body.toString()) : null;
  } catch {
    // No answer, unless the question itself is over.
    signal.throwIfAborted();
    return null;
  }
}

function dataIn(text: string): Hex | null {
  let found: unknown = text.trim();
  try {
    found = Object(JSON.parse(text)).data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return typeof found === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(found) ? (found as Hex) : null;
}

/** EIP-3668: `OffchainLookup(address,string[],bytes,bytes4,bytes)`. */
const LOOKUP_SELECTOR = '0x556f1830';
const LOOKUP = parseAbiParameters('address, string[], bytes, bytes4, bytes');
/** `query((address,string[],bytes)[])` */
const QUERY_SELECTOR = '0xa780bab6';
const QUERIES = parseAbiParameters(['Query[]', 'struct Query { address sender; string[] urls; bytes data; }']);
const ANSWERS = parseAbiParameters('bool[], bytes[]');
const CALLBACK = parseAbiParameters('bytes, bytes');
const FAILURE = parseAbi(['error Error(string)']);

const QUERIES_MAX = 8;
const DEPTH_MAX = 3;
/** Keeps decoded data no larger than its encoding. Compilers don't write overlaps. */
const STRICT = { outputBytesMax: 524_288, overlaps: 'refuse' } as const;

function isLookup(reverted: Hex): boolean {
  return reverted.startsWith(LOOKUP_SELECTOR);
}

/** @returns null if the contract's texts are malformed @throws StateUnavailableError */
export async function followLookup(reverted: Hex, to: Address, ask: AskGateway): Promise<Hex | null> {
  try {
    const [sender, urls, data, callback, extra] = decodeAbi(LOOKUP, afterSelector(reverted), STRICT);
    // EIP-3668: no contract speaks for another.
    if (sender.toLowerCase() !== to) return null;
    const answer = await answerOf({ sender, urls, data }, ask, 0);
    return concatHex([callback, encodeAbiParameters(CALLBACK, [answer, extra])]);
  } catch (error) {
    if (error instanceof EncodingRefusedError) return null;
    if (error instanceof GatewayAnswerError)
      throw new StateUnavailableError('A gateway of a name returned no response: retry in a moment', error);
    throw error;
  }
}

async function answerOf(query: GatewayQuery, ask: AskGateway, depth: number): Promise<Hex> {
  return query.urls.includes(LOCAL_BATCH_GATEWAY) ? answerBatch(query.data, ask, depth) : ask(query);
}

async function answerBatch(data: Hex, ask: AskGateway, depth: number): Promise<Hex> {
  if (!data.startsWith(QUERY_SELECTOR) || depth >= DEPTH_MAX)
    throw new EncodingRefusedError('it is no batch of lookups');
  const [queries] = decodeAbi(QUERIES, afterSelector(data), STRICT);
  if (queries.length > QUERIES_MAX) throw new EncodingRefusedError(`it has more than ${QUERIES_MAX} lookups`);
  const answers = await Promise.all(queries.map((query) => answerOrFailure(query, ask, depth + 1)));
  return encodeAbiParameters(ANSWERS, [
    answers.map(({ hasFailed }) => hasFailed),
    answers.map(({ answer }) => answer),
  ]);
}

async function answerOrFailure(query: GatewayQuery, ask: AskGateway, depth: number) {
  try {
    return { hasFailed: false, answer: await answerOf(query, ask, depth) };
  } catch (error) {
    if (!(error instanceof GatewayAnswerError) && !(error instanceof EncodingRefusedError)) throw error;
    const answer = encodeErrorResult({ abi: FAILURE, errorName: 'Error', args: ['No gateway gave an answer'] });
    return { hasFailed: true, answer };
  }
}

function afterSelector(data: Hex): Hex {
  return `0x${data.slice(LOOKUP_SELECTOR.length)}`;
}
