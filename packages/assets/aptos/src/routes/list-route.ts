import { type PackedRows, readPackedPage } from '@chainstead/db/packed-rows';
import { answerPages, errorResponses, type RequestedPage, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { type CoveredTexts, type PageScan, pageStatement } from './page-statement.ts';
import { choiceParameter, cursorParameter, limitParameter, offsetParameter } from './parameter.ts';
import { badRequest, badRequestSchema, type ParameterSet, readParameters, type ValuesOf } from './read-parameters.ts';
import { type NetworkChoice, networkOfRequest, requireIndexed } from './request-network.ts';

/** Bound to a cursor, normalized; null: absent. */
export type CursorFilter = Readonly<Record<string, string | number | readonly string[] | null>>;

const filterSchema = z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string()).readonly(), z.null()]));

export type RouteScan = Omit<PageScan, 'select' | 'network' | 'after' | 'offset' | 'limit'>;

export interface ListRoute<Path extends ParameterSet, Own extends ParameterSet, Row extends object, Shown> {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly pathParameters: Path;
  readonly parameters: Own;
  readonly record: z.ZodType<Shown>;
  readonly rows: PackedRows<Row>;
  filterOf(values: ValuesOf<Path> & ValuesOf<Own>): CursorFilter;
  /** @param after order columns of the previous page's last row */
  scanOf(filter: CursorFilter, after: readonly string[] | null): RouteScan;
  placeOf(row: Row): readonly string[];
  show(row: Row): Shown;
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

export function listRoute<Path extends ParameterSet, Own extends ParameterSet, Row extends object, Shown>(
  route: ListRoute<Path, Own, Row, Shown>,
  networks: NetworkChoice,
): RouteModule {
  return (app, dependencies) => {
    const document = documentOf(route);
    const answer = answerPages(dependencies, {
      path: route.path,
      cursorName: `aptos${route.path}`,
      filter: filterSchema,
      position: z.array(z.string()),
      limitDefault: 1,
      isLimitPerPage: true,
      firstPage: 0,
      refusal: ({ message }) => badRequest([message]),
      prepare: (page: RequestedPage<CursorFilter, string[], { readonly offset: number }>) => page,
      async read({ filter, position, limit, given }) {
        const scan = route.scanOf(filter, position);
        const network = filter.network === 'testnet' ? 'testnet' : 'mainnet';
        const { rows, page } = await readPackedPage<Row, CoveredTexts>(dependencies.reads, route.rows, (select) =>
          pageStatement({
            ...{ ...scan, select, network, limit, after: position },
            offset: position === null ? given.offset : 0,
          }),
        );
        const { covered } = page;
        // Rows that are indexed or imported are returned anyway.
        if (rows.length === 0 && covered === null) requireIndexed(networks, network, scan.dataset);
        const shown = rows.slice(0, limit);
        const last = rows.length > limit ? shown.at(-1) : undefined;
        return { shown, covered, next: last && { position: [...route.placeOf(last)], upperBound: 0 } };
      },
      present({ shown, covered }, { cursor }) {
        const [first = null, newest = null] = covered?.slice(1, -1).split(',') ?? [];
        return {
          cursor,
          hasNextPage: cursor !== null,
          indexed: { from_version: first, to_version: newest, complete: first === '0' },
          result: shown.map(route.show),
        };
      },
    });
    // Rules are checked here, together, with the texts that clients know.
    app.openAPIRegistry.registerPath(document);
    app.get(document.getRoutingPath(), (c) => {
      const path = readParameters(route.pathParameters, valuesOf(c.req.param()));
      const common = readParameters({ ...PAGING, ...route.parameters }, c.req.queries());
      const problems = [...path.problems, ...common.problems];
      if (problems.length > 0) throw badRequest(problems);
      const { cursor, network, limit, offset }: ValuesOf<typeof PAGING> = common.values;
      const filter = Object.entries({
        ...route.filterOf({ ...path.values, ...common.values }),
        network: network ?? (cursor === null ? networkOfRequest(c, networks) : null),
      }).map(([name, value]) => [name, value ?? undefined]);
      const request = { cursor: cursor ?? undefined, limit, order: undefined, filter: Object.fromEntries(filter) };
      return answer(c, { offset }, request);
    });
  };
}

function documentOf<Path extends ParameterSet, Own extends ParameterSet, Row extends object, Shown>(
  route: ListRoute<Path, Own, Row, Shown>,
) {
  const envelope = z.object({
    cursor: z.string().nullable(),
    hasNextPage: z.boolean(),
    indexed: indexedSchema,
    result: z.array(route.record),
  });
  return createRoute({
    method: 'get',
    path: route.path,
    operationId: route.operationId,
    tags: ['Aptos'],
    summary: route.summary,
    description: route.description,
    request: { params: schemaOf(route.pathParameters), query: schemaOf({ ...PAGING, ...route.parameters }) },
    responses: {
      200: { description: 'A page of results', content: { 'application/json': { schema: envelope } } },
      400: { description: 'The invalid parameters', content: { 'application/json': { schema: badRequestSchema } } },
      ...errorResponses(401, 429, 500, 503),
    },
  });
}

export function schemaOf(parameters: ParameterSet) {
  return z.object(Object.fromEntries(Object.entries(parameters).map(([name, { schema }]) => [name, schema])));
}

export function valuesOf(params: Readonly<Record<string, string>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, [text]]));
}

const indexedSchema = z.object({
  from_version: z.string().nullable(),
  to_version: z.string().nullable(),
  complete: z.boolean().openapi({ description: 'true if every version from 0 to to_version is indexed' }),
});
