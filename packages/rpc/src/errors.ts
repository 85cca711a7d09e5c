import { ChainsteadError } from '@chainstead/core';
import type { Reaction } from './error-rules.ts';
import type { FaultKind } from './upstream-pool.ts';

/** Why one upstream did not answer; named in the error when none of them did. */
export interface UpstreamFailure {
  readonly upstream: string;
  readonly reason: string;
}

/** No upstream of the chain may be used at all. */
export class NoUpstreamError extends ChainsteadError {
  readonly failures: readonly UpstreamFailure[];

  constructor(options: { chain: string; failures: readonly UpstreamFailure[]; retryable: boolean }) {
    super({
      code: 'NO_UPSTREAM',
      message: `No upstream of ${options.chain} can be used: ${describe(options.failures)}`,
      facts: { chain: options.chain, failures: options.failures },
      remedy: 'Check the RPC URLs of this chain and that their nodes are up',
      retryable: options.retryable,
    });
    this.failures = options.failures;
  }
}

/** Every upstream that may be asked was, and none answered. */
export class UpstreamsExhaustedError extends ChainsteadError {
  /** Whether all of them lack what was asked for, and at least one says that it is not kept any more. */
  readonly isPruned: boolean;

  constructor(options: { chain: string; method: string; failures: readonly UpstreamFailure[]; isPruned?: boolean }) {
    super({
      code: 'UPSTREAMS_EXHAUSTED',
      message: `No upstream of ${options.chain} answered ${options.method}: ${describe(options.failures)}`,
      facts: { chain: options.chain, method: options.method, failures: options.failures },
      retryable: true,
    });
    this.isPruned = options.isPruned ?? false;
  }
}

/** The node's answer is an error of the call itself (a revert, wrong parameters): asking elsewhere gives the same. */
export class RpcCallError extends ChainsteadError {
  /** JSON-RPC error code as the node gave it. */
  readonly rpcCode: number;
  /** JSON-RPC error text as the node gave it. */
  readonly rpcMessage: string;
  /** JSON-RPC error data: revert bytes for instance. */
  readonly rpcData: unknown;
  readonly upstream: string;
  /** `execution`: a contract was run and failed. `parameters`, `method`: what nodes refuse. `call`: any other verdict. */
  readonly about: 'execution' | 'parameters' | 'method' | 'call';
  /** Whether another node may see it differently (invalid parameters, unknown method, a limit of gas or time). */
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
      message: `${options.method} was answered with error ${options.rpcCode}: ${options.rpcMessage.slice(0, 500)}`,
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

/** Whether a call of a contract has an error for an answer: it was run, or its parameters make no sense to any node. Nodes without the method say nothing of it. */
export function isAnswerOfCall(error: unknown): error is RpcCallError {
  return error instanceof RpcCallError && error.about !== 'method';
}

/** The request was given up because its signal was aborted, or the pool was closed. */
export class RequestAbortedError extends ChainsteadError {
  constructor(method: string, cause?: unknown) {
    super({
      code: 'REQUEST_ABORTED',
      message: `${method} was given up before it was answered`,
      facts: { method },
      retryable: false,
      cause,
    });
  }
}

/** What a fault says about limits and waiting, beside its kind. */
export interface FaultHints {
  /** What the pool does about it. */
  readonly reaction: Reaction;
  /** False where only a text says so that may repeat what a stranger wrote. @default true */
  readonly isSure?: boolean;
  /** Milliseconds that the upstream asks to be left alone. */
  readonly retryAfterMs?: number;
  /** Largest count of blocks that the upstream says it allows. */
  readonly limitBlocks?: number;
  /** Block range that the upstream suggests instead. */
  readonly suggestedRange?: { readonly from: number; readonly to: number };
  /** Largest count of results that the upstream says it allows. */
  readonly limitResults?: number;
  /** Whether what was asked for is not kept any more. */
  readonly isPruned?: boolean;
  readonly cause?: unknown;
}

/** A JSON-RPC error as a node gave it, without the upstream's secrets. */
export interface SaidError {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

/** One upstream failed one call. Stays inside the pool: callers see {@link UpstreamsExhaustedError}. */
export class UpstreamFault extends ChainsteadError {
  readonly upstream: string;
  readonly method: string;
  readonly kind: FaultKind;
  readonly hints: FaultHints;
  readonly text: string;
  /** The node's JSON-RPC error, where it gave one. */
  readonly said: SaidError | undefined;

  constructor(options: {
    upstream: string;
    method: string;
    kind: FaultKind;
    text: string;
    hints: FaultHints;
    said?: SaidError | undefined;
  }) {
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

function describe(failures: readonly UpstreamFailure[]): string {
  if (failures.length === 0) return 'none is configured';
  return failures.map((failure) => `${failure.upstream}: ${failure.reason}`).join('; ');
}
