import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A JSON-RPC call as it was received. */
export interface ReceivedCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What is answered instead of the node's answer. */
export type AlteredReply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

/** A node that passes calls on to another one, except those that a test alters. */
export interface AlteredNode {
  readonly url: string;
  readonly received: ReceivedCall[];
  /** Undefined: the other node's answer. */
  alter: (call: ReceivedCall) => AlteredReply | undefined | Promise<AlteredReply | undefined>;
  close(): Promise<void>;
}

export async function alterNode(url: string): Promise<AlteredNode> {
  const server = createServer((request, response) => {
    answer(request).then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(body),
      (error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const node: AlteredNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    alter: () => undefined,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };

  async function answer(request: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (!Array.isArray(body)) return JSON.stringify(await answerOne(body));
    return JSON.stringify(await Promise.all(body.map(answerOne)));
  }

  async function answerOne(call: unknown): Promise<unknown> {
    const { id, method, params } = call as ReceivedCall & { readonly id: unknown };
    node.received.push({ method, params });
    const altered = await node.alter({ method, params });
    if (altered !== undefined) return { jsonrpc: '2.0', id, ...altered };
    const headers = { 'content-type': 'application/json' };
    const passed = await fetch(url, { method: 'POST', headers, body: JSON.stringify(call) });
    return passed.json();
  }

  return node;
}
