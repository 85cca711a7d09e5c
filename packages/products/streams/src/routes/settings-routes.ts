import { apiActorOf, errorResponses, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { changeStreamSettings, REGIONS, readStreamSettings, type StreamSettings } from '../records/settings.ts';
import { isStorableText } from './json-text.ts';
import { answer, jsonBody } from './stream-response.ts';
import { refuseInvalid } from './validation-failed.ts';

const SECRET_LENGTH_MIN = 8;
const SECRET_LENGTH_MAX = 256;
const TAGS = ['Streams'];

/** docs/api/streams-reference.md#stream-routes */
export const streamSettingsRoutes: RouteModule = (app, { database }) => {
  app.openapi(read, async (c) => c.json(settingsResponse(await readStreamSettings(database)), 200), refuseInvalid);
  app.openapi(
    change,
    async (c) => {
      const changed = await changeStreamSettings(database, c.req.valid('json'), apiActorOf(c));
      return c.json(settingsResponse(changed), 200);
    },
    refuseInvalid,
  );
};

function settingsResponse({ region, secretKey }: StreamSettings) {
  return { region, secretKey };
}

const settings = z.object({ region: z.enum(REGIONS), secretKey: z.string() }).openapi('StreamSettings');
const response = answer('The settings', settings);

const read = createRoute({
  method: 'get',
  path: '/settings',
  operationId: 'GetSettings',
  tags: TAGS,
  summary: 'Get the settings of all streams',
  description: 'The secret signs webhooks. Chainstead generates it at the first start.',
  responses: { 200: response, ...errorResponses(401, 500, 503) },
});

const change = createRoute({
  method: 'post',
  path: '/settings',
  operationId: 'SetSettings',
  tags: TAGS,
  summary: 'Change the settings of all streams',
  description:
    'A new secret signs webhooks from the next attempt. For 24 hours, webhook-signature also contains a signature with the previous secret.',
  request: {
    body: jsonBody(
      z.strictObject({
        region: z.enum(REGIONS).optional(),
        secretKey: z
          .string()
          .min(SECRET_LENGTH_MIN)
          .max(SECRET_LENGTH_MAX)
          .refine(isStorableText, { error: 'must not contain NUL characters or lone surrogates' })
          .optional(),
      }),
    ),
  },
  responses: { 200: response, ...errorResponses(400, 401, 500, 503) },
});
