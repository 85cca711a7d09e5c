import type { Egress } from '@chainstead/egress';
import { RpcCallError, type UpstreamPool } from '@chainstead/rpc';
import { type Client, createClient, custom } from 'viem';
import { createGatewayRequest } from './gateway-request.ts';

/** viem over a chain's pool, for one question. */
export interface EnsClient {
  readonly viem: Client;
  /** Why a call could not be made; null: all were answered. */
  outage(): unknown;
}

/** Resolvers may send a client from lookup to lookup: so many calls a question. */
const CALLS_MAX = 16;
/** Of a call's result or revert, which strangers' contracts write. Characters. */
const RESULT_LENGTH_MAX = 524_288;

/** @param gateways null: those of off-chain names are not asked */
export function openEnsClient({
  pool,
  gateways,
  block,
  signal,
}: {
  readonly pool: UpstreamPool;
  readonly gateways: Egress | null;
  /** Which nodes have to have: what calls name besides. */
  readonly block: number;
  readonly signal: AbortSignal;
}): EnsClient {
  let outage: unknown = null;
  let calls = 0;

  async function request({ method, params }: { method: string; params?: unknown }): Promise<unknown> {
    calls += 1;
    if (calls > CALLS_MAX) throw new Error('A resolver leads from call to call');
    try {
      const { value } = await pool.request(method, Array.isArray(params) ? params : [], { signal, minBlock: block });
      if (typeof value === 'string' && value.length > RESULT_LENGTH_MAX)
        throw new Error('A resolver returned too much');
      return value;
    } catch (error) {
      if (error instanceof RpcCallError) throw revertOf(error);
      outage ??= error;
      throw error;
    }
  }

  const ccipRead = gateways === null ? false : { request: createGatewayRequest(gateways, signal) };
  const viem = createClient({ transport: custom({ request }, { retryCount: 0 }), ccipRead });
  return { viem, outage: () => outage };
}

/** As viem reads it: the data that the contract reverted with stands by itself. */
function revertOf({ rpcCode, rpcMessage, rpcData }: RpcCallError): Error {
  const text = typeof rpcData === 'object' && rpcData !== null && 'data' in rpcData ? rpcData.data : rpcData;
  const [data] = typeof text === 'string' ? (/0x[0-9a-f]*$/i.exec(text) ?? []) : [];
  const isShort = data !== undefined && data.length <= RESULT_LENGTH_MAX;
  return Object.assign(new Error(rpcMessage), { code: rpcCode, ...(isShort && { data }) });
}
