/** Start reading in global-keys.ts and chain-keys.ts, then configuration.ts. */

export type {
  AptosConfiguration,
  AptosNetworkConfiguration,
} from './aptos-configuration.ts';
export type { ChainConfiguration } from './chain-configuration.ts';
export { countRequested } from './chain-upstreams.ts';
export {
  acceptedKeys,
  type Configuration,
  type ParsedConfiguration,
  type ParseOptions,
  parseConfiguration,
} from './configuration.ts';
export { printConfiguration } from './printout.ts';
export { ConfigurationError, ConfigurationFileError, type ConfigurationProblem } from './problems.ts';
export { retentionOfChains } from './retention-of-chains.ts';
export { ROLE_NAMES, type RoleName, type RoleProcesses } from './role-names.ts';
export {
  type ConfigurationSource,
  type ConfigurationWarning,
  environmentSource,
  fileSource,
  mergeSources,
} from './sources.ts';
export { closest } from './suggestion.ts';
export { roleList } from './values.ts';
