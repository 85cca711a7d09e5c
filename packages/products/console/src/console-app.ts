import type { Logger } from '@chainstead/core';
import { type AuditActor, answerTo, BodyTooLargeError, NotFoundError } from '@chainstead/http';
import { clientAddressOf, type SharedLimits, sendAsset } from '@chainstead/http/server';
import { type ErrorHandler, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html, raw } from 'hono/html';
import { stream } from 'hono/streaming';
import { type ConsoleAssets, KEPT_FOREVER } from './assets/console-assets.ts';
import type { ConsolePage, ConsoleServices } from './console-page.ts';
import { createConsoleRoutes } from './console-routes.ts';
import type { Html } from './layout/html.ts';
import { type PageFacts, page } from './layout/page.ts';
import { createSendLive, sendSignedOut } from './live/live-route.ts';
import {
  type ConsoleContext,
  type ConsoleEnv,
  createSignIn,
  NotSignedInError,
  ownPath,
  refuseForeign,
  requireSession,
  type SessionCookie,
  signInPage,
} from './sessions/require-session.ts';
import type { ConsoleSession, RequestOrigin } from './sessions/session-store.ts';

export interface ConsoleAppOptions {
  readonly services: ConsoleServices;
  readonly pages: readonly ConsolePage[];
  readonly cookie: SessionCookie;
  readonly assets: ConsoleAssets;
  readonly sharedLimits: SharedLimits;
  readonly version: string;
  readonly documentationUrl: string | null;
  readonly closing: AbortSignal;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const BODY_BYTES_MAX = 65_536;
const USER_AGENT_MAX = 200;

export function createConsoleApp(options: ConsoleAppOptions): Hono<ConsoleEnv> {
  const { services, pages, cookie, assets, closing } = options;
  const { sessions, logger } = services;
  const app = new Hono<ConsoleEnv>();
  const menu = pages
    .filter(({ inMenu = true }) => inMenu)
    .map(({ path, title, group }) => ({ path, title, group }));
  const frame = { menu, assets, version: options.version, documentationUrl: options.documentationUrl };
  app.onError(errorPage(options, frame));
  app.use(setHeaders);
  app.use(limitForms(pages));
  app.use(refuseForeign);
  app.get('/assets/:tag/:name', (c) => {
    const asset = assets.find(c.req.param('tag'), c.req.param('name'));
    if (asset === null) throw new NotFoundError('There is no such file. Reload the page');
    const answer = sendAsset(c, asset);
    answer.headers.set('cache-control', KEPT_FOREVER);
    return answer;
  });
  addSignIn(app, options);
  app.use(requireSession(cookie, sessions));
  app.post('/sign-out', async (c) => {
    await sessions.end(c.get('session').id, actorOf(c));
    cookie.clear(c);
    return c.redirect('/console/sign-in', 303);
  });
  const routes = createConsoleRoutes(app, {
    actorOf,
    sendLive: createSendLive(services, closing),
    async render(c, { path, title: usual }, view) {
      const viewer = { keyName: c.get('session').keyName, token: c.get('token') };
      const { title = usual, heading = title } = view;
      const around = (body: Html): Html =>
        page({ ...frame, title, body: html`<h1>${heading}</h1>${body}`, path, viewer });
      if ('parts' in view) return sendParted(c, view.parts, around, logger);
      return c.html(await around(view.body), view.status ?? 200);
    },
  });
  for (const added of pages) added.addRoutes(routes.of(added), services);
  app.get('/*', () => {
    throw new NotFoundError('There is no such page');
  });
  return app;
}

function addSignIn(
  app: Hono<ConsoleEnv>,
  { services, cookie, assets, sharedLimits, version }: ConsoleAppOptions,
): void {
  const signIn = createSignIn(services.keys, services.sessions, sharedLimits);
  const frame = { title: 'Sign in', path: '/sign-in', menu: [], assets, version, viewer: null };
  const show = (problem: string | null, goTo: string) => page({ ...frame, body: signInPage(problem, goTo) });
  app.get('/sign-in', async (c) => c.html(await show(null, ownPath(c.req.query('to')))));
  app.post('/sign-in', async (c) => {
    const { key, to } = await c.req.parseBody({ all: true });
    const goTo = ownPath(typeof to === 'string' ? to : undefined);
    const origin = originOf(c);
    try {
      await cookie.write(c, await signIn(typeof key === 'string' ? key : '', origin));
      return c.redirect(goTo, 303);
    } catch (error) {
      const { status, message, headers } = answerTo(error);
      if (status >= 500) throw error;
      services.logger.warn({ address: origin.address, request_id: origin.requestId, status }, 'Sign-in refused');
      return c.html(await show(message, goTo), status, { ...headers });
    }
  });
}

function limitForms(pages: readonly ConsolePage[]): MiddlewareHandler<ConsoleEnv> {
  const limitOf = (maxSize: number) =>
    bodyLimit({
      maxSize,
      onError: () => {
        throw new BodyTooLargeError(maxSize);
      },
    });
  const usual = limitOf(BODY_BYTES_MAX);
  const others = pages.flatMap(({ path, formBytesMax }) =>
    formBytesMax === undefined ? [] : [{ below: `/console${path}/`, limit: limitOf(formBytesMax) }],
  );
  return (c, next) => (others.find(({ below }) => c.req.path.startsWith(below))?.limit ?? usual)(c, next);
}

const setHeaders: MiddlewareHandler<ConsoleEnv> = async (c, next) => {
  c.header('content-security-policy', POLICY);
  c.header('referrer-policy', 'same-origin');
  c.header('cross-origin-opener-policy', 'same-origin');
  c.header('cross-origin-resource-policy', 'same-origin');
  await next();
  // Unlike the API, the console allows no cross-origin reads.
  c.res.headers.delete('access-control-allow-origin');
  c.res.headers.delete('access-control-expose-headers');
};

function errorPage(
  { services }: ConsoleAppOptions,
  frame: Omit<PageFacts, 'title' | 'body' | 'path' | 'viewer'>,
): ErrorHandler<ConsoleEnv> {
  return async (error, c) => {
    if (error instanceof NotSignedInError && c.req.header('accept')?.includes('text/event-stream') === true)
      return sendSignedOut(c);
    const { status, message, headers } = answerTo(error);
    const requestId = c.get('requestId');
    if (status >= 500) services.logger.error({ request_id: requestId, err: error }, 'Console page failed');
    const body = html`<h1>${status === 404 ? 'Not found' : 'Request failed'}</h1>
<p class="problem" role="alert">${message}</p>
<p class="soft">Request <code>${requestId}</code>. <a href="/console">Overview</a></p>`;
    const isPart = c.req.header('hx-request') !== undefined;
    const title = status === 404 ? 'Not found' : 'Error';
    // Errors before the check of the session have none.
    const session: ConsoleSession | undefined = c.get('session');
    const viewer = session === undefined ? null : { keyName: session.keyName, token: c.get('token') };
    const whole = { ...frame, title, body, path: '/error', viewer };
    return c.html(await (isPart ? body : page(whole)), status, { ...headers });
  };
}

function originOf(c: ConsoleContext): RequestOrigin {
  return {
    address: clientAddressOf(c.env),
    userAgent: (c.req.header('user-agent') ?? '').slice(0, USER_AGENT_MAX),
    requestId: c.get('requestId'),
  };
}

function actorOf(c: ConsoleContext): AuditActor {
  const { keyId, keyName } = c.get('session');
  const { address, requestId } = originOf(c);
  return { door: 'console', id: keyId, name: keyName, address, requestId };
}

const SEAM = '<!-- content -->';

/** The response has started: errors appear at its end. */
async function sendParted(
  c: ConsoleContext,
  parts: AsyncIterable<Html>,
  frame: (content: Html) => Html,
  logger: Logger,
): Promise<Response> {
  const [before = '', behind = ''] = String(await frame(html`${raw(SEAM)}`)).split(SEAM);
  const requestId = c.get('requestId');
  c.header('content-type', 'text/html; charset=UTF-8');
  // Prevents buffering by proxies, and compression.
  c.header('cache-control', 'no-store, no-transform');
  c.header('x-accel-buffering', 'no');
  return stream(c, async (sent) => {
    await sent.write(before);
    try {
      for await (const part of parts) {
        if (sent.aborted) return;
        await sent.write(String(await part));
      }
    } catch (error) {
      logger.error({ request_id: requestId, err: error }, 'Console page interrupted');
      const notice = html`<p class="problem" role="alert">The page was interrupted, so parts are missing. Search the application log for request <code>${requestId}</code>.</p>`;
      await sent.write(String(await notice));
    }
    await sent.write(behind);
  });
}
