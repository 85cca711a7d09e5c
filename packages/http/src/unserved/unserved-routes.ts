import { NotServedError } from '../errors/api-error.ts';
import type { RouteModule } from '../route-module.ts';
import { withScope } from '../with-scope.ts';
import type { UnservedOperation } from './unserved-operation.ts';
import { UNSERVED_OPERATIONS } from './unserved-operations.ts';

/**
 * Responds with 501 to every operation of {@link UNSERVED_OPERATIONS}: clients of the hosted API understand 404 as
 * "there is none". Registered after all other routes, so that served operations win. Parameters are not validated,
 * bodies are not read.
 */
export const unservedRoutes: RouteModule = (app, dependencies) => {
  const isOfStreams = ({ path }: UnservedOperation): boolean => path.startsWith('/streams/');
  const groups = Map.groupBy(UNSERVED_OPERATIONS.toSorted(bySpecificity), (operation) =>
    isOfStreams(operation) ? 'streams' : 'data',
  );
  for (const [scope, operations] of groups) withScope(scope, operations.map(refusal))(app, dependencies);
};

function refusal(operation: UnservedOperation): RouteModule {
  return (app) => {
    app.on(operation.method, routingPath(operation.path), () => {
      throw new NotServedError(operation);
    });
  };
}

/** A path that is only a parameter would match every mistyped path as an address. */
const ONLY_ADDRESS = /^\/api\/v2\.2\/\{address\}$/;

function routingPath(path: string): string {
  if (ONLY_ADDRESS.test(path)) return path.replace('{address}', ':address{0x[^/]*}');
  return path.replaceAll(/\{([^}]+)\}/g, ':$1');
}

/** The first matching route wins, so fixed segments are sorted before parameters in the same position. */
function bySpecificity(a: UnservedOperation, b: UnservedOperation): number {
  const [left, right] = [shapeOf(a.path), shapeOf(b.path)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** `/nft/{address}/price` becomes `0/0/1/0`: sorts fixed segments before parameters, from left to right. */
function shapeOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '1' : '0'))
    .join('/');
}
