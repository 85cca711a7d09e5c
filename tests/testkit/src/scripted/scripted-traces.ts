import { keccak256Hex } from '@chainstead/core';
import type { RpcHandler, RpcReply } from '../json-rpc/json-rpc-reply.ts';
import type { JsonObject, SourceBlock } from '../nodes/chain-source.ts';
import type { ChainView } from '../nodes/chain-view.ts';
import { quantity } from './scripted-header.ts';

/** A call and those that it makes, in the form of go-ethereum's callTracer. */
export interface ScriptedCall {
  readonly type: string;
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly gas: string;
  readonly gasUsed: string;
  readonly input: string;
  readonly error?: string;
  readonly calls: readonly ScriptedCall[];
}

const TYPES = ['CALL', 'CALL', 'CALL', 'STATICCALL', 'DELEGATECALL', 'CREATE2'] as const;
const CALLS_MAX = 4;
const DEPTH_MAX = 3;

/** What a transaction does: its own call, and those inside it, which follow from its hash. */
export function scriptedCalls(transaction: JsonObject, receipt: JsonObject): ScriptedCall {
  const to = String(transaction.to ?? receipt.contractAddress);
  const hasFailed = receipt.status === '0x0';
  return {
    type: transaction.to === null ? 'CREATE' : 'CALL',
    from: String(transaction.from),
    to,
    value: String(transaction.value),
    gas: String(transaction.gas),
    gasUsed: String(receipt.gasUsed),
    input: String(transaction.input),
    ...(hasFailed ? { error: 'execution reverted' } : {}),
    calls: innerCalls(String(transaction.hash), to, 1),
  };
}

/** Fewer the deeper they are; one in eight fails, and takes what it calls along. */
function innerCalls(seed: string, from: string, depth: number): ScriptedCall[] {
  const count = byteOf(seed, depth) % Math.max(1, CALLS_MAX - depth);
  return Array.from({ length: count }, (_, index) => {
    const own = keccak256Hex(Buffer.from(`${seed}/${index}`));
    const to = `0x${own.slice(26)}`;
    const type = TYPES[byteOf(own, 1) % TYPES.length] ?? 'CALL';
    const hasValue = type === 'CALL' || type === 'CREATE2';
    return {
      type,
      from,
      to,
      value: hasValue ? quantity(BigInt(own.slice(0, 10)) % 3n === 0n ? 0 : byteOf(own, 2) + 1) : '0x0',
      gas: '0x5208',
      gasUsed: '0x64',
      input: '0x',
      ...(byteOf(own, 3) % 8 === 0 ? { error: 'out of gas' } : {}),
      // Borrowed code runs as the caller.
      calls: depth < DEPTH_MAX ? innerCalls(own, type === 'DELEGATECALL' ? from : to, depth + 1) : [],
    };
  });
}

function byteOf(hash: string, at: number): number {
  return Number.parseInt(hash.slice(2 + 2 * at, 4 + 2 * at), 16);
}

/** `debug_traceBlockByHash` and `debug_traceBlockByNumber` with the callTracer, for `ServeChainOptions.methods`. */
export function traceMethods(view: ChainView): ReadonlyMap<string, RpcHandler> {
  return new Map<string, RpcHandler>([
    ['debug_traceBlockByHash', ([hash]) => traced(view.blockByHash(String(hash)))],
    ['debug_traceBlockByNumber', ([number]) => traced(view.blockAt(view.resolve(number) ?? -1))],
  ]);
}

function traced(block: SourceBlock | undefined): RpcReply {
  if (block === undefined) return { error: { code: -32000, message: 'block not found' } };
  return {
    result: block.transactions.map((transaction, index) => ({
      txHash: transaction.hash,
      result: scriptedCalls(transaction, block.receipts[index] ?? {}),
    })),
  };
}
