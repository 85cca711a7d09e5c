import type { RouteModule } from '../api-dependencies.ts';
import { withScope } from '../api-dependencies.ts';
import { NotServedError } from '../errors/api-error.ts';
import type { UnservedOperation } from './unserved-operations.ts';
import { UNSERVED_OPERATIONS } from './unserved-operations.ts';

/** Clients understand 404 as "there is none". Registered last: served operations win. */
export const unservedRoutes: RouteModule = (app, dependencies) => {
  const isOfStreams = ({ path }: UnservedOperation): boolean => path.startsWith('/streams/');
  // The first match wins, so fixed segments are sorted before parameters.
  const sorted = UNSERVED_OPERATIONS.map((operation) => ({ operation, shape: shapeOf(operation.path) }))
    .toSorted((left, right) => (left.shape < right.shape ? -1 : Number(left.shape > right.shape)))
    .map(({ operation }) => operation);
  const groups = Map.groupBy(sorted, (operation) => (isOfStreams(operation) ? 'streams' : 'data'));
  for (const [scope, operations] of groups) withScope(scope, operations.map(refusal))(app, dependencies);
};

function refusal(operation: UnservedOperation): RouteModule {
  // A path that is only a parameter would match every mistyped path as an address.
  const path = operation.path
    .replace(/^(\/api\/v2\.2\/)\{address\}$/, '$1:address{0x[^/]*}')
    .replaceAll(/(?<!:address)\{([^}]+)\}/g, ':$1');
  return (app) => {
    app.on(operation.method, path, () => {
      throw new NotServedError(operation);
    });
  };
}

function shapeOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '1' : '0'))
    .join('/');
}
