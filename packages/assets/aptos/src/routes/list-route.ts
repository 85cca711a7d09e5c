import { type PackedRows, readPackedPage } from '@chainstead/db/packed-rows';
import { errorResponses, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { type CursorFilter, filterSchema, networkIn, openPage, type Run } from './open-page.ts';
import { type CoveredTexts, type PageScan, pageStatement } from './page-statement.ts';
import { choiceParameter, cursorParameter, limitParameter, offsetParameter } from './parameter.ts';
import { badRequest, badRequestSchema, type ParameterSet, readParameters, type ValuesOf } from './read-parameters.ts';
import { type NetworkChoice, networkOfRequest, whyNotIndexed } from './request-network.ts';

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
  return (app, { paging, reads }) => {
    const runs = paging.forRoute({
      route: `aptos${route.path}`,
      filter: filterSchema,
      position: z.array(z.string()),
      limitDefault: 1,
    });
    const document = documentOf(route);
    // Rules are checked here, together, with the texts that clients know.
    app.openAPIRegistry.registerPath(document);
    app.get(document.getRoutingPath(), async (c) => {
      const path = readParameters(route.pathParameters, valuesOf(c.req.param()));
      const common = readParameters({ ...PAGING, ...route.parameters }, c.req.queries());
      const problems = [...path.problems, ...common.problems];
      if (problems.length > 0) return c.json(badRequest(problems), 400);
      const { cursor, network, limit, offset }: ValuesOf<typeof PAGING> = common.values;
      const opened = openPage(runs, {
        cursor,
        limit,
        filter: route.filterOf({ ...path.values, ...common.values }),
        network: network ?? (cursor === null ? networkOfRequest(c, networks) : null),
      });
      if ('problems' in opened) return c.json(badRequest(opened.problems), 400);
      const { run } = opened;
      const { rows, covered, dataset } = await readRows(run, offset);
      // Rows that are indexed or imported are returned anyway.
      const obstacle = rows.length === 0 && covered === null ? whyNotIndexed(networks, networkIn(run), dataset) : null;
      if (obstacle !== null) return c.json(badRequest([obstacle]), 400);
      const shown = rows.slice(0, limit);
      const last = rows.length > limit ? shown.at(-1) : undefined;
      const [first, newest] = covered?.slice(1, -1).split(',') ?? [];
      const page = {
        cursor: last === undefined ? null : runs.next(run, { position: [...route.placeOf(last)], upperBound: 0 }),
        hasNextPage: last !== undefined,
        indexed: { from_version: first ?? null, to_version: newest ?? null, complete: first === '0' },
        result: shown.map(route.show),
      };
      return c.json(page, 200);
    });

    async function readRows(run: Run, offset: number) {
      const scan = route.scanOf(run.filter, run.position);
      const { rows, page } = await readPackedPage<Row, CoveredTexts>(reads, route.rows, (select) =>
        pageStatement({
          ...scan,
          select,
          network: networkIn(run),
          after: run.position,
          offset: run.position === null ? offset : 0,
          limit: run.limit,
        }),
      );
      return { rows, covered: page.covered, dataset: scan.dataset };
    }
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
