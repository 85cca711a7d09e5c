import type { Clock, Logger } from '@chainstead/core';
import { type ApiApp, InvalidParameterError, type RouteModule, readJsonBody } from '@chainstead/http';
import { createInnerApi, withDescriptions } from '@chainstead/http/server';
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { SqlReader } from '../sql/sql-reader.ts';
import { sqlTools } from '../sql/sql-tool.ts';
import { CURATED_OPERATIONS } from '../tools/curated-operations.ts';
import { readOperations } from '../tools/operation-schema.ts';
import { type OperationContext, operationTool } from '../tools/operation-tool.ts';
import { type Progress, progressTools, progressWords } from '../tools/progress-tools.ts';
import { localToolbox, type Tool, type Toolbox, type ToolCaller } from '../tools/tool.ts';
import { TRADES_OPERATION, topTradersTool } from '../tools/top-traders-tool.ts';
import { createMcpServer, withoutNullArguments } from './mcp-server.ts';

interface McpRouteOptions {
  readonly routes: readonly RouteModule[];
  readonly progress: Progress;
  /** If there is one, tools need no chain. */
  readonly chains: readonly string[];
  readonly clock: Clock;
  /** Null: no SQL tool. */
  readonly sql: SqlReader | null;
  readonly version: string;
}

const PATH = '/mcp';
const BODY_BYTES_MAX = 65_536;
const BODY_VALUES_MAX = 10_000;

/** Streamable HTTP without sessions. One request calls one tool, so rate limits count calls. */
export function mcpRoute({ routes, progress, chains, clock, sql, version }: McpRouteOptions): RouteModule {
  return (app, dependencies) => {
    const context: OperationContext = {
      api: createInnerApi(routes, dependencies),
      onlyChain: chains.length === 1 ? (chains[0] ?? null) : null,
      coverage: (chain) => progressWords(progress, chain),
      now: () => clock.now(),
    };
    let tools: Toolbox | undefined;
    const toolbox = (): Toolbox => {
      tools ??= localToolbox([
        ...progressTools(progress),
        ...operationTools(app, context),
        ...(sql === null ? [] : sqlTools(sql)),
      ]);
      return tools;
    };
    const serve = createServing(toolbox, version, dependencies.logger);
    app.post(PATH, async (c) => {
      const request = c.req.raw;
      const body = await readJsonBody(request, { bytesMax: BODY_BYTES_MAX, valuesMax: BODY_VALUES_MAX });
      if (typeof body !== 'object' || body === null || Array.isArray(body))
        throw new InvalidParameterError({ parameter: 'body', message: 'The body must be one JSON-RPC request' });
      const caller = { principal: c.get('principal'), requestId: c.get('requestId'), signal: request.signal };
      return serve(request, withoutNullArguments(body), caller);
    });
  };
}

/** Operations without a route here are no tools. */
function operationTools(app: ApiApp, context: OperationContext): Tool[] {
  const document = app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'Chainstead', version: '' } });
  const operations = readOperations(withDescriptions(document));
  const tools = CURATED_OPERATIONS.flatMap((curated) => {
    const operation = operations.get(curated.operationId);
    return operation === undefined ? [] : [operationTool(curated, operation, context)];
  });
  const trades = operations.get(TRADES_OPERATION);
  return trades === undefined ? tools : [...tools, topTradersTool(trades, context)];
}

type Serve = (request: Request, body: unknown, caller: ToolCaller) => Promise<Response>;

/** Revision 2026-07-28 and those of 2025. Each request has a separate protocol server. */
function createServing(toolbox: () => Toolbox, version: string, logger: Logger): Serve {
  const callers = new WeakMap<Request, ToolCaller>();
  const serverFor = (caller: ToolCaller, stated?: string) => createMcpServer(toolbox(), caller, version, stated);
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const caller = requestInfo === undefined ? undefined : callers.get(requestInfo);
      if (caller === undefined) throw new TypeError('A request of agents has no caller');
      return serverFor(caller);
    },
    {
      legacy: 'reject',
      maxSubscriptions: 0,
      onerror: (error) => logger.debug({ err: error }, 'Agent request refused'),
    },
  );
  return async (given, parsedBody, caller) => {
    const request = new Request(given.url, { method: 'POST', headers: given.headers, signal: given.signal });
    if (!(await isLegacyRequest(request, parsedBody))) {
      callers.set(request, caller);
      return handler.fetch(request, { parsedBody });
    }
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = serverFor(caller, request.headers.get('mcp-protocol-version') ?? undefined);
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody });
    } finally {
      await server.close();
    }
  };
}
