import { createRoute, z } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import type { RouteModule } from './api-dependencies.ts';
import { NotFoundError } from './errors/api-error.ts';
import { createInnerApi, type InnerApi } from './inner-api.ts';
import { createDemoApi, fixedKeys } from './testing/demo-api.ts';

const requested: RouteModule = (app) => {
  app.openapi(
    createRoute({
      method: 'get',
      path: '/demo/asked/{id}',
      request: { params: z.object({ id: z.string().max(3) }) },
      responses: { 200: { description: 'Who asks' } },
    }),
    (c) => {
      if (c.req.valid('param').id === 'no') throw new NotFoundError('There is none');
      return c.json({
        id: c.req.valid('param').id,
        by: c.get('principal')?.id ?? null,
        request: c.get('requestId'),
      });
    },
  );
  app.openapi(
    createRoute({
      method: 'post',
      path: '/demo/told',
      request: {
        body: { content: { 'application/json': { schema: z.object({ n: z.number() }) } }, required: true },
      },
      responses: { 200: { description: 'The body' } },
    }),
    (c) => c.json({ told: c.req.valid('json').n, by: c.get('principal')?.id ?? null }),
  );
};

/** The inner API next to an API with the same routes for clients. */
function openInner(): {
  readonly inner: InnerApi;
  readonly request: (path: string) => Response | Promise<Response>;
} {
  let inner: InnerApi | undefined;
  const { app } = createDemoApi({
    keys: fixedKeys('key'),
    routes: [requested],
    openRoutes: [
      (_app, dependencies) => {
        inner = createInnerApi([requested], dependencies);
      },
    ],
  });
  if (inner === undefined) throw new Error('The API added no routes');
  return { inner, request: (path) => app.request(path) };
}

test('the process asks for whom it says, without a key, which clients still need', async () => {
  const { inner, request } = openInner();
  const principal = { id: '0123abcd', name: 'Ann', scopes: new Set(['admin'] as const) };
  expect(await inner.get('/demo/asked/1?x=2', { principal, requestId: 'r-1' })).toMatchObject({
    status: 200,
    body: { id: '1', by: '0123abcd', request: 'r-1' },
  });
  expect((await inner.get('/demo/asked/1', { principal: null, requestId: 'r-2' })).body).toMatchObject({
    by: null,
  });
  expect((await request('/demo/asked/1')).status).toBe(401);
});

test('what is refused is refused as to a client', async () => {
  const { inner } = openInner();
  const asker = { principal: null, requestId: 'r' };
  expect(await inner.get('/demo/asked/no', asker)).toMatchObject({
    status: 404,
    body: { message: 'There is none' },
  });
  expect((await inner.get('/demo/asked/long', asker)).status).toBe(400);
  expect((await inner.get('/elsewhere', asker)).status).toBe(404);
});

test('a body is read and checked as that of a client', async () => {
  const { inner } = openInner();
  const principal = { id: '0123abcd', name: 'Ann', scopes: new Set(['admin'] as const) };
  const asker = { principal, requestId: 'r' };
  expect(await inner.post('/demo/told', { n: 7 }, asker)).toMatchObject({
    status: 200,
    body: { told: 7, by: '0123abcd' },
  });
  expect((await inner.post('/demo/told', { n: '7' }, asker)).status).toBe(400);
});
