import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** One received call, to be responded to by hand. */
export interface HandWritten {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: number;
  readonly params: readonly unknown[];
}

const TRUTH = new Map<string, unknown>([
  ['eth_chainId', '0x1'],
  ['eth_blockNumber', '0x64'],
  [
    'eth_getBlockByNumber',
    { number: '0x64', hash: `0x${'11'.repeat(32)}`, parentHash: `0x${'22'.repeat(32)}`, timestamp: '0x0' },
  ],
]);

/**
 * Starts a node with head 100 whose eth_gasPrice responses a test writes byte by byte. Returns its URL; stops with the
 * test.
 */
export async function handWrittenNode(answer: (call: HandWritten) => void | Promise<void>): Promise<string> {
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    if (text.startsWith('[')) return void response.end('{"error":{"code":-32600,"message":"no batches"}}');
    const body = JSON.parse(text) as { id: number; method: string; params: unknown[] };
    const { id, method, params } = body;
    if (method === 'eth_gasPrice') await answer({ request, response, id, params });
    else response.end(JSON.stringify({ jsonrpc: '2.0', id, result: TRUTH.get(method) ?? null }));
  }
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
