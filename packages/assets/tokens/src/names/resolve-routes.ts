import {
  type ApiDependencies,
  errorResponses,
  querySchema,
  type RouteModule,
  requesterOf,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { normalName, prepareNames } from './normal-name.ts';
import { createNameResolution, type NamesOptions } from './resolve-names.ts';

/** docs/api/names.md#names */
export function createResolveRoutes(options: NamesOptions): readonly RouteModule[] {
  prepareNames();
  const names = createNameResolution(options);
  return [
    (app) => {
      app.openapi(resolveEnsDomain, async (c) => {
        const subject = c.req.valid('param').domain;
        const address = await names.resolve({ service: 'ens', wanted: 'address', subject }, requesterOf(c));
        return c.json({ address }, 200);
      });
    },
    (app, dependencies) => {
      app.openapi(resolveAddress(dependencies), async (c) => {
        const subject = c.req.valid('param').address;
        const name = await names.resolve({ service: 'ens', wanted: 'name', subject }, requesterOf(c));
        return c.json({ name }, 200);
      });
    },
    (app, dependencies) => {
      app.openapi(resolveAddressToDomain(dependencies), async (c) => {
        const subject = c.req.valid('param').address;
        const name = await names.resolve({ service: 'unstoppable', wanted: 'name', subject }, requesterOf(c));
        return c.json({ name }, 200);
      });
    },
    (app) => {
      app.openapi(resolveDomain, async (c) => {
        const subject = c.req.valid('param').domain;
        const service = subject.endsWith('.eth') ? 'ens' : 'unstoppable';
        const address = await names.resolve({ service, wanted: 'address', subject }, requesterOf(c));
        return c.json({ address }, 200);
      });
    },
  ];
}

const domain = textParameter(
  'a name that ENSIP-15 normalises, such as vitalik.eth',
  (text) => normalName(text) ?? undefined,
).openapi({ type: 'string', example: 'vitalik.eth' });

const currency = textParameter('eth or 0x1', (text) => (/^(?:eth|0x1)$/i.test(text) ? 'eth' : undefined))
  .optional()
  .openapi({ type: 'string', enum: ['eth', '0x1'], default: 'eth', description: 'Coin whose address is returned.' });

const addressSchema = z
  .object({
    address: z
      .string()
      .openapi({ example: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045', description: 'Address with EIP-55 checksum' }),
  })
  .openapi('ResolvedAddress');
const nameSchema = z.object({ name: z.string().openapi({ example: 'vitalik.eth' }) }).openapi('ResolvedName');

const READ = 'Read from contracts on request and cached. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.';
const TAGS = ['Names'];

function found<Schema extends z.ZodType>(description: string, schema: Schema) {
  return {
    200: { description, content: { 'application/json': { schema } } },
    ...errorResponses(400, 401, 404, 429, 500, 501, 503),
  };
}

const resolveEnsDomain = createRoute({
  method: 'get',
  path: '/api/v2.2/resolve/ens/{domain}',
  operationId: 'resolveENSDomain',
  tags: TAGS,
  summary: 'Resolve an ENS name to an address',
  description: READ,
  request: { params: z.object({ domain }) },
  responses: found('The address of the name', addressSchema),
});

const resolveDomain = createRoute({
  method: 'get',
  path: '/api/v2.2/resolve/{domain}',
  operationId: 'resolveDomain',
  tags: TAGS,
  summary: 'Resolve an Unstoppable Domains or .eth name to an address',
  description: READ,
  request: { params: z.object({ domain }), query: querySchema({ currency }) },
  responses: found('The address of the name', addressSchema),
});

function resolveAddress({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/resolve/{address}/reverse',
    operationId: 'resolveAddress',
    tags: TAGS,
    summary: 'Get the ENS name of an address',
    description: READ,
    request: { params: z.object({ address: parameters.address }) },
    responses: found('The name of the address', nameSchema),
  });
}

function resolveAddressToDomain({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/resolve/{address}/domain',
    operationId: 'resolveAddressToDomain',
    tags: TAGS,
    summary: 'Get the Unstoppable Domains name of an address',
    description: READ,
    request: { params: z.object({ address: parameters.address }), query: querySchema({ currency }) },
    responses: found('The name of the address', nameSchema),
  });
}
