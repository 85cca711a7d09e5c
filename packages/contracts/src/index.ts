/**
 * Contracts of the operator: a typed table for each event, written by the sync engine like every other dataset. Start reading at
 * `definitions/add-contract.ts`, then `dataset/event-dataset.ts`.
 */
export { readContractDatasets } from './dataset/contract-datasets.ts';
export { addContract } from './definitions/add-contract.ts';
export {
  type ContractDefinition,
  readDefinitions,
  readRevision,
} from './definitions/contract-definition.ts';
export { type ContractStatus, readContractStatuses } from './definitions/contract-status.ts';
export { removeContract } from './definitions/remove-contract.ts';
export { contractRoutes } from './routes/contract-routes.ts';
