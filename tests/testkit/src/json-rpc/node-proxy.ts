import { createServer, type IncomingMessage } from 'node:http';
import { type ListeningServer, listenOnLoopback } from 'chainstead/src/demo/network/loopback-server.ts';
import type { RpcErrorBody } from './json-rpc-reply.ts';
import { postJson } from './rpc-client.ts';

/** A call on its way through the proxy. */
export interface ProxiedCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What the proxy does to what the node says. */
export interface NodeProxyOptions {
  /** Gives what is answered instead of the node's result. */
  readonly alter?: (call: ProxiedCall, result: unknown) => unknown;
  /** What methods are answered with instead of being passed on. */
  readonly errors?: Readonly<Record<string, RpcErrorBody>>;
  /** What a call is answered with instead of being passed on; undefined: it is passed on. */
  readonly refuse?: (call: ProxiedCall) => RpcErrorBody | undefined;
}

interface RpcMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
}

/** An upstream that passes everything on to a real node, and returns wrong data on demand. */
export async function startNodeProxy(nodeUrl: string, options: NodeProxyOptions = {}): Promise<ListeningServer> {
  const answer = async (requested: RpcMessage): Promise<unknown> => {
    const call = {
      method: String(requested.method),
      params: Array.isArray(requested.params) ? requested.params : [],
    };
    const error = options.errors?.[call.method] ?? options.refuse?.(call);
    if (error !== undefined) return { jsonrpc: '2.0', id: requested.id, error };
    const said = (await postJson(nodeUrl, requested)) as RpcMessage;
    if (options.alter === undefined || said.result === undefined) return said;
    return { ...said, result: options.alter(call, said.result) };
  };
  const server = createServer((request, response) => {
    readJson(request)
      .then((requested) =>
        Array.isArray(requested) ? Promise.all(requested.map(answer)) : answer(requested as RpcMessage),
      )
      .then((said) => response.setHeader('content-type', 'application/json').end(JSON.stringify(said)))
      .catch((error: unknown) => response.destroy(error as Error));
  });
  return listenOnLoopback(server, 0);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}
