import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createFaults } from '../json-rpc/faults.ts';
import type { RpcHandler, RpcReply } from '../json-rpc/json-rpc-reply.ts';
import { type JsonRpcServer, startJsonRpcServer } from '../json-rpc/json-rpc-server.ts';
import { TestkitError } from '../testkit-error.ts';

/** One call and its response in the files of ethereum/execution-apis: `>> request`, `<< response`. */
export interface RecordedExchange {
  /** The file, from the folder that was read. */
  readonly file: string;
  readonly method: string;
  readonly params: readonly unknown[];
  /** The whole answer as it was recorded. */
  readonly response: RecordedResponse;
}

export interface RecordedResponse {
  readonly jsonrpc: '2.0';
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Every exchange in the folder's `.io` files, by file. */
export async function readExchanges(folder: string): Promise<RecordedExchange[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.name.endsWith('.io'))
    .map((entry) => join(entry.parentPath, entry.name));
  const exchanges = await Promise.all(
    files.toSorted().map(async (file) => parseExchanges(relative(folder, file), await readFile(file, 'utf8'))),
  );
  return exchanges.flat();
}

/** A node that has these recorded responses, with the handlers for everything else. */
export function serveExchanges(
  exchanges: readonly RecordedExchange[],
  otherwise: ReadonlyMap<string, RpcHandler>,
): Promise<JsonRpcServer> {
  const replies = new Map(
    exchanges.map(({ method, params, response }) => [keyOf(method, params), replyOf(response)]),
  );
  const methods = new Set([...exchanges.map(({ method }) => method), ...otherwise.keys()]);
  const handlers = new Map(
    [...methods].map((method): [string, RpcHandler] => [
      method,
      (params) =>
        replies.get(keyOf(method, params)) ??
        otherwise.get(method)?.(params) ?? {
          error: { code: -32_000, message: `no such exchange was recorded: ${keyOf(method, params)}` },
        },
    ]),
  );
  return startJsonRpcServer({ handlers, faults: createFaults(1) });
}

function parseExchanges(file: string, text: string): RecordedExchange[] {
  const exchanges: RecordedExchange[] = [];
  let request: { readonly method: string; readonly params?: readonly unknown[] } | null = null;
  for (const line of text.split('\n')) {
    if (line.startsWith('>> ')) request = JSON.parse(line.slice(3));
    else if (line.startsWith('<< ')) {
      if (request === null) throw new TestkitError(`${file} has a response without a request`, { file });
      exchanges.push({
        file,
        method: request.method,
        params: request.params ?? [],
        response: JSON.parse(line.slice(3)),
      });
      request = null;
    }
  }
  return exchanges;
}

function replyOf({ result, error }: RecordedResponse): RpcReply {
  return error === undefined ? { result } : { error };
}

function keyOf(method: string, params: readonly unknown[]): string {
  return `${method}${JSON.stringify(params)}`;
}
