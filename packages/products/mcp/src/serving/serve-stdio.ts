import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Toolbox } from '../tools/tool.ts';
import { createMcpServer } from './mcp-server.ts';
import { linesWithoutNullArguments } from './null-arguments.ts';

export interface StdioOptions {
  readonly toolbox: Toolbox;
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

export async function serveOverStdio({ toolbox, version, input, output, signal }: StdioOptions): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const end = (): void => ended.resolve();
  const lines = linesWithoutNullArguments(input).once('end', end).once('close', end);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const caller = { principal: null, requestId: '' };
  const transport = new StdioServerTransport(lines, output);
  const connection = serveStdio(() => createMcpServer(toolbox, caller, version), { transport });
  try {
    await ended.promise;
  } finally {
    await connection.close();
    signal.removeEventListener('abort', end);
  }
}
