import { ALL_SCOPES, type AuditActor, InvalidParameterError } from '@chainstead/http';
import type { Hono } from 'hono';
import type { z } from 'zod';
import type {
  ConsolePage,
  ConsoleRequest,
  ConsoleRoutes,
  FileAnswer,
  PageAnswer,
  PartedView,
  View,
} from './console-page.ts';
import type { SendLive } from './live/live-route.ts';
import type { ConsoleContext, ConsoleEnv } from './sessions/require-session.ts';

export interface ConsoleRoutesOptions {
  readonly actorOf: (c: ConsoleContext) => AuditActor;
  readonly sendLive: SendLive;
  render(c: ConsoleContext, page: ConsolePage, view: View | PartedView): Promise<Response>;
}

export function createConsoleRoutes(
  app: Hono<ConsoleEnv>,
  { actorOf, sendLive, render }: ConsoleRoutesOptions,
): { of(page: ConsolePage): ConsoleRoutes } {
  const answer = (c: ConsoleContext, page: ConsolePage, given: PageAnswer): Response | Promise<Response> => {
    if ('content' in given) return sendFile(c, given);
    if ('goTo' in given) return c.redirect(given.goTo, 303);
    return render(c, page, given);
  };
  return {
    of: (page) => ({
      view: (path, show) => {
        app.get(rooted(path), async (c) => answer(c, page, await show(requestOf(c))));
      },
      change: (path, form, change) => {
        app.post(rooted(path), async (c) => {
          const parsed = { ...requestOf(c), form: await parseForm(c, form), by: actorOf(c) };
          return answer(c, page, await change(parsed));
        });
      },
      live: (path, read) => {
        app.get(`/events${path}`, (c) => sendLive(c, () => read(requestOf(c))));
      },
    }),
  };
}

function sendFile(c: ConsoleContext, { content, type, saveAs, headers = {} }: FileAnswer): Response {
  return c.body(typeof content === 'string' ? content : new Uint8Array(content), 200, {
    'content-type': type,
    ...(saveAs !== undefined && { 'content-disposition': `attachment; filename="${saveAs}"` }),
    ...headers,
  });
}

function rooted(path: string): string {
  return path === '' ? '/' : path;
}

function requestOf(c: ConsoleContext): ConsoleRequest {
  const session = c.get('session');
  return {
    session,
    token: c.get('token'),
    parameter: (name) => c.req.param(name) ?? '',
    query: (name) => c.req.query(name),
    origin: originOf(c),
    asker: {
      principal: { id: session.keyId, name: session.keyName, scopes: ALL_SCOPES },
      requestId: c.get('requestId'),
    },
  };
}

function originOf(c: ConsoleContext): string {
  const requested = new URL(c.req.url);
  const [protocol = ''] = c.req.header('x-forwarded-proto')?.split(',') ?? [];
  const [host = ''] = c.req.header('x-forwarded-host')?.split(',') ?? [];
  const named = `${protocol.trim() === 'https' ? 'https:' : requested.protocol}//${host.trim() || requested.host}`;
  return URL.parse(named)?.origin ?? requested.origin;
}

async function parseForm<Form>(c: ConsoleContext, schema: z.ZodType<Form>): Promise<Form> {
  const parsed = schema.safeParse(await c.req.parseBody({ all: true }));
  if (parsed.success) return parsed.data;
  throw new InvalidParameterError(
    ...parsed.error.issues.map(({ path, message }) => ({
      parameter: path.map(String).join('.') || 'form',
      message: `${path.map(String).join('.') || 'form'}: ${message}`,
    })),
  );
}
