import { type PackedRows, readPackedPage } from '@chainstead/db/packed-rows';
import { answerPages, errorResponses, type RequestedPage, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import {
  BadRequestError,
  badRequestSchema,
  choiceParameter,
  cursorParameter,
  limitParameter,
  type NetworkChoice,
  networkOfRequest,
  offsetParameter,
  type Parameter,
  type ParameterSet,
  readParameters,
  requireIndexed,
} from './parameter.ts';
import { type CoveredTexts, type PageScan, pageStatement } from './scan-conditions.ts';

type FilterValue = string | number | readonly string[] | null;

/** Parameters of the list, bound to a cursor, normalized; null: absent. */
export type CursorFilter = Readonly<Record<string, FilterValue>>;

const filterSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.array(z.string()).readonly(), z.null()]),
);

export interface ListRoute<Row extends object> {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly pathParameters?: Readonly<Record<string, Parameter<FilterValue>>>;
  readonly parameters?: Readonly<Record<string, Parameter<FilterValue>>>;
  /** Its fields are in each row. */
  readonly record: z.ZodObject;
  readonly rows: PackedRows<Row>;
  /** @param after order columns of the previous page's last row */
  scanOf(
    filter: CursorFilter,
    after: readonly string[] | null,
  ): Omit<PageScan, 'select' | 'network' | 'after' | 'offset' | 'limit'>;
  placeOf(row: Row): readonly string[];
}

export const networkParameter = choiceParameter(
  ['mainnet', 'testnet'],
  'Default: the network of the requested host or port, otherwise mainnet.',
);

const PAGING = {
  limit: limitParameter(),
  offset: offsetParameter(),
  cursor: cursorParameter(),
  network: networkParameter,
};

export function listRoute<Row extends object>(route: ListRoute<Row>): (networks: NetworkChoice) => RouteModule {
  const { path, record, pathParameters = {}, parameters = {} } = route;
  const all: typeof PAGING & typeof parameters = { ...PAGING, ...parameters };
  const document = documentOf(route, { params: schemaOf(pathParameters), query: schemaOf(all) });
  return (networks) => (app, dependencies) => {
    const answer = answerPages(dependencies, {
      path,
      cursorName: `aptos${path}`,
      filter: filterSchema,
      position: z.array(z.string()),
      limitDefault: 1,
      isLimitPerPage: true,
      firstPage: 0,
      refusal: ({ message }) => new BadRequestError([message]),
      prepare: (page: RequestedPage<CursorFilter, string[], { readonly offset: number }>) => page,
      async read({ filter, position, limit, given }) {
        const scan = route.scanOf(filter, position);
        const network = filter.network === 'testnet' ? 'testnet' : 'mainnet';
        const offset = position === null ? given.offset : 0;
        const { rows, page } = await readPackedPage<Row, CoveredTexts>(dependencies.reads, route.rows, (select) =>
          pageStatement({ ...scan, select, network, limit, offset, after: position }),
        );
        // Rows that are indexed or imported are returned anyway.
        if (rows.length === 0 && page.covered === null) requireIndexed(networks, network, scan.dataset);
        const shown = rows.slice(0, limit);
        const last = rows.length > limit ? shown.at(-1) : undefined;
        const next = last && { position: [...route.placeOf(last)], upperBound: 0 };
        return { shown, covered: page.covered, next };
      },
      present({ shown, covered }, { cursor }) {
        const [first = null, newest = null] = covered?.slice(1, -1).split(',') ?? [];
        return {
          cursor,
          hasNextPage: cursor !== null,
          indexed: { from_version: first, to_version: newest, complete: first === '0' },
          result: shown.map((row) => record.parse(row)),
        };
      },
    });
    // Rules are checked here, together, with the texts that clients know.
    app.openAPIRegistry.registerPath(document);
    app.get(document.getRoutingPath(), (c) => {
      const named = Object.entries(c.req.param()).map(([name, text]) => [name, [text]]);
      const inPath = readParameters(pathParameters, Object.fromEntries(named));
      const inQuery = readParameters(all, c.req.queries());
      const problems = [...inPath.problems, ...inQuery.problems];
      if (problems.length > 0) throw new BadRequestError(problems);
      const { cursor, limit, offset, network, ...own } = inQuery.values;
      const ofRequest = cursor === null ? networkOfRequest(c, networks) : null;
      const filter = Object.entries({ ...inPath.values, ...own, network: network ?? ofRequest });
      return answer(
        c,
        { offset },
        {
          ...{ cursor: cursor ?? undefined, limit, order: undefined },
          filter: Object.fromEntries(filter.map(([name, value]) => [name, value ?? undefined])),
        },
      );
    });
  };
}

function documentOf(
  { path, operationId, summary, description, record }: Omit<ListRoute<object>, 'rows' | 'scanOf' | 'placeOf'>,
  request: { readonly params: z.ZodObject; readonly query: z.ZodObject },
) {
  const envelope = z.object({
    cursor: z.string().nullable(),
    hasNextPage: z.boolean(),
    indexed: indexedSchema,
    result: z.array(record),
  });
  return createRoute({
    ...{ method: 'get', path, operationId, tags: ['Aptos'], summary, description, request },
    responses: {
      200: { description: 'A page of results', content: { 'application/json': { schema: envelope } } },
      ...refusals,
    },
  });
}

const indexedSchema = z.object({
  from_version: z.string().nullable(),
  to_version: z.string().nullable(),
  complete: z.boolean().openapi({ description: 'true if every version from 0 to to_version is indexed' }),
});

export const refusals = {
  400: { description: 'The invalid parameters', content: { 'application/json': { schema: badRequestSchema } } },
  ...errorResponses(401, 429, 500, 503),
};

export function schemaOf(parameters: ParameterSet) {
  return z.object(Object.fromEntries(Object.entries(parameters).map(([name, { schema }]) => [name, schema])));
}
