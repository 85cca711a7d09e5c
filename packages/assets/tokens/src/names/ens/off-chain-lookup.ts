import type { Address, Hex } from '@chainstead/core';
import { decodeAbi, EncodingRefusedError } from '@chainstead/events/abi';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { concatHex, encodeAbiParameters, encodeErrorResult, parseAbi, parseAbiParameters } from 'viem';
import { type AskGateway, GatewayAnswerError, type GatewayQuery } from './gateway-request.ts';

/** EIP-3668: `OffchainLookup(address,string[],bytes,bytes4,bytes)`. */
const LOOKUP_SELECTOR = '0x556f1830';
const LOOKUP = parseAbiParameters('address, string[], bytes, bytes4, bytes');
/** The client itself answers several lookups in one (ENSIP-21). */
export const LOCAL_BATCH_GATEWAY = 'x-batch-gateway:true';
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

export function isLookup(reverted: Hex): boolean {
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
