export { readContractDatasets } from './dataset/contract-datasets.ts';
export { addContract } from './definitions/add-contract.ts';
export {
  type ContractDefinition,
  ContractRefusedError,
  childFrom,
  readDefinitions,
} from './definitions/contract-definition.ts';
export { type ContractStatus, readContractStatuses } from './definitions/contract-status.ts';
export { removeContract, removeContractsOfChain } from './definitions/remove-contract.ts';
export { dropRemovedTables } from './definitions/removed-tables.ts';
export {
  type ContractMetrics,
  createContractMetrics,
  resumeContract,
  suspendLargeContracts,
} from './definitions/suspend-contracts.ts';
export { parseLogPlace, type WantedContract } from './definitions/wanted-contract.ts';
export { readContractsState } from './factories/child-rows.ts';
