import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';

/** Revisions of the protocol that the official client speaks. */
export type Revision = 'legacy' | '2026-07-28';

/** An agent with the official client. */
export interface Agent {
  readonly client: Client;
  /** Calls a tool. @returns the texts of the result */
  call(name: string, given?: Record<string, unknown>): Promise<AgentResult>;
}

export interface AgentResult {
  readonly isError: boolean;
  /** The notes, or the error. */
  readonly first: string;
  /** The data. */
  readonly data: string;
}

const errorShape = z.object({ error: z.object({ code: z.string(), message: z.string(), remedy: z.string() }) });

/** Returns code, message and remedy of a result that is an error. */
export function refusalIn({ isError, first }: AgentResult) {
  if (!isError) throw new TypeError(`No error: ${first}`);
  return errorShape.parse(JSON.parse(first)).error;
}

/** Connects the official client over HTTP. */
export async function connectAgent(
  address: string,
  { key, revision = 'legacy' }: { readonly key?: string; readonly revision?: Revision } = {},
): Promise<Agent> {
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', address), {
    ...(key !== undefined && { requestInit: { headers: { 'x-api-key': key } } }),
  });
  const client = new Client(
    { name: 'test', version: '0' },
    { versionNegotiation: { mode: revision === 'legacy' ? 'legacy' : { pin: revision } } },
  );
  await client.connect(transport);
  return agentOf(client);
}

export function agentOf(client: Client): Agent {
  return {
    client,
    async call(name, given = {}) {
      const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: given });
      const texts = z.array(z.object({ text: z.string() })).parse(content);
      const { data } = z.object({ data: z.unknown() }).safeParse(structuredContent);
      const structured = data === undefined ? '' : JSON.stringify(data.data);
      return { isError, first: texts[0]?.text ?? '', data: texts[1]?.text ?? structured };
    },
  };
}
