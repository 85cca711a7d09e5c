import { type PackedRows, readPackedPage } from '@chainstead/db/packed-rows';
import { errorResponses, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { badRequest, badRequestSchema } from './bad-request.ts';
import { indexedSchema, showIndexed } from './indexed.ts';
import { whyNotIndexed } from './not-indexed.ts';
import { type Filter, filterSchema, networkIn, openPage, type Run } from './open-page.ts';
import { type CoveredTexts, type PageScan, pageStatement } from './page-statement.ts';
import { choiceParameter, cursorParameter, limitParameter, offsetParameter } from './parameter.ts';
import { type ParameterSet, readParameters, type ValuesOf } from './read-parameters.ts';
import { type NetworkChoice, networkOfRequest } from './request-network.ts';

/** The part of a scan that a route says; paging says the rest. */
export type RouteScan = Omit<PageScan, 'select' | 'network' | 'after' | 'offset' | 'limit'>;

export interface ListRoute<Path extends ParameterSet, Own extends ParameterSet, Row extends object, Shown> {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly pathParameters: Path;
  /** Of the query, besides those of paging. */
  readonly parameters: Own;
  readonly record: z.ZodType<Shown>;
  readonly rows: PackedRows<Row>;
  /** What the cursor carries of the values; null: left out. */
  filterOf(values: ValuesOf<Path> & ValuesOf<Own>): Filter;
  /** @param after the order columns of the last row of the page before */
  scanOf(filter: Filter, after: readonly string[] | null): RouteScan;
  /** The scan's order columns in a row. */
  placeOf(row: Row): readonly string[];
  show(row: Row): Shown;
}

/** Of every route. */
export const networkParameter = choiceParameter(
  ['mainnet', 'testnet'],
  'Default: by the host or port that is asked, else mainnet.',
);

const PAGING = {
  limit: limitParameter(),
  offset: offsetParameter(),
  cursor: cursorParameter(),
  network: networkParameter,
};

/** A route that answers `{cursor, hasNextPage, result}`, and beside them `indexed`. */
export function listRoute<Path extends ParameterSet, Own extends ParameterSet, Row extends object, Shown>(
  route: ListRoute<Path, Own, Row, Shown>,
  networks: NetworkChoice,
): RouteModule {
  return (app, { paging, reads }) => {
    const runs = paging.forRoute({
      route: `aptos${route.path}`,
      filter: filterSchema,
      position: z.array(z.string()),
      defaults: {},
      limitDefault: 1,
    });
    const document = documentOf(route);
    // Documented apart: its rules are checked here, all of them at once, in the words that clients know.
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
      // What was indexed before, or imported, is answered all the same.
      const obstacle = rows.length === 0 && covered === null ? whyNotIndexed(networks, networkIn(run), dataset) : null;
      if (obstacle !== null) return c.json(badRequest([obstacle]), 400);
      const shown = rows.slice(0, limit);
      const last = rows.length > limit ? shown.at(-1) : undefined;
      return c.json(
        {
          cursor: last === undefined ? null : runs.next(run, { position: [...route.placeOf(last)], upperBound: 0 }),
          hasNextPage: last !== undefined,
          indexed: showIndexed(covered),
          result: shown.map(route.show),
        },
        200,
      );
    });

    /** A page's rows and one more where there is one. */
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
    request: {
      params: schemaOf(route.pathParameters),
      query: schemaOf({ ...PAGING, ...route.parameters }),
    },
    responses: {
      200: { description: 'A page', content: { 'application/json': { schema: envelope } } },
      400: { description: 'Broken rules', content: { 'application/json': { schema: badRequestSchema } } },
      ...errorResponses(401, 429, 500, 503),
    },
  });
}

/** Documents a set of parameters. */
export function schemaOf(parameters: ParameterSet) {
  return z.object(Object.fromEntries(Object.entries(parameters).map(([name, { schema }]) => [name, schema])));
}

/** Parts of a path as a query gives its parameters. */
export function valuesOf(params: Readonly<Record<string, string>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(params).map(([name, text]) => [name, [text]]));
}
