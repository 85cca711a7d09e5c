/**
 * The API base that route modules are written on: keys, rate limits, the error envelope, parameters, paging, OpenAPI,
 * request ids, metrics, graceful serving. Start reading at api.ts. Imports core, chains and db.
 */
export { type ApiOptions, createApi } from './api.ts';
export { type ApiApp, type ApiContext, type ApiEnv, type RouteModule, requestLogger } from './api-context.ts';
export type { ApiDependencies, ApiLimits } from './api-dependencies.ts';
export * from './api-error.ts';
export { keyOf } from './authentication.ts';
export { assertSafeBinding, isLoopbackName, UnsafeBindingError } from './binding.ts';
export {
  type BlockBounds,
  type BoundParameters,
  blockBoundsSchema,
  boundsOfRows,
  givenBlockBounds,
  NO_BLOCK_BOUNDS,
} from './block-bounds.ts';
export { type BodyBudget, createBodyBudget } from './body-budget.ts';
export type { DocumentExamples } from './document-examples.ts';
export { answerTo, errorResponses, errorSchema } from './error-answer.ts';
export { type ChainLookup, type IndexedChains, type IndexedHere, indexedChain } from './indexed-chains.ts';
export * from './key-scope.ts';
export * from './key-store.ts';
export { NotIndexedError } from './not-indexed.ts';
export * from './paging.ts';
export {
  booleanParameter,
  createParameters,
  type Order,
  type ParameterOptions,
  type Parameters,
  textParameter,
} from './parameters.ts';
export { querySchema } from './query.ts';
export type { RateLimit } from './rate-limit.ts';
export { createRawGate, type RawGate, type RawGateOptions, type RawHandler } from './raw-gate.ts';
export type { Readiness } from './readiness.ts';
export { createRequestDatabase, type RequestDatabase } from './request-database.ts';
export type { CorsOptions } from './request-gate.ts';
export type { AnsweredRequest, RequestLog } from './request-log.ts';
export { type ApiServer, type ServeOptions, serveApi } from './serve.ts';
export { loadServerSecret } from './server-secret.ts';
export type { UnservedOperation } from './unserved/unserved-operation.ts';
export { UNSERVED_OPERATIONS } from './unserved/unserved-operations.ts';
export { unservedRoutes } from './unserved/unserved-routes.ts';
export type { UpgradeHandler } from './upgrade-handler.ts';
