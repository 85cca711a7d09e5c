import {
  type DocumentExamples,
  type RouteModule,
  routesFor,
  textParameter,
  withServices,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { normalize } from 'viem/ens';
import { createNameResolution, type NamesOptions } from './resolve-names.ts';

const SHARED = {
  tag: 'Names',
  description: 'Read from contracts on request and cached. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.',
  errors: [404, 501],
} as const;

const domain = textParameter(
  'a name that ENSIP-15 normalises, such as vitalik.eth',
  (text) => normalName(text) ?? undefined,
).openapi({ type: 'string', example: 'vitalik.eth' });

const currency = textParameter('eth or 0x1', (text) => (/^(?:eth|0x1)$/i.test(text) ? 'eth' : undefined))
  .optional()
  .openapi({
    type: 'string',
    enum: ['eth', '0x1'],
    default: 'eth',
    description: 'Coin whose address is returned.',
  });

const addressSchema = z
  .object({
    address: z.string().openapi({
      example: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
      description: 'Address with EIP-55 checksum',
    }),
  })
  .openapi('ResolvedAddress');
const nameSchema = z.object({ name: z.string().openapi({ example: 'vitalik.eth' }) }).openapi('ResolvedName');

const { defineRoute } = routesFor<ReturnType<typeof createNameResolution>>();

const ensAddressRoute = defineRoute({
  path: '/api/v2.2/resolve/ens/{domain}',
  operationId: 'resolveENSDomain',
  ...SHARED,
  summary: 'Resolve an ENS name to an address',
  params: [{ domain }],
  response: { description: 'The address of the name', schema: addressSchema },
  answer: async ({ services, domain: subject, requester }) => ({
    address: await services.resolve({ service: 'ens', wanted: 'address', subject }, requester),
  }),
});

const ensNameRoute = defineRoute({
  path: '/api/v2.2/resolve/{address}/reverse',
  operationId: 'resolveAddress',
  ...SHARED,
  summary: 'Get the ENS name of an address',
  params: ['address'],
  response: { description: 'The name of the address', schema: nameSchema },
  answer: async ({ services, address: subject, requester }) => ({
    name: await services.resolve({ service: 'ens', wanted: 'name', subject }, requester),
  }),
});

const unstoppableNameRoute = defineRoute({
  path: '/api/v2.2/resolve/{address}/domain',
  operationId: 'resolveAddressToDomain',
  ...SHARED,
  summary: 'Get the Unstoppable Domains name of an address',
  params: ['address'],
  query: [{ currency }],
  response: { description: 'The name of the address', schema: nameSchema },
  answer: async ({ services, address: subject, requester }) => ({
    name: await services.resolve({ service: 'unstoppable', wanted: 'name', subject }, requester),
  }),
});

const addressRoute = defineRoute({
  path: '/api/v2.2/resolve/{domain}',
  operationId: 'resolveDomain',
  ...SHARED,
  summary: 'Resolve an Unstoppable Domains or .eth name to an address',
  params: [{ domain }],
  query: [{ currency }],
  response: { description: 'The address of the name', schema: addressSchema },
  async answer({ services, domain: subject, requester }) {
    const service = subject.endsWith('.eth') ? 'ens' : 'unstoppable';
    return { address: await services.resolve({ service, wanted: 'address', subject }, requester) };
  },
});

/** docs/api/names.md#names */
export function createResolveRoutes(options: NamesOptions): RouteModule {
  prepareNames();
  const routes = [ensAddressRoute, ensNameRoute, unstoppableNameRoute, addressRoute];
  return withServices(createNameResolution(options), routes);
}

const LENGTH_MAX = 1_000;

/** ENSIP-15; null for names that look like another one. */
export function normalName(given: string): string | null {
  if (given === '' || given.length > LENGTH_MAX) return null;
  try {
    const name = normalize(given);
    return name === '' ? null : name;
  } catch {
    // The library throws plain errors.
    return null;
  }
}

/** Takes 0.4 s of a processor, so it runs at the start of the API. */
function prepareNames(): void {
  normalize('a');
}

export const NAME_EXAMPLES: DocumentExamples = {
  resolveENSDomain: { domain: 'vitalik.eth' },
  resolveAddress: { address: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045' },
  resolveDomain: { domain: 'brad.crypto' },
  resolveAddressToDomain: { address: '0x8aad44321a86b170879d7a244c1e8d360c99dda8' },
};
