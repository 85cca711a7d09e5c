import type { RpcHandler, RpcReply } from '../json-rpc/json-rpc-reply.ts';
import type { ClientProfile, NullList } from './client-profiles.ts';

type Json = Readonly<Record<string, unknown>>;

/** Members that are quantities, in blocks, transactions, receipts and logs. */
const QUANTITIES: ReadonlySet<string> = new Set([
  ...[
    'number',
    'timestamp',
    'difficulty',
    'size',
    'gasLimit',
    'gasUsed',
    'baseFeePerGas',
    'blobGasUsed',
    'excessBlobGas',
  ],
  ...['blockNumber', 'transactionIndex', 'logIndex', 'cumulativeGasUsed', 'effectiveGasPrice', 'status', 'type'],
  ...['nonce', 'gas', 'gasPrice', 'maxFeePerGas', 'maxPriorityFeePerGas', 'value', 'chainId'],
]);
const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]*)$/;

/**
 * A node's methods as a client of this profile has them.
 * @param own those of a node that answers as specified
 */
export function bendMethods(
  profile: ClientProfile,
  own: ReadonlyMap<string, RpcHandler>,
): ReadonlyMap<string, RpcHandler> {
  const bent = new Map<string, RpcHandler>();
  for (const [method, handler] of own)
    bent.set(method, async (params) => {
      if (profile.lacks?.includes(method)) return missing(method);
      return bendReply(profile, method, await handler(params));
    });
  bent.set('web3_clientVersion', () => ({ result: profile.clientVersion }));
  return bent;
}

/** By turns, as a load balancer asks the nodes behind it. */
export function takeTurns(
  one: ReadonlyMap<string, RpcHandler>,
  other: ReadonlyMap<string, RpcHandler>,
): ReadonlyMap<string, RpcHandler> {
  let calls = 0;
  const methods = new Set([...one.keys(), ...other.keys()]);
  return new Map(
    [...methods].map((method) => [
      method,
      (params: readonly unknown[]) => {
        calls++;
        const handler = (calls % 2 === 0 ? one : other).get(method);
        return handler === undefined ? missing(method) : handler(params);
      },
    ]),
  );
}

function missing(method: string): RpcReply {
  return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
}

function bendReply(profile: ClientProfile, method: string, reply: RpcReply): RpcReply {
  if ('json' in reply) return reply;
  if ('error' in reply)
    return method === 'eth_call' && reply.error.code === 3 ? failed(profile, reply.error.data) : reply;
  const { result } = reply;
  if (method === 'eth_call')
    return { result: typeof result === 'string' ? result + '00'.repeat(profile.returnPadding ?? 0) : result };
  if (Array.isArray(result) && result.length === 0 && isNull(profile, method)) return { result: null };
  // For a block with transactions as well: this client has no such list.
  if (method === 'eth_getBlockReceipts' && isNull(profile, method)) return { result: null };
  return { result: bend(profile, method === 'eth_getLogs' ? renumberedLogs(profile, result) : result) };
}

function failed({ failure: { code, message, hasData } }: ClientProfile, data: unknown): RpcReply {
  return { error: hasData ? { code, message, data } : { code, message } };
}

function bend(profile: ClientProfile, value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    if (value.length === 0 && isNull(profile, name)) return null;
    return (name === 'logs' ? renumberedLogs(profile, value) : value).map((one: unknown) => bend(profile, one));
  }
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([member, one]) => [member, bend(profile, one, member)]));
  return QUANTITIES.has(name) && typeof value === 'string' && QUANTITY.test(value)
    ? quantity(profile, value)
    : value;
}

function quantity({ quantities }: ClientProfile, value: string): unknown {
  if (quantities === 'bare') return value === '0x0' ? '0x' : value;
  if (quantities === 'padded') return value.length % 2 === 0 ? value : `0x0${value.slice(2)}`;
  if (quantities === 'number') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return value;
}

/** By the count of those before them in their transaction, or not at all. */
function renumberedLogs({ logIndex }: ClientProfile, logs: unknown): unknown[] {
  const list: unknown[] = Array.isArray(logs) ? logs : [];
  if (logIndex === undefined) return list;
  const counts = new Map<unknown, number>();
  return list.map((log) => {
    const { transactionHash } = log as Json;
    const count = counts.get(transactionHash) ?? 0;
    counts.set(transactionHash, count + 1);
    return { ...(log as Json), logIndex: `0x${(logIndex === 'nothing' ? 0 : count).toString(16)}` };
  });
}

function isNull({ nulls = [] }: ClientProfile, name: string): boolean {
  return nulls.includes(name as NullList);
}
