import { isDeepStrictEqual } from 'node:util';
import { TestkitError } from '../testkit-error.ts';

/** An OpenAPI app of Hono, as far as it matters here. */
export interface AnsweringApp {
  readonly openAPIRegistry: { readonly definitions: readonly unknown[] };
  request(path: string, init?: RequestInit): Response | Promise<Response>;
}

interface Schema {
  safeParse(value: unknown): {
    readonly success: boolean;
    readonly data?: unknown;
    readonly error?: Error | undefined;
  };
}

interface Documented {
  readonly method: string;
  readonly path: string;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: unknown }>> }>
  >;
}

/**
 * An app whose `request` holds every successful JSON answer against the schema that documents it: it must fit, and have no member
 * in addition. The program itself sends its responses unchecked. @throws {TestkitError} if one does not fit
 */
export function checkAnswers<App extends AnsweringApp>(app: App): App {
  const ask = app.request.bind(app);
  return Object.assign(app, {
    request: async (path: string, init?: RequestInit): Promise<Response> => {
      const answer = await ask(path, init);
      const schema = schemaOf(app, init?.method ?? 'GET', path, answer);
      if (schema !== undefined) check(schema, path, await answer.clone().json());
      return answer;
    },
  });
}

function check(schema: Schema, path: string, answer: unknown): void {
  const { success, data, error } = schema.safeParse(answer);
  if (!success) throw new TestkitError(`The response of ${path} does not fit its schema: ${error?.message}`);
  if (!isDeepStrictEqual(data, answer))
    throw new TestkitError(`The response of ${path} has more than its schema: ${JSON.stringify(answer)}`);
}

/** Undefined for what is not documented, failed, or is no JSON. */
function schemaOf(app: AnsweringApp, method: string, path: string, answer: Response): Schema | undefined {
  if (!answer.ok || answer.headers.get('content-encoding') !== null) return undefined;
  const requested = path.split('?')[0]?.split('/') ?? [];
  const fitting = app.openAPIRegistry.definitions
    .flatMap(routeOf)
    .filter((route) => route.method === method.toLowerCase() && fits(route.path.split('/'), requested))
    // A path without parameters goes before one with.
    .toSorted((one, other) => one.path.split('{').length - other.path.split('{').length);
  const schema = fitting[0]?.responses[answer.status]?.content?.['application/json']?.schema;
  return isSchema(schema) ? schema : undefined;
}

function fits(pattern: readonly string[], requested: readonly string[]): boolean {
  return (
    pattern.length === requested.length &&
    pattern.every((part, index) => part.startsWith('{') || part === requested[index])
  );
}

function routeOf(definition: unknown): Documented[] {
  if (typeof definition !== 'object' || definition === null || !('route' in definition)) return [];
  return [definition.route as Documented];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && 'safeParse' in value;
}
