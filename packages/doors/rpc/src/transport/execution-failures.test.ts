import { describe, expect, test } from 'vitest';
import { classifyError } from './error-rules.ts';

interface Said {
  readonly code: number;
  readonly text: string;
  readonly data?: unknown;
  readonly http?: number;
}

/** Error texts by client. */
// biome-ignore format: a table reads best with one row a line
const EXECUTED: readonly (Said & { from: string })[] = [
  { from: 'geth', code: 3, text: 'execution reverted', data: '0x' },
  { from: 'geth', code: -32000, text: 'execution reverted' },
  { from: 'geth', code: -32000, text: 'invalid jump destination' },
  { from: 'geth', code: -32000, text: 'write protection' },
  { from: 'geth', code: -32000, text: 'stack underflow (0 <=> 1)' },
  { from: 'geth', code: -32000, text: 'stack limit reached 1024 (1023)' },
  { from: 'geth', code: -32000, text: 'invalid opcode: INVALID' },
  { from: 'geth', code: -32000, text: 'invalid opcode: opcode 0x21 not defined' },
  { from: 'geth', code: -32000, text: 'return data out of bounds' },
  { from: 'geth', code: -32000, text: 'max call depth exceeded' },
  { from: 'geth', code: -32000, text: 'insufficient balance for transfer' },
  { from: 'geth', code: -32000, text: 'contract address collision' },
  { from: 'geth', code: -32000, text: 'max initcode size exceeded' },
  { from: 'geth', code: -32000, text: 'invalid code: must not begin with 0xef' },
  { from: 'OpenEthereum', code: -32015, text: 'VM execution error.', data: 'Reverted 0x' },
  { from: 'OpenEthereum', code: -32015, text: 'VM execution error. (Bad jump destination 2)', data: 'Bad jump destination 2' },
  { from: 'OpenEthereum', code: -32015, text: 'Mutable Call In Static Context' },
  { from: 'Nethermind', code: -32015, text: 'VM execution error.', data: 'StaticCallViolation' },
  { from: 'Nethermind', code: -32000, text: 'BadInstruction' },
  { from: 'Nethermind', code: -32000, text: 'InvalidJumpDestination' },
  { from: 'Nethermind', code: -32000, text: 'AccessViolation' },
  { from: 'Nethermind', code: -32000, text: 'PrecompileFailure' },
  { from: 'Nethermind', code: -32000, text: 'revert', data: '0x08c379a0' },
  { from: 'Besu', code: -32000, text: 'INVALID_OPERATION' },
  { from: 'Besu', code: -32000, text: 'INVALID_JUMP_DESTINATION' },
  { from: 'Besu', code: -32000, text: 'ILLEGAL_STATE_CHANGE' },
  { from: 'Besu', code: -32000, text: 'INSUFFICIENT_STACK_ITEMS' },
  { from: 'Besu', code: -32000, text: 'Transaction processing could not be completed due to an exception' },
  { from: 'Erigon', code: -32000, text: 'execution reverted: nonce too low' },
  { from: 'reth', code: -32003, text: 'EVM error: InvalidFEOpcode' },
  { from: 'reth', code: -32003, text: 'EVM error: StateChangeDuringStaticCall' },
  { from: 'anvil', code: -32603, text: 'EVM error OpcodeNotFound' },
  { from: 'anvil', code: 3, text: 'execution reverted: header not found', data: '0x' },
  { from: 'Hardhat', code: -32603, text: 'Error: VM Exception while processing transaction: invalid opcode' },
  { from: 'Hardhat', code: -32603, text: "Error: Transaction reverted: function selector was not recognized and there's no fallback function" },
  { from: 'Hardhat', code: -32603, text: 'anything', data: { message: 'anything', data: '0x08c379a0' } },
  { from: 'Frontier', code: -32603, text: 'evm error: InvalidJump' },
  { from: 'Frontier', code: -32603, text: 'evm error: DesignatedInvalid' },
  { from: 'Frontier', code: -32603, text: 'VM Exception while processing transaction: revert', data: '0x' },
  { from: 'Hedera', code: 3, text: 'execution reverted: CONTRACT_REVERT_EXECUTED', data: '0x', http: 400 },
  { from: 'Hedera', code: -32000, text: 'LOCAL_CALL_MODIFICATION_EXCEPTION' },
  { from: 'Hedera', code: -32000, text: 'Error invoking RPC: CONTRACT_EXECUTION_EXCEPTION' },
  { from: 'Hedera', code: -32000, text: 'INVALID_SOLIDITY_ADDRESS' },
  { from: 'Tron', code: -32000, text: 'REVERT opcode executed' },
  { from: 'Tron', code: -32000, text: 'Invalid operation code: opCode[fe];' },
  { from: 'Tron', code: -32000, text: "Operation with pc isn't 'JUMPDEST': PC[12];" },
  { from: 'Tron', code: -32000, text: 'Expected stack size 2 but actual 1;' },
  { from: 'zkSync', code: 3, text: 'execution reverted: Error function_selector = 0x, data = 0x', data: '0x' },
  { from: 'zkSync', code: -32000, text: 'Account validation error: out of range' },
  { from: 'Filecoin', code: 1, text: 'message execution failed (exit=[33], revert reason=[none], vm error=[message failed with backtrace: x])' },
];

/** The node's limit ended the call; another node's may be higher. */
// biome-ignore format: a table reads best with one row a line
const BOUND: readonly (Said & { from: string })[] = [
  { from: 'geth', code: -32000, text: 'execution aborted (timeout = 5s)' },
  { from: 'geth', code: -32000, text: 'out of gas' },
  { from: 'geth', code: -32000, text: 'contract creation code storage out of gas' },
  { from: 'geth', code: -32000, text: 'gas uint64 overflow' },
  { from: 'OpenEthereum', code: -32015, text: 'VM execution error. (Out of gas)', data: 'Out of gas' },
  { from: 'Nethermind', code: -32000, text: 'OutOfGas' },
  { from: 'Besu', code: -32000, text: 'INSUFFICIENT_GAS' },
  { from: 'anvil', code: -32603, text: 'EVM error OutOfGas' },
  { from: 'Frontier', code: -32603, text: 'evm error: OutOfGas' },
  { from: 'Tron', code: -32000, text: "Not enough energy for 'SLOAD' operation executing: curInvokeEnergyLimit[1]" },
  { from: 'Tron', code: -32000, text: "CPU timeout for 'JUMPI' operation executing" },
  { from: 'zkSync', code: -32000, text: 'not enough gas' },
];

/** Errors of the node itself. */
// biome-ignore format: a table reads best with one row a line
const OF_THE_NODE: readonly (Said & { from: string; reaction: string })[] = [
  { from: 'geth', code: -32000, text: 'missing trie node 0xab (path ) state 0xab is not available', reaction: 'missing-data' },
  { from: 'geth', code: -32000, text: 'header not found', reaction: 'missing-data' },
  { from: 'geth', code: -32000, text: 'database is locked', reaction: 'transient' },
  { from: 'geth', code: -32002, text: 'request timed out', reaction: 'timeout' },
  { from: 'eRPC', code: -32015, text: 'upstream request timeout', reaction: 'timeout' },
  { from: 'besu', code: -32603, text: 'Timeout expired', reaction: 'timeout' },
  { from: 'any', code: -32005, text: 'limit exceeded', data: '0x', reaction: 'throttled' },
  { from: 'any', code: -32005, text: 'daily request count exceeded, request rate limited', data: { see: 'https://x' }, reaction: 'out-of-budget' },
  { from: 'any', code: -32601, text: 'the method eth_call does not exist/is not available', reaction: 'unsupported' },
  { from: 'any', code: -32603, text: 'Internal error', reaction: 'transient' },
  { from: 'anvil', code: -32603, text: 'EVM error; database error: failed to get account for 0x0', reaction: 'transient' },
  { from: 'any', code: -32000, text: 'no data', data: { message: '0x' }, reaction: 'transient' },
];

function meaningOf({ code, text, data, http }: Said, method: string): unknown[] {
  const said = { method, text, rpcCode: code, data, ...(http === undefined ? {} : { httpStatus: http }) };
  const { reaction, rule } = classifyError(said);
  return [reaction, rule?.execution];
}

describe.each(['eth_call', 'eth_estimateGas'])('%s', (method) => {
  test.each(EXECUTED)('$from: $code $text', (said) => {
    expect(meaningOf(said, method)).toEqual(['call', 'failed']);
  });

  test.each(BOUND)('$from: $code $text', (said) => {
    expect(meaningOf(said, method)).toEqual(['call', 'bound']);
  });

  test.each(OF_THE_NODE)('$from: $code $text', ({ reaction, ...said }) => {
    expect(meaningOf(said, method)).toEqual([reaction, undefined]);
  });
});

test('the code of a VM error is a timeout where nothing is run', () => {
  expect(meaningOf({ code: -32015, text: 'node timeout' }, 'eth_getLogs')).toEqual(['timeout', undefined]);
});
