import { apiActorOf, createOnDemandBudget, type RouteModule, withScope, withServices } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { changeStreamSettings, REGIONS, readStreamSettings, type StreamSettings } from '../records/settings.ts';
import { createDescribeStreams } from '../records/stream-overviews.ts';
import type { StreamServices } from '../stream-services.ts';
import { streamAddressRoutes } from './address-routes.ts';
import { blockRoutes } from './block-routes.ts';
import { defineStreamRoute } from './define-stream-route.ts';
import { historicalJobRoutes } from './historical-job-routes.ts';
import { historyRoutes } from './history-routes.ts';
import { isStorableText } from './json-text.ts';
import { streamStatsRoutes } from './stats-routes.ts';
import { createStreamChecks } from './stream-checks.ts';
import { streamRoutes } from './stream-routes.ts';
import { streamChains } from './stream-schema.ts';

/** Per API process: each may hold a block of 96 MiB. */
const BLOCKS_PER_KEY = { maxCalls: 0, perKey: 4 };

/** docs/api/streams-reference.md#stream-routes */
export function createStreamRoutes(given: StreamServices): readonly RouteModule[] {
  const services = {
    ...given,
    checks: createStreamChecks(given),
    describe: createDescribeStreams(),
    blocksToShow: createOnDemandBudget(BLOCKS_PER_KEY),
    blocksToSend: createOnDemandBudget(BLOCKS_PER_KEY),
  };
  const chains = streamChains(given);
  const streams = [
    ...streamRoutes(chains),
    ...streamAddressRoutes,
    ...blockRoutes(chains),
    ...streamStatsRoutes,
    ...historyRoutes(chains),
    ...historicalJobRoutes(chains),
  ];
  return [
    withScope('streams', [withServices(services, streams)]),
    // The secret signs the webhooks of all streams.
    withScope('admin', [withServices(services, settingsRoutes)]),
  ];
}

const SECRET_LENGTH_MIN = 8;
const SECRET_LENGTH_MAX = 256;
const SETTINGS = {
  path: '/settings',
  tag: 'Streams',
  response: {
    description: 'The settings',
    schema: z.object({ region: z.enum(REGIONS), secretKey: z.string() }).openapi('StreamSettings'),
  },
};
const showSettings = ({ region, secretKey }: StreamSettings) => ({ region, secretKey });

/** docs/api/streams-reference.md#stream-routes */
const settingsRoutes = [
  defineStreamRoute({
    ...SETTINGS,
    operationId: 'GetSettings',
    summary: 'Get the settings of all streams',
    description: 'The secret signs webhooks. Chainstead generates it at the first start.',
    answer: async ({ database }) => showSettings(await readStreamSettings(database)),
  }),
  defineStreamRoute({
    ...SETTINGS,
    operationId: 'SetSettings',
    summary: 'Change the settings of all streams',
    description:
      'A new secret signs webhooks from the next attempt. For 24 hours, webhook-signature also contains a signature with the previous secret.',
    body: z.strictObject({
      region: z.enum(REGIONS).optional(),
      secretKey: z
        .string()
        .min(SECRET_LENGTH_MIN)
        .max(SECRET_LENGTH_MAX)
        .refine(isStorableText, { error: 'must not contain NUL characters or lone surrogates' })
        .optional(),
    }),
    answer: async ({ database, body, c }) =>
      showSettings(await changeStreamSettings(database, body, apiActorOf(c))),
  }),
];
