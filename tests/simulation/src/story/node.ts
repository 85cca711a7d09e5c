/** Calls contracts on the node: many calls in one request, each at a named block. */
import type { Address, Hex } from '@chainstead/core';
import { postJson } from '@chainstead/testkit';
import { type Abi, encodeFunctionData, parseAbi } from 'viem';

/** One call of a contract. */
export interface NodeCall {
  readonly to: Address;
  readonly data: Hex;
}

/** One request of JSON-RPC. */
export interface NodeQuestion {
  readonly method: string;
  readonly params: readonly unknown[];
}

const TOGETHER = 250;

/** Results in the order of the questions; null where a call reverted. @throws Error for any other error */
export async function fetchTogether(url: string, questions: readonly NodeQuestion[]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (let from = 0; from < questions.length; from += TOGETHER) {
    const some = questions.slice(from, from + TOGETHER);
    const body = some.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
    const replies = (await postJson(url, body)) as readonly Reply[];
    const byId = new Map(replies.map((reply) => [reply.id, reply]));
    results.push(...some.map((question, id) => resultOf(question, byId.get(id))));
  }
  return results;
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

function resultOf({ method }: NodeQuestion, reply: Reply | undefined): unknown {
  if (reply === undefined) throw new Error(`${method} was not answered`);
  const { error } = reply;
  if (error === undefined) return reply.result;
  if (method === 'eth_call' && /revert|StackUnderflow|InvalidFEOpcode|OpcodeNotFound/i.test(error.message))
    return null;
  throw new Error(`${method} was answered with ${error.code} ${error.message}`);
}

/** What calls return after a block, in their order; null where one reverts or returns nothing. */
export async function callAt(
  url: string,
  calls: readonly NodeCall[],
  block: number | 'latest',
): Promise<(Hex | null)[]> {
  const tag = block === 'latest' ? block : `0x${block.toString(16)}`;
  const questions = calls.map(({ to, data }) => ({ method: 'eth_call', params: [{ to, data }, tag] }));
  return (await fetchTogether(url, questions)).map((said) =>
    typeof said === 'string' && said.length >= WORD_CHARACTERS ? (said as Hex) : null,
  );
}

const WORD_CHARACTERS = 66;
const abis = new Map<string, Abi>();

/** The data of a call, such as `encodeCall('balanceOf(address)', [owner])`. */
export function encodeCall(signature: string, args: readonly unknown[] = []): Hex {
  const signatures: readonly string[] = [`function ${signature}`];
  const abi = abis.get(signature) ?? parseAbi(signatures);
  abis.set(signature, abi);
  return encodeFunctionData({ abi, functionName: signature.slice(0, signature.indexOf('(')), args });
}

/** The first word of what a call returned; 0 for nothing. */
export function toAmount(said: Hex | null | undefined): bigint {
  return said === null || said === undefined ? 0n : BigInt(said.slice(0, WORD_CHARACTERS));
}

/** The address in the first word; null for nothing. */
export function toOwner(said: Hex | null | undefined): Address | null {
  return said === null || said === undefined ? null : (`0x${said.slice(26, WORD_CHARACTERS)}` as Address);
}

/** The items of the one array that a call returned. */
export function toAmounts(said: Hex | null | undefined): bigint[] {
  if (said === null || said === undefined) return [];
  const words = said.slice(2).match(/.{64}/g) ?? [];
  return words.slice(2).map((word) => BigInt(`0x${word}`));
}

/** The newest block. */
export async function readHead(url: string): Promise<{ readonly number: number; readonly hash: Hex }> {
  const [block] = await fetchTogether(url, [{ method: 'eth_getBlockByNumber', params: ['latest', false] }]);
  const { number, hash } = block as { number: Hex; hash: Hex };
  return { number: Number(number), hash };
}
