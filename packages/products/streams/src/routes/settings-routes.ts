import { apiActorOf, type RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { changeStreamSettings, REGIONS, readStreamSettings } from '../records/settings.ts';
import { defineStreamRoute } from './define-stream-route.ts';
import { isStorableText } from './json-text.ts';

const SECRET_LENGTH_MIN = 8;
const SECRET_LENGTH_MAX = 256;

/** docs/api/streams-reference.md#stream-routes */
export const streamSettingsRoutes: RouteModule = (app, dependencies) => {
  const { database } = dependencies;
  const response = {
    description: 'The settings',
    schema: z.object({ region: z.enum(REGIONS), secretKey: z.string() }).openapi('StreamSettings'),
  };
  defineStreamRoute(app, dependencies, {
    path: '/settings',
    operationId: 'GetSettings',
    tags: ['Streams'],
    summary: 'Get the settings of all streams',
    description: 'The secret signs webhooks. Chainstead generates it at the first start.',
    response,
    async answer() {
      const { region, secretKey } = await readStreamSettings(database);
      return { region, secretKey };
    },
  });
  defineStreamRoute(app, dependencies, {
    path: '/settings',
    operationId: 'SetSettings',
    tags: ['Streams'],
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
    response,
    async answer({ body, c }) {
      const { region, secretKey } = await changeStreamSettings(database, body, apiActorOf(c));
      return { region, secretKey };
    },
  });
};
