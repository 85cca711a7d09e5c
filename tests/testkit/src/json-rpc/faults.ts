import { createSeededRandom, hashToUnit } from '../seeded-random.ts';
import type { RpcErrorBody } from './json-rpc-reply.ts';
import type { LogLimit } from './log-limits.ts';

/** How a throttled call is answered. Providers do all three. */
export type ThrottleStyle = 'http-429' | 'rpc-32005' | 'rpc-429-in-200';

/** Everything that a served node may do wrong. All rates are shares of 0 to 1. */
export interface FaultSettings {
  /** The rated transport faults hit only these methods; null: every method. */
  readonly methods: readonly string[] | null;
  /** Milliseconds before each HTTP answer. */
  readonly latencyMs: number;
  /** Share of calls answered with one of `errorBodies`. */
  readonly errorRate: number;
  readonly errorBodies: readonly RpcErrorBody[];
  /** Share of HTTP requests that are never answered. */
  readonly hangRate: number;
  /** Share of HTTP requests answered with an HTML page and status 200. */
  readonly notJsonRate: number;
  /** Share of HTTP requests answered with this status and body. */
  readonly httpStatus: { readonly rate: number; readonly status: number; readonly body?: string } | null;
  /** Share of HTTP answers cut: in the middle of the JSON, or by closing the connection before all announced bytes are sent. */
  readonly truncate: { readonly rate: number; readonly style: 'json' | 'connection' } | null;
  /** Refuses a share of the requests (`rate`), or whatever exceeds so many calls in a second. */
  readonly throttle: {
    readonly style: ThrottleStyle;
    readonly rate?: number;
    readonly callsPerSecond?: number;
    readonly retryAfterSeconds?: number;
  } | null;
  /** Batches are refused with one error object. */
  readonly noBatch: boolean;
  /** Share of logs missing from eth_getLogs, always the same ones. */
  readonly dropLogsRate: number;
  /** Share of logs missing from receipts, always the same ones. */
  readonly dropReceiptLogsRate: number;
  /** The node knows only what is this many blocks below the source's head. */
  readonly lagBlocks: number;
  /** Announces a head this many blocks too high and answers null for what it does not have. */
  readonly headLieBlocks: number;
  /** Answers null for the block that it announces as its head. */
  readonly nullForHead: boolean;
  /** What eth_getLogs says to a range beyond the head: geth 1.17's error, or silence as older nodes. */
  readonly beyondHead: 'error' | 'empty';
  /** History below `block` is gone: logs `[]` and receipts null (`empty`), or error 4444 for everything. */
  readonly prunedBelow: { readonly block: number; readonly style: 'empty' | 'error' } | null;
  /** Another chain id in eth_chainId and net_version. */
  readonly wrongChainId: number | null;
  readonly logLimit: LogLimit | null;
  readonly noBlockReceipts: boolean;
  /** Leaves `blockTimestamp` out of logs. */
  readonly noLogTimestamps: boolean;
}

/** A node without faults. */
export const NO_FAULTS: FaultSettings = {
  methods: null,
  latencyMs: 0,
  errorRate: 0,
  errorBodies: [{ code: -32603, message: 'Internal error' }],
  hangRate: 0,
  notJsonRate: 0,
  httpStatus: null,
  truncate: null,
  throttle: null,
  noBatch: false,
  dropLogsRate: 0,
  dropReceiptLogsRate: 0,
  lagBlocks: 0,
  headLieBlocks: 0,
  nullForHead: false,
  beyondHead: 'error',
  prunedBelow: null,
  wrongChainId: null,
  logLimit: null,
  noBlockReceipts: false,
  noLogTimestamps: false,
};

/** Rated faults that are decided request by request. */
type RolledFault = 'error' | 'hang' | 'notJson' | 'httpStatus' | 'truncate' | 'throttle';

/** A node's faults: what is set now, changeable while it runs, and what has really been done to callers. */
export interface Faults {
  readonly settings: FaultSettings;
  /** How often each fault was injected so far. */
  readonly injected: Readonly<Record<RolledFault | 'droppedLog' | 'droppedReceiptLog', number>>;
  /** Changes some settings from now on. */
  set(change: Partial<FaultSettings>): void;
  /** Back to no faults at all. */
  clear(): void;
  /** Whether the fault hits now, in a share of `rate` of the calls; a hit is counted. */
  roll(fault: RolledFault, rate: number): boolean;
  /** One of the configured error bodies. */
  pickError(): RpcErrorBody;
  /** Whether this log is missing from responses of this kind. Depends on seed and log only, not on the order of requests. */
  drops(from: 'logs' | 'receipts', blockHash: string, logIndex: string): boolean;
  /** Counts logs that were left out of an answer. */
  countDropped(from: 'logs' | 'receipts', logs: number): void;
}

/** @param seed The same seed gives the same faults for the same order of requests. */
export function createFaults(seed: number, initial: Partial<FaultSettings> = {}): Faults {
  let settings: FaultSettings = { ...NO_FAULTS, ...initial };
  const random = createSeededRandom(`faults/${seed}`);
  const injected = {
    error: 0,
    hang: 0,
    notJson: 0,
    httpStatus: 0,
    truncate: 0,
    throttle: 0,
    droppedLog: 0,
    droppedReceiptLog: 0,
  };
  return {
    get settings() {
      return settings;
    },
    injected,
    set(change) {
      settings = { ...settings, ...change };
    },
    clear() {
      settings = NO_FAULTS;
    },
    roll(fault, rate) {
      const hit = rate > 0 && random.chance(rate);
      if (hit) injected[fault] += 1;
      return hit;
    },
    pickError: () => random.pick(settings.errorBodies),
    drops(from, blockHash, logIndex) {
      const rate = from === 'logs' ? settings.dropLogsRate : settings.dropReceiptLogsRate;
      return rate > 0 && hashToUnit(`${seed}/${from}/${blockHash}/${logIndex}`) < rate;
    },
    countDropped(from, logs) {
      injected[from === 'logs' ? 'droppedLog' : 'droppedReceiptLog'] += logs;
    },
  };
}
