/** Creates and serves the API: `index.ts` is for its routes. */
export { createRawGate, type RawGate, type RawHandler } from './access/raw-gate.ts';
export { assertSafeBinding, isLoopbackName, UnsafeBindingError } from './access/request-gate.ts';
export { type ApiOptions, createApi } from './api.ts';
export { addressGroupOf, clientAddressOf } from './audit/client-address.ts';
export { withDescriptions } from './documentation/descriptions/describe-document.ts';
export type { DocumentAdditions } from './documentation/documentation-routes.ts';
export { type StaticAsset, sendAsset, staticAsset } from './documentation/static-asset.ts';
export { keepFor, keepForSecond } from './health/keep-for.ts';
export type { Readiness } from './health/system-routes.ts';
export { createInnerApi, type InnerApi, type InnerAsker } from './inner-api.ts';
export * from './keys/key-store.ts';
export { loadServerSecret } from './keys/server-secret.ts';
export { createBackfillBudget, createWebhookCallLimit } from './limits/on-demand-budget.ts';
export { createPostgresSpendingStore } from './limits/postgres-spending-store.ts';
export {
  createLocalLimits,
  createSharedLimits,
  type SharedLimit,
  type SharedLimits,
} from './limits/shared-limits.ts';
export { type ByteBudget, bytesOfValues, createByteBudget } from './requests/byte-budget.ts';
export { createRequestDatabase, type RequestDatabase } from './requests/request-database.ts';
export { outgoingOf } from './requests/request-end.ts';
export type { UpgradeHandler } from './serve.ts';
export { type ApiServer, serveApi } from './serve.ts';
export { unservedRoutes } from './unserved/unserved-routes.ts';
export {
  type ApiUsage,
  createApiUsageCounter,
  type RouteUsage,
  readApiUsage,
  readRouteUsage,
} from './usage/api-usage-counter.ts';
export { createFlushedCounts } from './usage/flushed-counts.ts';
