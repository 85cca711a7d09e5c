import { invalidParams, type RpcErrorObject } from '../protocol/rpc-errors.ts';
import {
  ADDRESS,
  BLOCK_COUNT,
  BLOCK_HASH,
  BLOCK_NUMBER,
  BLOCK_OVERRIDES,
  FILTER,
  FULL_TRANSACTIONS,
  ID,
  INDEX,
  NEWEST_BLOCK,
  PERCENTILES,
  RAW_TRANSACTION,
  RECEIPTS_BLOCK,
  STATE_BLOCK,
  STATE_OVERRIDES,
  STORAGE_KEY,
  STORAGE_KEYS,
  STORAGE_REQUEST,
  SUBSCRIPTION,
  SUBSCRIPTION_OPTIONS,
  TRANSACTION,
  TRANSACTION_HASH,
} from './parameters.ts';
import { TRACE_FILTER, TRACE_TYPES, TRACER } from './trace-parameters.ts';
import { isAbsent, type MethodParameter } from './values.ts';

/** `block`: until the next head, permanently once final. `constant`: while the process runs. */
export type Lifetime = 'immutable' | 'block' | 'head' | 'constant' | 'never';

export interface MethodFacts {
  readonly name: string;
  readonly countedAs: string;
  readonly lifetime: Lifetime;
  /** A second upstream may be called while the first is slow. */
  readonly hedge: boolean;
  readonly weight: number;
  /** Index of the block (number, tag, EIP-1898 object); null: none. */
  readonly blockParameter: number | null;
  /** Null means "does not exist": tries another upstream first. */
  readonly nullable: boolean;
}

export interface GatewayMethod extends MethodFacts {
  readonly parameters: readonly MethodParameter[];
  /** Nodes execute transactions again. Only if the operator enables it. */
  readonly isTrace: boolean;
}

const TRACE_WEIGHT = 20;

const METHODS: readonly GatewayMethod[] = [
  method('eth_chainId', 'constant', 1, []),
  method('net_version', 'constant', 1, []),
  method('web3_clientVersion', 'constant', 1, []),
  method('eth_blockNumber', 'head', 1, []),
  method('eth_gasPrice', 'head', 1, []),
  method('eth_maxPriorityFeePerGas', 'head', 1, []),
  method('eth_blobBaseFee', 'head', 1, []),
  method('eth_config', 'head', 1, []),
  method('eth_feeHistory', 'block', 2, [BLOCK_COUNT, NEWEST_BLOCK, PERCENTILES], { block: 1 }),

  method('eth_getBlockByHash', 'immutable', 2, [BLOCK_HASH, FULL_TRANSACTIONS], { nullable: true }),
  method('eth_getBlockByNumber', 'block', 2, [BLOCK_NUMBER, FULL_TRANSACTIONS], { block: 0, nullable: true }),
  method('eth_getBlockReceipts', 'block', 5, [RECEIPTS_BLOCK], { block: 0, nullable: true }),
  method('eth_getBlockTransactionCountByHash', 'immutable', 1, [BLOCK_HASH], { nullable: true }),
  method('eth_getBlockTransactionCountByNumber', 'block', 1, [BLOCK_NUMBER], { block: 0, nullable: true }),
  method('eth_getUncleByBlockHashAndIndex', 'immutable', 1, [BLOCK_HASH, INDEX], { nullable: true }),
  method('eth_getUncleByBlockNumberAndIndex', 'block', 1, [BLOCK_NUMBER, INDEX], { block: 0, nullable: true }),
  method('eth_getUncleCountByBlockHash', 'immutable', 1, [BLOCK_HASH], { nullable: true }),
  method('eth_getUncleCountByBlockNumber', 'block', 1, [BLOCK_NUMBER], { block: 0, nullable: true }),

  method('eth_getTransactionByHash', 'block', 1, [TRANSACTION_HASH], { nullable: true }),
  method('eth_getTransactionByBlockHashAndIndex', 'immutable', 1, [BLOCK_HASH, INDEX], { nullable: true }),
  method('eth_getTransactionByBlockNumberAndIndex', 'block', 1, [BLOCK_NUMBER, INDEX], {
    block: 0,
    nullable: true,
  }),
  method('eth_getTransactionReceipt', 'block', 1, [TRANSACTION_HASH], { nullable: true }),
  // A large range is expensive for both upstreams.
  method('eth_getLogs', 'block', 5, [FILTER], { hedge: false }),

  method('eth_getBalance', 'block', 1, [ADDRESS, STATE_BLOCK], { block: 1 }),
  method('eth_getCode', 'block', 1, [ADDRESS, STATE_BLOCK], { block: 1 }),
  method('eth_getStorageAt', 'block', 1, [ADDRESS, STORAGE_KEY, STATE_BLOCK], { block: 2 }),
  method('eth_getStorageValues', 'block', 5, [STORAGE_REQUEST, STATE_BLOCK], { block: 1 }),
  method('eth_getTransactionCount', 'block', 1, [ADDRESS, STATE_BLOCK], { block: 1 }),
  method('eth_getProof', 'block', 5, [ADDRESS, STORAGE_KEYS, STATE_BLOCK], { block: 2 }),
  method('eth_call', 'block', 2, [TRANSACTION, STATE_BLOCK, STATE_OVERRIDES, BLOCK_OVERRIDES], { block: 1 }),
  method('eth_createAccessList', 'block', 5, [TRANSACTION, STATE_BLOCK, STATE_OVERRIDES], { block: 1 }),
  method('eth_estimateGas', 'never', 5, [TRANSACTION, STATE_BLOCK, STATE_OVERRIDES, BLOCK_OVERRIDES], {
    block: 1,
  }),
  method('eth_sendRawTransaction', 'never', 5, [RAW_TRANSACTION], { hedge: false }),

  method('eth_newFilter', 'never', 5, [FILTER]),
  method('eth_newBlockFilter', 'never', 1, []),
  method('eth_newPendingTransactionFilter', 'never', 5, []),
  method('eth_getFilterChanges', 'never', 2, [ID]),
  method('eth_getFilterLogs', 'never', 5, [ID]),
  method('eth_uninstallFilter', 'never', 1, [ID]),
  method('eth_subscribe', 'never', 5, [SUBSCRIPTION, SUBSCRIPTION_OPTIONS]),
  method('eth_unsubscribe', 'never', 1, [ID]),

  trace('debug_traceTransaction', [TRANSACTION_HASH, TRACER]),
  trace('debug_traceBlockByHash', [BLOCK_HASH, TRACER]),
  trace('debug_traceBlockByNumber', [BLOCK_NUMBER, TRACER], 0),
  trace('debug_traceCall', [TRANSACTION, STATE_BLOCK, TRACER], 1),
  trace('trace_transaction', [TRANSACTION_HASH]),
  trace('trace_block', [BLOCK_NUMBER], 0),
  trace('trace_filter', [TRACE_FILTER]),
  trace('trace_call', [TRANSACTION, TRACE_TYPES, STATE_BLOCK], 2),
  trace('trace_replayTransaction', [TRANSACTION_HASH, TRACE_TYPES]),
  trace('trace_replayBlockTransactions', [BLOCK_NUMBER, TRACE_TYPES], 0),
];

const BY_NAME: ReadonlyMap<string, GatewayMethod> = new Map(METHODS.map((entry) => [entry.name, entry]));

/** Shared, so that invented names take no memory. */
export const UNLISTED = 'eth_*';

/** Outside the list: `eth_` methods that only read, without state in a node. Never cached. */
export function findMethod(name: string): GatewayMethod | undefined {
  const listed = BY_NAME.get(name);
  if (listed !== undefined || !READING.test(name)) return listed;
  const parameters = new Array<MethodParameter>(UNLISTED_PARAMETERS_MAX).fill(ANY);
  return { ...method(name, 'never', UNLISTED_WEIGHT, parameters, { hedge: false }), countedAs: UNLISTED };
}

const READING =
  /^eth_(?!accounts|add|cancel|coinbase|create|delete|fill|getFilter|getWork|hashrate|mining|new|pending|remove|request|resend|send|set|sign|start|stop|submit|subscribe|uninstall|unsubscribe|update|watch|write)[a-z][A-Za-z0-9]{1,59}$/;
const UNLISTED_PARAMETERS_MAX = 8;
const UNLISTED_WEIGHT = 5;
const ANY: MethodParameter = { name: 'parameter', check: () => null, isOptional: true };

export const METHOD_NAMES: readonly string[] = METHODS.map(({ name }) => name).toSorted();

export function offeredMethods(offersTraces: boolean): readonly string[] {
  return METHOD_NAMES.filter((name) => offersTraces || BY_NAME.get(name)?.isTrace === false);
}

function method(
  name: string,
  lifetime: Lifetime,
  weight: number,
  parameters: readonly MethodParameter[],
  facts: { readonly block?: number | undefined; readonly nullable?: boolean; readonly hedge?: boolean } = {},
): GatewayMethod {
  const { block: blockParameter = null, nullable = false, hedge = true } = facts;
  return { name, countedAs: name, lifetime, weight, parameters, hedge, blockParameter, nullable, isTrace: false };
}

function trace(name: string, parameters: readonly MethodParameter[], block?: number): GatewayMethod {
  return { ...method(name, 'never', TRACE_WEIGHT, parameters, { hedge: false, block }), isTrace: true };
}

const UNPLACED = /^(?:storage key too long|invalid hex in storage key)/;

export function readParams(
  { parameters }: GatewayMethod,
  given: readonly unknown[],
): { readonly params: readonly unknown[] } | { readonly error: RpcErrorObject } {
  if (given.length > parameters.length)
    return { error: invalidParams(`too many arguments, want at most ${parameters.length}`) };
  let params = given;
  for (const [index, parameter] of parameters.entries()) {
    const value = given[index];
    if (!isAbsent(value)) {
      const problem = parameter.check(value);
      if (problem === null) continue;
      return { error: invalidParams(UNPLACED.test(problem) ? problem : `invalid argument ${index}: ${problem}`) };
    }
    if (parameter.isOptional !== true)
      return { error: invalidParams(`missing value for required argument ${index}: ${parameter.name}`) };
    if (parameter.fill !== undefined)
      params = [...params.slice(0, index), parameter.fill, ...params.slice(index + 1)];
  }
  return { params };
}
