/**
 * The API base that route modules are written on: keys, rate limits, the error envelope, parameters, paging, OpenAPI,
 * request ids, metrics, graceful serving. Start reading at api.ts. Imports core, chains and db.
 */
export { type ApiOptions, createApi } from './api.ts';
export type { ApiApp, ApiContext } from './api-context.ts';
export type { ApiDependencies } from './api-dependencies.ts';
export * from './api-error.ts';
export { apiActorOf } from './audit/api-actor.ts';
export * from './audit/audit-log.ts';
export { assertSafeBinding, isLoopbackName, UnsafeBindingError } from './binding.ts';
export { blockBoundsSchema, boundsOfRows, givenBlockBounds, NO_BLOCK_BOUNDS } from './block-bounds.ts';
export { bodyBounds } from './body-bounds.ts';
export { type BodyBudget, bytesOfValues, createBodyBudget } from './body-budget.ts';
export { addressGroupOf, clientAddressOf } from './client-address.ts';
export type { ConfiguredKey } from './configured-key.ts';
export type { DocumentExamples } from './document-examples.ts';
export { answerTo, errorResponses, refuseInvalid } from './error-answer.ts';
export { createFirstAdminKey } from './first-admin-key.ts';
export { requireIndexes } from './index-missing.ts';
export { type IndexedHere, indexedChain, indexedChainsOf } from './indexed-chains.ts';
export { createInnerApi, type InnerApi, type InnerAsker } from './inner-api.ts';
export { keepFor } from './keep-for.ts';
export { keepForSecond } from './keep-for-second.ts';
export * from './key-scope.ts';
export * from './key-store.ts';
export {
  createOnDemandBudget,
  type OnDemandBounds,
  type OnDemandBudget,
  requesterOf,
} from './limits/on-demand-budget.ts';
export { createPostgresSpendingStore } from './limits/postgres-spending-store.ts';
export {
  createLocalLimits,
  createSharedLimits,
  type SharedLimit,
  type SharedLimits,
} from './limits/shared-limits.ts';
export { NotIndexedError } from './not-indexed.ts';
export * from './paging.ts';
export { addressParameter, booleanParameter, limitParameter, textParameter } from './parameters.ts';
export type { Principal } from './principal.ts';
export { querySchema } from './query.ts';
export { createRawGate, type RawGate, type RawHandler } from './raw-gate.ts';
export type { Readiness } from './readiness.ts';
export { releaseBody } from './request-body.ts';
export { createRequestDatabase, type RequestDatabase } from './request-database.ts';
export type { RouteModule } from './route-module.ts';
export { type ApiServer, serveApi } from './serve.ts';
export { loadServerSecret } from './server-secret.ts';
export { type StaticAsset, sendAsset, staticAsset } from './static-asset.ts';
export { UNSERVED_OPERATIONS } from './unserved/unserved-operations.ts';
export { unservedRoutes } from './unserved/unserved-routes.ts';
export type { UpgradeHandler } from './upgrade-handler.ts';
export { type ApiUsageCounter, createApiUsageCounter } from './usage/api-usage-counter.ts';
export { createFlushedCounts } from './usage/flushed-counts.ts';
export { type ApiUsage, readApiUsage } from './usage/read-api-usage.ts';
export { withScope } from './with-scope.ts';
