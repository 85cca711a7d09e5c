import type { Hex } from '@chainstead/core';
import { createFaults, type FaultSettings } from '../json-rpc/faults.ts';
import { type RpcHandler, type RpcReply, rpcError } from '../json-rpc/json-rpc-reply.ts';
import { type JsonRpcServer, startJsonRpcServer } from '../json-rpc/json-rpc-server.ts';
import { blockMethods } from './block-methods.ts';
import type { ChainSource, JsonObject } from './chain-source.ts';
import { type ChainView, createChainView } from './chain-view.ts';
import { logMethods } from './log-methods.ts';

export interface ServeChainOptions {
  readonly faults?: Partial<FaultSettings>;
  /** Seed of the fault layer; the same seed drops the same logs. Default 1. */
  readonly seed?: number;
  /** Default: any free one. */
  readonly port?: number;
  /** Methods of the node that replace or extend its standard ones; `own` are those of every node. */
  readonly methods?: (view: ChainView, own: ReadonlyMap<string, RpcHandler>) => ReadonlyMap<string, RpcHandler>;
}

/** A JSON-RPC node over a chain. Several nodes may serve one chain, each with its own faults. */
export interface ChainNode extends JsonRpcServer {
  readonly source: ChainSource;
}

export async function serveChain(source: ChainSource, options: ServeChainOptions = {}): Promise<ChainNode> {
  const faults = createFaults(options.seed ?? 1, options.faults);
  const view = createChainView(source, faults);
  const own = new Map([...callMethods(view), ...blockMethods(view), ...logMethods(view)]);
  const handlers = new Map([...own, ...(options.methods?.(view, own) ?? [])]);
  const server = await startJsonRpcServer({ handlers, faults, port: options.port ?? 0 });
  return { ...server, source };
}

/** Facts of a node about itself, and calls into contracts. */
function callMethods(view: ChainView): ReadonlyMap<string, RpcHandler> {
  const chainId = (): number => view.faults.settings.wrongChainId ?? view.source.chainId;
  return new Map<string, RpcHandler>([
    ['eth_chainId', () => ({ result: quantity(chainId()) })],
    ['net_version', () => ({ result: String(chainId()) })],
    ['web3_clientVersion', () => ({ result: view.source.clientVersion })],
    ['eth_syncing', () => ({ result: false })],
    ['eth_gasPrice', () => ({ result: '0x3b9aca00' })],
    ['eth_blockNumber', () => ({ result: quantity(view.announcedHead) })],
    ['eth_call', (params) => call(view, params)],
    ['eth_getCode', ([address]) => ({ result: view.source.code(String(address).toLowerCase()) })],
    ['eth_getBalance', () => ({ result: '0x0' })],
  ]);
}

/** The block that a call is pinned to: a tag, a number, a hash, or an object with either (EIP-1898). */
function knowsBlock(view: ChainView, at: unknown): boolean {
  if (typeof at === 'object' && at !== null) {
    const { blockHash, blockNumber } = at as JsonObject;
    return typeof blockHash === 'string'
      ? view.blockByHash(blockHash) !== undefined
      : knowsBlock(view, blockNumber);
  }
  const number = view.resolve(at);
  return typeof number === 'number' && number <= view.announcedHead;
}

function call(view: ChainView, params: readonly unknown[]): RpcReply {
  const [transaction, at] = params;
  if (typeof transaction !== 'object' || transaction === null)
    return rpcError(-32602, 'missing value for required argument 0');
  if (!knowsBlock(view, at)) return rpcError(-32000, 'header not found');
  const { to, data, input } = transaction as JsonObject;
  const outcome = view.source.call(String(to).toLowerCase(), (input ?? data ?? '0x') as Hex);
  if ('data' in outcome) return { result: outcome.data };
  return rpcError(3, 'execution reverted', outcome.revert);
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}
