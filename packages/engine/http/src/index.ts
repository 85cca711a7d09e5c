/** The API base for route modules. Start reading at api.ts. */

export { createRawGate, type RawGate, type RawHandler } from './access/raw-gate.ts';
export { assertSafeBinding, isLoopbackName, UnsafeBindingError } from './access/request-gate.ts';
export { type ApiOptions, createApi } from './api.ts';
export type { ApiApp, ApiContext } from './api-context.ts';
export { apiActorOf } from './api-context.ts';
export type { ApiDependencies, RouteModule } from './api-dependencies.ts';
export { withScope } from './api-dependencies.ts';
export * from './audit/audit-log.ts';
export { addressGroupOf, clientAddressOf } from './audit/client-address.ts';
export { withDescriptions } from './documentation/descriptions/describe-document.ts';
export type { DocumentExamples } from './documentation/document-examples.ts';
export type { DocumentAdditions } from './documentation/documentation-routes.ts';
export { OPERATION_GROUPS } from './documentation/operation-groups.ts';
export { type StaticAsset, sendAsset, staticAsset } from './documentation/static-asset.ts';
export * from './errors/api-error.ts';
export { keepFor, keepForSecond } from './health/keep-for.ts';
export type { Readiness } from './health/system-routes.ts';
export { createInnerApi, type InnerApi, type InnerAsker } from './inner-api.ts';
export type { ConfiguredKey, Principal } from './keys/key-scope.ts';
export * from './keys/key-scope.ts';
export * from './keys/key-store.ts';
export { createFirstAdminKey } from './keys/key-store.ts';
export { loadServerSecret } from './keys/server-secret.ts';
export {
  createOnDemandBudget,
  type OnDemandBounds,
  type OnDemandBudget,
  requesterOf,
  spendNodeCalls,
} from './limits/on-demand-budget.ts';
export { createPostgresSpendingStore } from './limits/postgres-spending-store.ts';
export {
  createLocalLimits,
  createSharedLimits,
  type SharedLimit,
  type SharedLimits,
} from './limits/shared-limits.ts';
export { defineRoute } from './lists/define-route.ts';
export {
  answerPages,
  defineListRoute,
  definePagedRoute,
  type ListQueryShape,
  type ListRequest,
  type PageEnvelope,
  type RequestedPage,
} from './lists/list-route.ts';
export { blockBoundsSchema, chainQueryOf, givenBlockBounds } from './parameters/block-bounds.ts';
export {
  CHAIN_ALLOWED,
  type ChainLookup,
  type EveryBlockDataset,
  type IndexedHere,
  indexedChain,
  indexedChainsOf,
  knownChainsOf,
  NotIndexedError,
} from './parameters/indexed-chains.ts';
export * from './parameters/paging.ts';
export {
  addressParameter,
  booleanParameter,
  chainsParameter,
  limitParameter,
  querySchema,
  textParameter,
} from './parameters/parameters.ts';
export { readJsonBody } from './requests/body-bounds.ts';
export { BODY_LIST_MAX, refuseBody } from './requests/body-list.ts';
export { type ByteBudget, bytesOfValues, createByteBudget } from './requests/byte-budget.ts';
export { answerTo, errorResponses, refuseInvalid } from './requests/error-answer.ts';
export { releaseBody } from './requests/request-body.ts';
export { createRequestDatabase, type RequestDatabase } from './requests/request-database.ts';
export { readPart } from './requests/response-bytes.ts';
export type { UpgradeHandler } from './serve.ts';
export { type ApiServer, serveApi } from './serve.ts';
export { UNSERVED_OPERATIONS } from './unserved/unserved-operations.ts';
export { unservedRoutes } from './unserved/unserved-routes.ts';
export { type ApiUsage, createApiUsageCounter, readApiUsage } from './usage/api-usage-counter.ts';
export { createFlushedCounts } from './usage/flushed-counts.ts';
