import { z } from 'zod';
import { type ToolResult, toolError } from '../results/tool-result.ts';
import type { Toolbox, ToolSchema } from '../tools/tool.ts';

export type SendRequest = (body: string) => Promise<{ readonly status: number; readonly text: string }>;

const schemaShape = z.object({
  type: z.literal('object'),
  properties: z.record(z.string(), z.record(z.string(), z.unknown())),
  required: z.array(z.string()),
  additionalProperties: z.literal(false),
});
const listShape = z.object({
  result: z.object({
    tools: z.array(z.object({ name: z.string(), description: z.string(), inputSchema: schemaShape })),
  }),
});
const callShape = z.object({
  result: z.object({
    content: z.array(z.object({ text: z.string() })),
    structuredContent: z
      .looseObject({ coverage: z.string(), notes: z.array(z.string()), data: z.unknown() })
      .optional(),
    isError: z.boolean().default(false),
  }),
});
const refusalShape = z.object({ message: z.string() });

export function remoteToolbox(send: SendRequest): Toolbox {
  const ask = async (method: string, params: object) => {
    const { status, text } = await send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    return { status, body: parseJson(text) };
  };
  return {
    async list() {
      const { status, body } = await ask('tools/list', {});
      const { data } = listShape.safeParse(body);
      if (data === undefined)
        throw new Error(`The Chainstead server refused the request: ${refusalText(status, body)}`);
      return data.result.tools.map(({ name, description, inputSchema }) => {
        const schema: ToolSchema = inputSchema;
        return { name, description, inputSchema: schema };
      });
    },
    async call(name, args): Promise<ToolResult> {
      const { status, body } = await ask('tools/call', { name, arguments: args });
      const { data } = callShape.safeParse(body);
      if (data !== undefined) {
        const { content, structuredContent: structured, isError } = data.result;
        return { texts: content.map(({ text }) => text), structured, isError };
      }
      return toolError({
        code: 'SERVER_REFUSED',
        message: `The Chainstead server refused the request: ${refusalText(status, body)}`,
        remedy: 'Check --url and CHAINSTEAD_API_KEY of the command, and that the server runs.',
      });
    },
  };
}

function refusalText(status: number, body: unknown): string {
  const message = refusalShape.safeParse(body).data?.message;
  return `HTTP status ${status}${message === undefined ? '' : `, ${message}`}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
