import { blockMethods } from './block-methods.ts';
import { callMethods } from './call-methods.ts';
import type { ChainSource } from './chain-source.ts';
import { type ChainView, createChainView } from './chain-view.ts';
import { createFaults, type FaultSettings } from './faults.ts';
import type { RpcHandler } from './json-rpc-reply.ts';
import { type JsonRpcServer, startJsonRpcServer } from './json-rpc-server.ts';
import { logMethods } from './log-methods.ts';

export interface ServeChainOptions {
  readonly faults?: Partial<FaultSettings>;
  /** Of the fault layer; the same seed drops the same logs. Default 1. */
  readonly seed?: number;
  /** Default: any free one. */
  readonly port?: number;
  /** Methods that the node has instead of its own, or beside them; `own` are those of every node. */
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
