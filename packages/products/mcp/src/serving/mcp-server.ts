import { Server } from '@modelcontextprotocol/server';
import { OUTPUT_SCHEMA } from '../results/tool-result.ts';
import type { Toolbox, ToolCaller } from '../tools/tool.ts';

export function createMcpServer(toolbox: Toolbox, caller: ToolCaller, version: string): Server {
  const server = new Server(
    { name: 'chainstead', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', async () => ({
    tools: (await toolbox.list()).map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: {
        ...inputSchema,
        required: [...inputSchema.required],
        properties: JSON.parse(JSON.stringify(inputSchema.properties)) as Record<string, never>,
      },
      outputSchema: { ...OUTPUT_SCHEMA, required: [...OUTPUT_SCHEMA.required] },
      annotations: { readOnlyHint: true },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { texts, structured, isError } = await toolbox.call(params.name, params.arguments ?? {}, caller);
    return {
      content: texts.map((text) => ({ type: 'text' as const, text })),
      ...(structured !== undefined && { structuredContent: { ...structured } }),
      ...(isError && { isError }),
    };
  });
  return server;
}

const INSTRUCTIONS = `Chainstead serves blockchain data that it has indexed from its own nodes. All tools only read.
Call status first: it shows the indexed chains and blocks. chain can be omitted if there is only one. Each result starts with its coverage: if that is incomplete, do not conclude that something never happened.
Rows leave out members without a value. Members that are the same in all rows are in all_rows. Amounts without a suffix are in the smallest unit of a token. Pass the cursor of a page to get the next one.
Tools with dates take range: today, yesterday, last 7 days. Who bought most of a token: token_top_traders. Errors have a code and a remedy.`;
