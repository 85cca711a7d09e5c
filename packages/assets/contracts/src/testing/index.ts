/** For tests of other packages: rows of contracts as the sync engine would write them. */
export { removeContractRows, writeContractRows } from './contract-rows.ts';
export {
  addNamedContracts,
  type Happening,
  logOf,
  MODEL_NAMES,
  namedInModel,
  PARTIES,
} from './named-contracts.ts';
