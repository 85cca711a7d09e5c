/** Start at `definitions/add-contract.ts`, then `dataset/event-dataset.ts`. */
export { readContractDatasets } from './dataset/contract-datasets.ts';
export { addContract } from './definitions/add-contract.ts';
export {
  type ContractDefinition,
  ContractRefusedError,
  childFrom,
  readDefinitions,
} from './definitions/contract-definition.ts';
export {
  addFunctions,
  type ContractStatus,
  readContractStatuses,
  readFunctions,
} from './definitions/contract-status.ts';
export { removeContract } from './definitions/remove-contract.ts';
export { suspendLargeContracts } from './definitions/suspend-contracts.ts';
export { parseLogPlace, type WantedContract } from './definitions/wanted-contract.ts';
export {
  createDefinitionReader,
  type DefinitionReader,
  type NameState,
  readNamedLogs,
  stateOfName,
} from './named-logs/read-named-logs.ts';
export { createEventOperations } from './openapi/event-operations.ts';
export { contractRoutes } from './routes/contract-routes.ts';
export { columnValues } from './routes/event-filters.ts';
export { readEvent } from './routes/read-event.ts';
export { bytesColumns, type EventTable, type ParameterColumn } from './tables/event-table.ts';
