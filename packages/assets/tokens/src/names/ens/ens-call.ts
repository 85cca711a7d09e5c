import type { Address, Hex } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import { RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import { numberToHex } from 'viem';
import { createGatewayRequest } from './gateway-request.ts';
import { followLookup, isLookup } from './off-chain-lookup.ts';

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
export async function callEns(options: EnsCallOptions, to: Address, data: Hex): Promise<EnsAnswer> {
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
    const { value } = await pool.request('eth_call', [{ data, to }, numberToHex(block)], { signal, minBlock: block });
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
