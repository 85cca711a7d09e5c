import {
  type AuditActor,
  answerTo,
  BodyTooLargeError,
  clientAddressOf,
  NotFoundError,
  type SharedLimits,
  sendAsset,
} from '@chainstead/http';
import { type ErrorHandler, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import { type ConsoleAssets, KEPT_FOREVER } from './assets/console-assets.ts';
import type { ConsoleContext, ConsoleEnv, ConsolePage, ConsoleServices } from './console-page.ts';
import { createConsoleRoutes } from './console-routes.ts';
import type { Html } from './layout/html.ts';
import { page } from './layout/page.ts';
import { createSendLive } from './live/live-route.ts';
import { sendParted } from './parted-page.ts';
import { refuseForeign } from './sessions/refuse-foreign.ts';
import { requireSession } from './sessions/require-session.ts';
import type { SessionCookie } from './sessions/session-cookie.ts';
import type { RequestOrigin } from './sessions/session-store.ts';
import { createSignIn } from './sessions/sign-in.ts';
import { ownPath, signInPage } from './sessions/sign-in-page.ts';

export interface ConsoleAppOptions {
  readonly services: ConsoleServices;
  readonly pages: readonly ConsolePage[];
  readonly cookie: SessionCookie;
  readonly assets: ConsoleAssets;
  readonly sharedLimits: SharedLimits;
  readonly version: string;
  /** Ends the live parts. */
  readonly closing: AbortSignal;
}

/** Nothing inline, nothing from elsewhere, in nobody's frame. */
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

/** Forms are small. */
const BODY_BYTES_MAX = 65_536;
const USER_AGENT_MAX = 200;

/** All routes of the console. What is added behind the session check needs a session, whoever adds it. */
export function createConsoleApp(options: ConsoleAppOptions): Hono<ConsoleEnv> {
  const { services, pages, cookie, assets, closing } = options;
  const { sessions, logger, clock } = services;
  const app = new Hono<ConsoleEnv>();
  const menu = pages.filter(({ inMenu = true }) => inMenu).map(({ path, title, group }) => ({ path, title, group }));
  const frame = { menu, assets, version: options.version };
  app.onError(errorPage(options));
  app.use(consoleHeaders());
  app.use(limitForms(pages));
  app.use(refuseForeign());
  app.get('/assets/:tag/:name', (c) => {
    const asset = assets.find(c.req.param('tag'), c.req.param('name'));
    if (asset === null) throw new NotFoundError('No such file: load the page again');
    const answer = sendAsset(c, asset);
    answer.headers.set('cache-control', KEPT_FOREVER);
    return answer;
  });
  addSignIn(app, options);
  app.use(requireSession({ cookie, sessions }));
  app.post('/sign-out', async (c) => {
    await sessions.end(c.get('session').id, actorOf(c));
    cookie.clear(c);
    return c.redirect('/console/sign-in', 303);
  });
  const routes = createConsoleRoutes(app, {
    actorOf,
    sendLive: createSendLive({ sessions, clock, logger, closing }),
    async render(c, path, view) {
      const viewer = { keyName: c.get('session').keyName, token: c.get('token') };
      const { title } = view;
      const around = (body: Html): Html => page({ ...frame, title, body, path, viewer });
      if ('parts' in view) return sendParted(c, view.parts, { frame: around, logger });
      return c.html(await around(view.body), view.status ?? 200);
    },
  });
  for (const one of pages) one.addRoutes(routes.of(one.path), services);
  app.get('/*', () => {
    throw new NotFoundError('There is no such page');
  });
  return app;
}

/** Where keys are asked for: the only change without a session. */
function addSignIn(
  app: Hono<ConsoleEnv>,
  { services, cookie, assets, sharedLimits, version }: ConsoleAppOptions,
): void {
  const signIn = createSignIn({ keys: services.keys, sessions: services.sessions, sharedLimits });
  const show = (problem: string | null, goTo: string) =>
    page({
      title: 'Sign in',
      body: signInPage(problem, goTo),
      path: '/sign-in',
      menu: [],
      assets,
      version,
      viewer: null,
    });
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
      services.logger.warn({ address: origin.address, request_id: origin.requestId, status }, 'A sign-in was refused');
      return c.html(await show(message, goTo), status, { ...headers });
    }
  });
}

/** Forms are small, but for those of a page that says otherwise. */
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

function consoleHeaders(): MiddlewareHandler<ConsoleEnv> {
  return async (c, next) => {
    c.header('content-security-policy', POLICY);
    c.header('referrer-policy', 'same-origin');
    c.header('cross-origin-opener-policy', 'same-origin');
    c.header('cross-origin-resource-policy', 'same-origin');
    await next();
    // What the API lets pages of other sites read, this is not.
    c.res.headers.delete('access-control-allow-origin');
    c.res.headers.delete('access-control-expose-headers');
  };
}

/** What went wrong, as a page. */
function errorPage({ assets, version, services }: ConsoleAppOptions): ErrorHandler<ConsoleEnv> {
  return async (error, c) => {
    const { status, message, headers } = answerTo(error);
    const requestId = c.get('requestId');
    if (status >= 500) services.logger.error({ request_id: requestId, err: error }, 'A page of the console failed');
    const body = html`<h1>${status === 404 ? 'Not found' : 'That did not work'}</h1>
<p class="problem" role="alert">${message}</p>
<p class="soft">Request <code>${requestId}</code>. <a href="/console">Overview</a></p>`;
    // A part of a page that is there.
    if (c.req.header('hx-request') !== undefined) return c.html(await body, status, { ...headers });
    const title = status === 404 ? 'Not found' : 'Error';
    return c.html(await page({ title, body, path: '/error', menu: [], assets, version, viewer: null }), status, {
      ...headers,
    });
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
