import { type AuditActor, InvalidParameterError } from '@chainstead/http';
import type { Hono } from 'hono';
import type { z } from 'zod';
import type {
  Answer,
  ConsoleContext,
  ConsoleEnv,
  ConsoleRoutes,
  FileAnswer,
  PageRequest,
  View,
} from './console-page.ts';
import type { SendLive } from './live/live-route.ts';

export interface ConsoleRoutesOptions {
  readonly actorOf: (c: ConsoleContext) => AuditActor;
  readonly sendLive: SendLive;
  /** A whole page. @param path of the page that shows it, for the menu */
  render(c: ConsoleContext, path: string, view: View): Promise<Response>;
}

/** What pages add their routes by. @param app behind the session check */
export function createConsoleRoutes(
  app: Hono<ConsoleEnv>,
  { actorOf, sendLive, render }: ConsoleRoutesOptions,
): { of(pagePath: string): ConsoleRoutes } {
  const answer = (c: ConsoleContext, pagePath: string, given: Answer): Response | Promise<Response> => {
    if ('content' in given) return sendFile(c, given);
    if ('goTo' in given) return c.redirect(given.goTo, 303);
    return render(c, pagePath, given);
  };
  return {
    of: (pagePath) => ({
      view: (path, show) => {
        app.get(rooted(path), async (c) => answer(c, pagePath, await show(requestOf(c))));
      },
      change: (path, form, change) => {
        app.post(rooted(path), async (c) => {
          const parsed = { ...requestOf(c), form: await parseForm(c, form), by: actorOf(c) };
          return answer(c, pagePath, await change(parsed));
        });
      },
      live: (path, read) => {
        app.get(`/events${path}`, (c) => sendLive(c, () => read(requestOf(c))));
      },
    }),
  };
}

function sendFile(c: ConsoleContext, { content, type, saveAs }: FileAnswer): Response {
  return c.body(content, 200, {
    'content-type': type,
    ...(saveAs !== undefined && { 'content-disposition': `attachment; filename="${saveAs}"` }),
  });
}

function rooted(path: string): string {
  return path === '' ? '/' : path;
}

function requestOf(c: ConsoleContext): PageRequest {
  return {
    session: c.get('session'),
    token: c.get('token'),
    parameter: (name) => c.req.param(name) ?? '',
    query: (name) => c.req.query(name),
  };
}

/** @throws InvalidParameterError */
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
