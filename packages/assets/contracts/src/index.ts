/** Start at `definitions/add-contract.ts`, then `dataset/event-dataset.ts`. */
export { readContractDatasets } from './dataset/contract-datasets.ts';
export { addContract } from './definitions/add-contract.ts';
export {
  type ContractDefinition,
  ContractRefusedError,
  childFrom,
  readDefinitions,
} from './definitions/contract-definition.ts';
export { addFunctions, readFunctions } from './definitions/contract-functions.ts';
export { type ContractStatus, readContractStatuses } from './definitions/contract-status.ts';
export { removeContract } from './definitions/remove-contract.ts';
export { suspendLargeContracts } from './definitions/suspend-contracts.ts';
export { parseLogPlace, type WantedContract } from './definitions/wanted-contract.ts';
export { type NameState, stateOfName } from './named-logs/contract-names.ts';
export { createDefinitionReader, type DefinitionReader } from './named-logs/definition-reader.ts';
export { readNamedLogs } from './named-logs/read-named-logs.ts';
export { columnSchema } from './openapi/column-schema.ts';
export { createEventOperations } from './openapi/event-operations.ts';
export { columnValues } from './routes/column-values.ts';
export { contractRoutes } from './routes/contract-routes.ts';
export { readEvent } from './routes/read-event.ts';
export { bytesColumns, type EventTable, type ParameterColumn, parameterColumns } from './tables/event-table.ts';
