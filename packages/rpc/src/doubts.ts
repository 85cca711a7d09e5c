import { RpcCallError, UpstreamFault } from './errors.ts';
import type { Upstream } from './upstream.ts';

/** Whether an error that a node gave may be about the call, although nothing is known of its code and text. */
export function isDoubtful(error: unknown): error is UpstreamFault {
  return error instanceof UpstreamFault && error.kind === 'rpc-error' && error.hints.reaction === 'transient';
}

/** Errors of which only further answers tell whether they were the upstream's fault or the call's. */
export class Doubts {
  #faults: { readonly upstream: Upstream; readonly fault: UpstreamFault }[] | null = null;

  add(upstream: Upstream, fault: UpstreamFault): void {
    this.#faults ??= [];
    this.#faults.push({ upstream, fault });
  }

  /** Errors since the last time that they were settled. */
  get size(): number {
    return this.#faults?.length ?? 0;
  }

  /** Whether the latest error was given before, with the same code and text. */
  get isRepeated(): boolean {
    const faults = this.#faults ?? [];
    const latest = faults.at(-1)?.fault;
    return latest !== undefined && faults.slice(0, -1).some(({ fault }) => saysTheSame(fault, latest));
  }

  /** They were the call's. */
  clear(): void {
    this.#faults = null;
  }

  /** They were the upstreams'. */
  count(): void {
    for (const { upstream, fault } of this.#faults ?? []) upstream.suspect(fault);
    this.#faults = null;
  }
}

export function saysTheSame(one: UpstreamFault, other: UpstreamFault): boolean {
  return one.said?.code === other.said?.code && one.text === other.text;
}

/** The node's own error as the answer to the call; null where it gave none. */
export function asVerdict(fault: UpstreamFault, about: RpcCallError['about']): RpcCallError | null {
  const { upstream, method, said } = fault;
  if (said === undefined) return null;
  const { code, message, data } = said;
  return new RpcCallError({ upstream, method, rpcCode: code, rpcMessage: message, rpcData: data, about });
}
