import { createInterface } from 'node:readline';
import { Readable, type Writable } from 'node:stream';
import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { OUTPUT_SCHEMA } from '../results/tool-result.ts';
import type { Toolbox, ToolCaller } from '../tools/tool.ts';

/** @param stated revision of the request's header; undefined: the negotiated one, if there is one */
export function createMcpServer(toolbox: Toolbox, caller: ToolCaller, version: string, stated?: string): Server {
  const server = new Server(
    { name: 'chainstead', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const revision = (): string | undefined => stated ?? server.getNegotiatedProtocolVersion();
  server.setRequestHandler('tools/list', async () => ({
    tools: (await toolbox.list()).map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: {
        ...inputSchema,
        required: [...inputSchema.required],
        properties: JSON.parse(JSON.stringify(inputSchema.properties)) as Record<string, never>,
      },
      ...(hasStructure(revision()) && {
        outputSchema: { ...OUTPUT_SCHEMA, required: [...OUTPUT_SCHEMA.required] },
      }),
      annotations: { readOnlyHint: true },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { texts, structured, isError } = await toolbox.call(params.name, params.arguments ?? {}, caller);
    const isStructured = structured !== undefined && hasStructure(revision());
    const shown = isStructured && !hasText(revision()) ? texts.slice(0, 1) : texts;
    return {
      content: shown.map((text) => ({ type: 'text' as const, text })),
      ...(isStructured && { structuredContent: { ...structured } }),
      ...(isError && { isError }),
    };
  });
  return server;
}

/** The first whose clients have to read structured results without their text. */
const STRUCTURED_REVISION = '2026-07-28';

/** Data is sent once to a client whose revision is known. Many clients of 2025 show a model the text only. */
function hasStructure(revision: string | undefined): boolean {
  return revision === undefined || revision >= STRUCTURED_REVISION;
}

function hasText(revision: string | undefined): boolean {
  return revision === undefined || revision < STRUCTURED_REVISION;
}

const INSTRUCTIONS = `Chainstead serves blockchain data that it has indexed from its own nodes. All tools only read.
Call status first: it shows the indexed chains and blocks. chain can be omitted if there is only one. Each result starts with its coverage: if that is incomplete, do not conclude that something never happened.
Rows leave out members without a value. Members that are the same in all rows are in all_rows. Amounts without a suffix are in the smallest unit of a token. Pass the cursor of a page to get the next one.
Tools with dates take range: today, this week, last 7 days. Dates may be relative: 7 days ago. Why a token has its price: token_price_explanation. Who bought most of a token: token_top_traders. Errors have a code and a remedy.`;

/** Some clients send `arguments: null` for a tool without arguments. */
export function withoutNullArguments(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('params' in message)) return message;
  const { params } = message;
  if (typeof params !== 'object' || params === null || !('arguments' in params) || params.arguments !== null)
    return message;
  const { arguments: _none, ...others } = params;
  return { ...message, params: others };
}

function linesWithoutNullArguments(input: Readable): Readable {
  async function* lines(): AsyncGenerator<Buffer> {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
      yield Buffer.from(`${/"arguments"\s*:\s*null/.test(line) ? repaired(line) : line}\n`);
  }
  return Readable.from(lines());
}

/** The protocol refuses a line that is no JSON. */
function repaired(line: string): string {
  try {
    return JSON.stringify(withoutNullArguments(JSON.parse(line)));
  } catch {
    return line;
  }
}

interface StdioOptions {
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
