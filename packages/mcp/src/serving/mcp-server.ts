import { Server } from '@modelcontextprotocol/server';
import type { Toolbox, ToolCaller } from '../tools/tool.ts';

export interface McpServerOptions {
  readonly toolbox: Toolbox;
  readonly caller: ToolCaller;
  /** Version of Chainstead. */
  readonly version: string;
}

/** Creates the protocol side of one connection or request. It offers tools only. */
export function createMcpServer({ toolbox, caller, version }: McpServerOptions): Server {
  const server = new Server(
    { name: 'chainstead', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', async () => ({
    tools: (await toolbox.list()).map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, required: [...inputSchema.required], properties: jsonOf(inputSchema.properties) },
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { texts, isError } = await toolbox.call(params.name, params.arguments ?? {}, caller);
    return { content: texts.map((text) => ({ type: 'text' as const, text })), ...(isError && { isError }) };
  });
  return server;
}

/** Sent to agents with the list of tools. */
const INSTRUCTIONS = `Chainstead serves blockchain data that it has indexed from its own nodes. All tools only read.
Call status first: it shows the indexed chains and blocks. Each result starts with its coverage. If that is incomplete, do not conclude that something never happened.
Amounts without a suffix are in the smallest unit of a token. Pass the cursor of a page to get the next one. Errors have a code and a remedy.`;

function jsonOf(properties: Readonly<Record<string, object>>): Record<string, never> {
  return JSON.parse(JSON.stringify(properties)) as Record<string, never>;
}
