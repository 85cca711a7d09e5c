/** The API base for route modules. Start reading at lists/define-route.ts. */

export { type ApiApp, type ApiContext, apiActorOf } from './api-context.ts';
export {
  type ApiDependencies,
  type RequestWait,
  type RouteModule,
  withScope,
  withWait,
} from './api-dependencies.ts';
export * from './audit/audit-log.ts';
export type { DocumentExamples } from './documentation/document-examples.ts';
export { OPERATION_GROUPS } from './documentation/operation-groups.ts';
export * from './errors/api-error.ts';
export type { ConfiguredKey, Principal } from './keys/key-store.ts';
export * from './keys/key-store.ts';
export {
  createOnDemandBudget,
  type OnDemandBounds,
  type OnDemandBudget,
  spendNodeCalls,
} from './limits/on-demand-budget.ts';
export { defineRoute } from './lists/define-route.ts';
export {
  answerPages,
  defineListRoute,
  type PageEnvelope,
  type RequestedPage,
} from './lists/list-route.ts';
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
  addressesParameter,
  addressParameter,
  blockParameter,
  booleanParameter,
  chainsParameter,
  dateParameter,
  limitParameter,
  orderParameter,
  querySchema,
  textParameter,
  tokenIdParameter,
} from './parameters/parameters.ts';
export { readJsonBody } from './requests/body-bounds.ts';
export { BODY_LIST_MAX, refuseBody } from './requests/body-list.ts';
export { answerTo, errorResponses, refuseInvalid } from './requests/error-answer.ts';
export { releaseBody } from './requests/request-body.ts';
export { readPart } from './requests/response-bytes.ts';
export {
  type Indexed,
  type IndexedColumns,
  indexedBlocks,
  indexedFields,
  indexedHeaders,
  indexedSchema,
  readIndexed,
  showIndexed,
} from './routes/indexed.ts';
export { createMissingIndexes } from './routes/missing-indexes.ts';
export type { RouteOf } from './routes/route.ts';
export { routesFor, withServices } from './routes/routes-for.ts';
export { each, fieldsOf, inside, view } from './routes/view.ts';
export * as wire from './routes/wire.ts';
export { UNSERVED_OPERATIONS } from './unserved/unserved-operations.ts';
