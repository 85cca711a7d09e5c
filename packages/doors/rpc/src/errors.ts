import { type BlockRange, ChainsteadError, defineError } from '@chainstead/core';
import type { FaultKind } from './upstream-pool.ts';

export type Reaction =
  /** Key or plan refused. Excluded and checked again periodically. */
  | 'misconfigured'
  /** Quota used up. Retried rarely. */
  | 'out-of-budget'
  /** Too many blocks in a getLogs call. The cap is remembered. */
  | 'range'
  /** Too many results, bytes or seconds. Only this span is halved. */
  | 'density'
  /** Too many requests. Never shrinks the range. */
  | 'throttled'
  | 'missing-data'
  | 'beyond-head'
  /** getLogs halves the range after one retry. */
  | 'timeout'
  | 'unsupported'
  | 'batch-size'
  | 'call'
  /** Parameters refused. One other upstream is tried. */
  | 'caller'
  | 'transient';

export interface UpstreamFailure {
  readonly upstream: string;
  readonly reason: string;
}

export class NoUpstreamError extends ChainsteadError {
  readonly failures: readonly UpstreamFailure[];

  constructor(options: { chain: string; failures: readonly UpstreamFailure[]; retryable: boolean }) {
    super({
      code: 'NO_UPSTREAM',
      message: `No upstream of ${options.chain} can be used: ${describe(options.failures)}`,
      facts: { chain: options.chain, failures: options.failures },
      remedy: 'Check RPC_URLS_<CHAIN> of this chain and that its nodes are up',
      retryable: options.retryable,
    });
    this.failures = options.failures;
  }
}

export class UpstreamsExhaustedError extends ChainsteadError {
  /** All upstreams lack the data, and one reported it as pruned. */
  readonly isPruned: boolean;
  readonly isTooLarge: boolean;
  readonly failures: readonly UpstreamFailure[];

  constructor(options: {
    chain: string;
    method: string;
    failures: readonly UpstreamFailure[];
    isPruned?: boolean;
    isTooLarge?: boolean;
  }) {
    super({
      code: 'UPSTREAMS_EXHAUSTED',
      message: `No upstream of ${options.chain} returned a result for ${options.method}: ${describe(options.failures)}`,
      facts: { chain: options.chain, method: options.method, failures: options.failures },
      retryable: true,
    });
    this.isPruned = options.isPruned ?? false;
    this.isTooLarge = options.isTooLarge ?? false;
    this.failures = options.failures;
  }
}

/** No upstream is configured: a later call fails too. */
export function isNodeless(error: unknown): boolean {
  const isRefusal = error instanceof NoUpstreamError || error instanceof UpstreamsExhaustedError;
  return isRefusal && error.failures.length === 0;
}

/** The node returned an error of the call itself (a revert, wrong parameters). Another node would return the same. */
export class RpcCallError extends ChainsteadError {
  readonly rpcCode: number;
  readonly rpcMessage: string;
  readonly rpcData: unknown;
  readonly upstream: string;
  /** `execution`: a contract ran and failed. `call`: a verdict that is none of the others. */
  readonly about: 'execution' | 'parameters' | 'method' | 'call';
  /** Another node may decide otherwise (parameters, method, gas or time limit). */
  readonly disputable: boolean;

  constructor(options: {
    upstream: string;
    method: string;
    rpcCode: number;
    rpcMessage: string;
    rpcData?: unknown;
    about?: RpcCallError['about'];
    disputable?: boolean;
  }) {
    super({
      code: 'RPC_CALL',
      message: `${options.method} returned error ${options.rpcCode}: ${options.rpcMessage.slice(0, 500)}`,
      facts: { upstream: options.upstream, method: options.method, rpc_code: options.rpcCode },
      retryable: false,
    });
    this.rpcCode = options.rpcCode;
    this.rpcMessage = options.rpcMessage;
    this.rpcData = options.rpcData;
    this.upstream = options.upstream;
    this.about = options.about ?? 'call';
    this.disputable = options.disputable ?? false;
  }
}

export function isAnswerOfCall(error: unknown): error is RpcCallError {
  return error instanceof RpcCallError && error.about !== 'method';
}

export class RequestAbortedError extends defineError('REQUEST_ABORTED', (method: string, cause?: unknown) => ({
  message: `${method} was canceled before its response`,
  facts: { method },
  cause,
})) {}

export interface FaultHints {
  readonly reaction: Reaction;
  /** False if only a text says so: a contract may have written it. @default true */
  readonly isSure?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly limitBlocks?: number | undefined;
  readonly suggestedRange?: BlockRange | undefined;
  readonly limitResults?: number | undefined;
  readonly isPruned?: boolean | undefined;
  readonly cause?: unknown;
}

export interface SaidError {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

/** One upstream failed one call. Internal to the pool: callers get {@link UpstreamsExhaustedError}. */
export class UpstreamFault extends ChainsteadError {
  readonly upstream: string;
  readonly method: string;
  readonly kind: FaultKind;
  readonly hints: FaultHints;
  readonly text: string;
  readonly said: SaidError | undefined;

  constructor(
    options: Pick<UpstreamFault, 'upstream' | 'method' | 'kind' | 'text' | 'hints'> & {
      said?: SaidError | undefined;
    },
  ) {
    super({
      code: 'UPSTREAM_FAULT',
      message: `${options.upstream} failed ${options.method} (${options.kind}): ${options.text}`,
      facts: { upstream: options.upstream, method: options.method, kind: options.kind },
      retryable: true,
      cause: options.hints.cause,
    });
    this.upstream = options.upstream;
    this.method = options.method;
    this.kind = options.kind;
    this.hints = options.hints;
    this.text = options.text;
    this.said = options.said;
  }
}

export function laggingFault(upstream: string, method: string, head: number | null): UpstreamFault {
  const hints = { reaction: 'beyond-head' } as const;
  return new UpstreamFault({ upstream, method, kind: 'lagging', text: `has only reached block ${head}`, hints });
}

function describe(failures: readonly UpstreamFailure[]): string {
  if (failures.length === 0) return 'none is configured';
  return failures.map((failure) => `${failure.upstream}: ${failure.reason}`).join('; ');
}

/** No upstream is at fault: the block is that large for all of them. */
export class BlockTooLargeError extends defineError(
  'BLOCK_TOO_LARGE',
  (facts: { chain: string; block: number | string; bytes_max: number }) => ({
    message: `Block ${facts.block} of ${facts.chain} has more than ${facts.bytes_max} bytes of receipts or transactions as JSON, or a part that no upstream returns in one response`,
    remedy: 'Datasets have a gap at this block. "chainstead gaps" lists it',
  }),
) {}

/** The logs of a range exceed the caller's limit of bytes. A smaller range may not. */
export class RangeTooLargeError extends defineError(
  'RANGE_TOO_LARGE',
  (facts: { chain: string; from: number; to: number } & ({ bytes_max: number } | { calls_max: number })) => ({
    message: `Blocks ${facts.from} to ${facts.to} of ${facts.chain} take more than ${'calls_max' in facts ? `${facts.calls_max} calls` : `${facts.bytes_max} bytes`} for logs or transactions`,
    remedy: 'No action is needed: the range is read in smaller parts',
    retryable: true,
  }),
) {}

export function isAboutSize(
  error: unknown,
): error is UpstreamFault & { readonly hints: { readonly reaction: 'batch-size' | 'density' } } {
  return (
    error instanceof UpstreamFault &&
    (error.hints.reaction === 'batch-size' || error.hints.reaction === 'density')
  );
}

/** Not whole. If this repeats, the response may be too large for the upstream. */
export function isCutOff(error: unknown): boolean {
  return (
    error instanceof UpstreamFault &&
    (error.kind === 'connection' || error.kind === 'truncated' || error.kind === 'timeout')
  );
}

/** A node's error may be about the call although its code and text are unknown. */
export function isDoubtful(error: unknown): error is UpstreamFault {
  return error instanceof UpstreamFault && error.kind === 'rpc-error' && error.hints.reaction === 'transient';
}
