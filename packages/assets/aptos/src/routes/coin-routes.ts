import { hexBytes, hexText, type Sql, sql } from '@chainstead/db';
import {
  digits,
  hex,
  hexDigits,
  int4,
  packedRows,
  preciseMoment,
  type RowOf,
  readPackedPage,
  text,
  textOrNull,
} from '@chainstead/db/packed-rows';
import type { RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { addressItem, coinTypeHashItem, listParameter } from './list-parameter.ts';
import { type CursorFilter, listRoute, networkParameter, refusals, schemaOf } from './list-route.ts';
import {
  BadRequestError,
  type NetworkChoice,
  networkOfRequest,
  readParameters,
  requireIndexed,
  textParameter,
} from './parameter.ts';
import { type CoveredTexts, coveredIn, type IndexColumn } from './scan-conditions.ts';

const SYMBOL_LENGTH_MAX = 10;
const NAME_LENGTH_MAX = 32;

/** docs/api/aptos.md#aptos-routes */
export function coinRoutes(networks: NetworkChoice): readonly RouteModule[] {
  const bySymbol = rangeRoute('symbol', SYMBOL_LENGTH_MAX, 'getCoinsBySymbolRange');
  const byName = rangeRoute('name', NAME_LENGTH_MAX, 'getCoinsByNameRange');
  return [latestRoute, bySymbol, byName, creatorsRoute, coinsByHashesRoute].map((route) => route(networks));
}

/** docs/api/aptos.md#coins */
const coinRecordSchema = z
  .object({
    coin_type: z.string(),
    coin_type_hash: z.string().openapi({ pattern: '^[0-9a-f]{64}$' }),
    creator_address: z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' }),
    decimals: z.number(),
    name: z.string(),
    supply_aggregator_table_handle: z.string().nullable(),
    supply_aggregator_table_key: z.string().nullable(),
    symbol: z.string(),
    transaction_created_timestamp: z.string().openapi({ example: '2023-02-07T08:54:55.000000Z' }),
    transaction_version_created: z.string(),
  })
  .openapi('AptosCoin');

const COIN_ROWS = packedRows({
  coin_type: text('coin_type'),
  coin_type_hash: hexDigits('coin_type_hash', 32),
  creator_address: hex('creator_address', 32),
  decimals: int4('decimals'),
  name: text('name'),
  supply_aggregator_table_handle: textOrNull(hexText('supply_aggregator_table_handle')),
  supply_aggregator_table_key: textOrNull(hexText('supply_aggregator_table_key')),
  symbol: text('symbol'),
  transaction_created_timestamp: preciseMoment('transaction_timestamp'),
  transaction_version_created: digits('transaction_version'),
});

const SHARED = { record: coinRecordSchema, rows: COIN_ROWS } as const;

const SCAN = { dataset: 'coins', table: 'aptos_coins' } as const;

const NEWEST_FIRST: readonly IndexColumn[] = [
  { column: 'transaction_version', type: 'bigint' },
  { column: 'coin_type_hash', type: 'bytea' },
];

type CoinResult = RowOf<typeof COIN_ROWS>;

function placeOfVersion(row: CoinResult): readonly string[] {
  return [row.transaction_version_created, row.coin_type_hash];
}

const latestRoute = listRoute({
  ...SHARED,
  path: '/coins/latest',
  operationId: 'getLatestCoins',
  summary: 'List the latest coins',
  description:
    'Ordered by the version that published them, newest first. New coins never appear on the later pages of a cursor.',
  scanOf: () => ({ ...SCAN, lead: ['network'], order: NEWEST_FIRST, direction: 'DESC' }),
  placeOf: placeOfVersion,
});

function rangeRoute(column: 'symbol' | 'name', lengthMax: number, operationId: string) {
  const [from, to] = [`from_${column}`, `to_${column}`];
  return listRoute({
    ...SHARED,
    path: `/coins/${column}s`,
    operationId,
    summary: `List coins by ${column}`,
    description:
      'Ascending in UTF-8 byte order, independent of the locale. Bounds are inclusive and case-sensitive.',
    parameters: {
      [from]: textParameter(0, lengthMax, `First ${column}, inclusive.`),
      [to]: textParameter(0, lengthMax, `Last ${column}, inclusive.`),
    },
    scanOf: (filter) => ({
      ...SCAN,
      lead: ['network'],
      order: [
        { column, type: 'text' },
        { column: 'coin_type_hash', type: 'bytea' },
      ],
      direction: 'ASC',
      lowest: bound(filter[from]),
      highest: bound(filter[to]),
    }),
    placeOf: (row) => [row[column], row.coin_type_hash],
  });
}

function bound(text: CursorFilter[string] | undefined): Sql | null {
  return typeof text === 'string' ? sql`${text}::text` : null;
}

const creatorsRoute = listRoute({
  ...SHARED,
  path: '/coins/creators',
  operationId: 'getCoinsByCreators',
  summary: 'List coins by creator',
  description: 'Coins of up to 25 accounts in one list, newest first.',
  parameters: { creator_addresses: listParameter(addressItem, 'Accounts that created the coins.') },
  scanOf: (filter) => ({
    ...SCAN,
    lead: ['network', { column: 'creator_address', type: 'bytea', values: listIn(filter, 'creator_addresses') }],
    order: NEWEST_FIRST,
    direction: 'DESC',
  }),
  placeOf: placeOfVersion,
});

export function listIn(filter: CursorFilter, name: string): readonly string[] {
  const value = filter[name];
  return typeof value === 'object' && value !== null ? value : [];
}

const hashParameters = {
  coin_type_hashes: listParameter(coinTypeHashItem, 'SHA-256 hashes of coin types.'),
  network: networkParameter,
};

function coinsByHashesRoute(networks: NetworkChoice): RouteModule {
  return (app, { reads }) => {
    app.openAPIRegistry.registerPath(coinsByHashesDocument);
    app.get(coinsByHashesDocument.getRoutingPath(), async (c) => {
      const { problems, values } = readParameters(hashParameters, c.req.queries());
      if (problems.length > 0) throw new BadRequestError(problems);
      const network = values.network ?? networkOfRequest(c, networks);
      const networkName = sql`${network}`;
      const hashes = sql`unnest(${values.coin_type_hashes.map(hexBytes)}::bytea[])`;
      const { rows, page } = await readPackedPage<CoinResult, CoveredTexts>(
        reads,
        COIN_ROWS,
        (
          select,
        ) => sql`SELECT ${select}, ${coveredIn(networkName, SCAN.dataset)} AS covered FROM ${hashes} AS wanted(hash)
  CROSS JOIN LATERAL (SELECT * FROM aptos_coins WHERE coin_type_hash = wanted.hash AND network = ${networkName} LIMIT 1) AS coin`,
      );
      if (rows.length === 0 && page.covered === null) requireIndexed(networks, network, SCAN.dataset);
      return c.json(
        rows.map((row) => coinRecordSchema.parse(row)),
        200,
      );
    });
  };
}

const coinsByHashesDocument = createRoute({
  method: 'get',
  path: '/coins',
  operationId: 'getCoinInfoByCoinTypeHashes',
  tags: ['Aptos'],
  summary: 'Get coins by coin type hash',
  description: 'Hashes that belong to no coin are omitted.',
  request: { query: schemaOf(hashParameters) },
  responses: {
    200: { description: 'The coins', content: { 'application/json': { schema: z.array(coinRecordSchema) } } },
    ...refusals,
  },
});
