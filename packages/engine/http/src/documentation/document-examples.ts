import { z } from '@hono/zod-openapi';
import type { ApiApp } from '../api-context.ts';
import type { InvalidParameterError } from '../errors/api-error.ts';
import { mapOperations } from '../map-values.ts';
import { invalidParameters } from '../requests/error-answer.ts';

/** Values with a result on this server, by operation id (or `METHOD /path`) and parameter. */
export type DocumentExamples = Readonly<Record<string, Readonly<Record<string, string | number>>>>;

const EVERY_OPERATION = '*';

const BAD_VALUES: readonly (readonly [parameter: string, value: string])[] = [
  ['limit', '0'],
  ['days', '-1'],
  ['chain', 'nowhere'],
];

export function withExamples(app: ApiApp, document: object, examples: DocumentExamples): object {
  const { paths, ...rest } = documentShape.parse(document);
  const refusals = refusalsOf(app);
  const exemplary = mapOperations(paths, (operation, id) => {
    const values = { ...examples[EVERY_OPERATION], ...examples[operation.operationId ?? id] };
    return exemplified(operation, values, refusals.get(id));
  });
  return { ...rest, paths: exemplary };
}

const parameterShape = z.looseObject({ name: z.string(), schema: z.looseObject({}).optional() });
const responseShape = z.looseObject({ content: z.record(z.string(), z.looseObject({})).optional() });
const operationShape = z.looseObject({
  operationId: z.string().optional(),
  parameters: z.array(parameterShape).optional(),
  responses: z.record(z.string(), responseShape),
});
const documentShape = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operationShape)) });

type Operation = z.infer<typeof operationShape>;

function exemplified(
  operation: Operation,
  values: Readonly<Record<string, string | number>>,
  refusal: InvalidParameterError | undefined,
): Operation {
  const parameters = operation.parameters?.map((parameter) => {
    const value = values[parameter.name];
    if (value === undefined) return parameter;
    return { ...parameter, example: parameter.schema?.type === 'array' ? [value] : value };
  });
  const changed = { ...operation, ...(parameters !== undefined && { parameters }) };
  const bad = operation.responses[BAD_REQUEST];
  const json = bad?.content?.['application/json'];
  if (refusal === undefined || json === undefined) return changed;
  const example = { message: refusal.message, details: refusal.details };
  const content = { 'application/json': { ...json, example } };
  return { ...changed, responses: { ...operation.responses, [BAD_REQUEST]: { ...bad, content } } };
}

const BAD_REQUEST = '400';
const DATA_API = '/api/v2.2/';

function refusalsOf(app: ApiApp): ReadonlyMap<string, InvalidParameterError> {
  const refusals = new Map<string, InvalidParameterError>();
  for (const definition of app.openAPIRegistry.definitions) {
    if (definition.type !== 'route' || !definition.route.path.startsWith(DATA_API)) continue;
    const { method, path, request } = definition.route;
    if (!(request?.query instanceof z.ZodType)) continue;
    for (const [parameter, value] of BAD_VALUES) {
      const input = { [parameter]: value };
      const result = request.query.safeParse(input);
      if (result.success) continue;
      refusals.set(`${method.toUpperCase()} ${path}`, invalidParameters(result.error, input));
      break;
    }
  }
  return refusals;
}
