/** Creates and serves the API: `index.ts` is for its routes. */
export { createRawGate, type RawGate, type RawHandler } from './access/raw-gate.ts';
export { assertSafeBinding, isLoopbackName, UnsafeBindingError } from './access/request-gate.ts';
export { type ApiOptions, createApi } from './api.ts';
export { addressGroupOf, clientAddressOf } from './audit/client-address.ts';
export { withDescriptions } from './documentation/descriptions/describe-document.ts';
export type { DocumentAdditions } from './documentation/documentation-routes.ts';
export { type StaticAsset, sendAsset, staticAsset } from './documentation/static-asset.ts';
export { keepFor, keepForSecond, type Readiness } from './health/system-routes.ts';
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
export { type ByteBudget, bytesOfValues, createByteBudget } from './requests/body-bounds.ts';
export { createRequestDatabase, type RequestDatabase } from './requests/request-database.ts';
export { outgoingOf } from './requests/request-end.ts';
export { type ApiServer, serveApi, type UpgradeHandler } from './serve.ts';
export { unservedRoutes } from './unserved/unserved-operations.ts';
export {
  type ApiUsage,
  createApiUsageCounter,
  createFlushedCounts,
  type RouteUsage,
  readApiUsage,
  readRouteUsage,
} from './usage/api-usage-counter.ts';
