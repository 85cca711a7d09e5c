/** Differences of clients' responses from JSON-RPC's specification, as plain data. */

/** A list for which a client writes null, or a method that it answers so. */
export type NullList =
  | 'accessList'
  | 'logs'
  | 'topics'
  | 'transactions'
  | 'uncles'
  | 'withdrawals'
  | 'eth_getBlockReceipts'
  | 'eth_getLogs';

export interface ClientProfile {
  readonly name: string;
  readonly clientVersion: string;
  /** Lists that are null where they are empty; null for a whole method only where its list would be. */
  readonly nulls?: readonly NullList[];
  /** `bare`: zero without a digit; `padded`: an even number of digits; `number`: as numbers where JSON holds them. @default as specified */
  readonly quantities?: 'bare' | 'padded' | 'number';
  /** What log indexes count. @default the logs of the block */
  readonly logIndex?: 'transaction' | 'nothing';
  /** Methods that the client does not have. */
  readonly lacks?: readonly string[];
  /** How a call that reverts fails. */
  readonly failure: { readonly code: number; readonly message: string; readonly hasData: boolean };
  /** Bytes that follow what a call returns. @default 0 */
  readonly returnPadding?: number;
}

const REVERTED = { code: 3, message: 'execution reverted', hasData: true };

/** One for each client; a load balancer is two of them by turns. */
export const CLIENT_PROFILES: readonly ClientProfile[] = [
  { name: 'geth', clientVersion: 'Geth/v1.16.4-stable', failure: REVERTED },
  { name: 'erigon', clientVersion: 'erigon/3.1.0', nulls: ['eth_getLogs', 'uncles'], failure: REVERTED },
  {
    name: 'nethermind',
    clientVersion: 'Nethermind/v1.34.0',
    nulls: ['topics', 'withdrawals', 'accessList'],
    failure: { code: -32015, message: 'VM execution error.', hasData: true },
  },
  {
    name: 'besu',
    clientVersion: 'besu/v25.9.0',
    quantities: 'padded',
    failure: { code: -32000, message: 'Execution reverted', hasData: true },
  },
  { name: 'reth', clientVersion: 'reth/v1.8.2', nulls: ['eth_getBlockReceipts'], failure: REVERTED },
  {
    name: 'parity',
    clientVersion: 'Parity-Ethereum//v2.7.2-stable',
    nulls: ['logs'],
    lacks: ['eth_getBlockReceipts'],
    returnPadding: 32,
    failure: { code: -32015, message: 'VM execution error', hasData: false },
  },
  {
    name: 'anvil',
    clientVersion: 'anvil/v1.4.0',
    nulls: ['transactions'],
    quantities: 'bare',
    failure: { code: 3, message: 'execution reverted', hasData: true },
  },
  {
    name: 'hardhat',
    clientVersion: 'HardhatNetwork/3.0.0',
    quantities: 'bare',
    lacks: ['eth_getBlockReceipts'],
    failure: { code: -32603, message: 'VM Exception while processing transaction: reverted', hasData: true },
  },
  {
    name: 'frontier',
    clientVersion: 'frontier/v0.5.0',
    logIndex: 'transaction',
    failure: { code: -32603, message: 'VM Exception while processing transaction: revert', hasData: true },
  },
  {
    name: 'hedera',
    clientVersion: 'relay/0.70.0',
    nulls: ['eth_getBlockReceipts', 'accessList'],
    logIndex: 'transaction',
    failure: { code: 3, message: 'CONTRACT_REVERT_EXECUTED', hasData: false },
  },
  {
    name: 'zksync',
    clientVersion: 'zkSync/v2.0',
    quantities: 'number',
    logIndex: 'nothing',
    failure: { code: 3, message: 'execution reverted: revert', hasData: true },
  },
];
